"""Problems of raw check-ins that no single row shows."""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any, Final

import numpy as np
import pandas as pd
from pydantic import Field

from recap import columns as c
from recap.arithmetic.geodesy import distance_km
from recap.config import Config
from recap.data.coordinates import LONGITUDE_ZONE, RADIANS, are_in_gulf, look_swapped, propose_zone, zone_minutes
from recap.data.id_spellings import spelling_pairs

MAX_SPEED_KMH: Final = 1000.0
MIN_JOURNEY_KM: Final = 5.0
"""Shorter journeys are never impossible, because coordinates and seconds are rounded."""
MIN_SPREAD_KM: Final = 0.2
LONG_GAP_HOURS: Final = 48.0
EXAMPLES: Final = 3
ENOUGH_TIMES: Final = 200
QUIETER: Final = 0.4
"""Times are likely local if so much fewer of them are at night then."""
NIGHT_SHARE: Final = 0.05
LEAST_SHIFT_MINUTES: Final = 120
"""Of an hour nights tell nothing."""
_ENOUGH_STEPS: Final = 10
_ODD_STEPS: Final = (2**17 / 1e3, 2**27 / 1e6, 2**37 / 1e9, 86.4, 8.64)
"""Seconds between today's times as float32 of milli-, micro- and nanoseconds, and between days of 3 or 4 decimals;
of one decimal, 8640."""


class Problem(Config):
    """One kind of problem."""

    kind: str = Field(description="Short name for programs.")
    title: str = Field(description="What is wrong, for people.")
    count: int = Field(ge=1, description="How many, in the unit of the title.")
    examples: list[str] = Field(description="The first or worst few.")
    advice: str = Field(description="What it means and what to do.")

    @property
    def line(self) -> str:
        return f"{self.count:,} {self.title}. {self.advice}"


def check_checkins(raw: pd.DataFrame, zone: str | None = None, is_marked: bool = False) -> list[Problem]:
    """Problems of a raw table (columns in `recap.columns`). ``zone``: that of all check-ins, if it was named;
    ``is_marked``: times were written as UTC, see `RawRead`.
    """
    table = _Sorted(raw, zone, is_marked)
    checks = (
        *(_repeats, _speeds, _moving_places, _single_visits, _categories),
        *(_gaps, _zones, _spellings, _precision, _zeros, _leaks),
    )
    return [problem for check in checks for problem in check(table)]


class _Sorted:
    def __init__(self, raw: pd.DataFrame, zone: str | None, is_marked: bool) -> None:
        self.zone, self.is_marked = zone, is_marked
        user, _ = pd.factorize(raw[c.USER_ID])
        seconds = raw[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
        order = np.lexsort((seconds, user))  # stable: file order decides what is left
        self.raw = raw.iloc[order]
        self.user, self.seconds = user[order], seconds[order]
        self.poi, self.poi_ids = pd.factorize(self.raw[c.POI_ID])
        self.latitude = self.raw[c.LATITUDE].to_numpy(np.float64)
        self.longitude = self.raw[c.LONGITUDE].to_numpy(np.float64)
        self.minutes = self.raw[c.TZ_OFFSET_MINUTES].to_numpy(np.int64)
        self.clocks = self.seconds + 60 * self.minutes, self.seconds  # as read, and where local times were read as UTC
        self.same_user = self.user[1:] == self.user[:-1]
        self.keys = pd.DataFrame({c.USER: self.user, c.POI: self.poi, "seconds": self.seconds})

    def describe(self, row: int) -> str:
        item = self.raw.iloc[int(row)]
        return f"user {item[c.USER_ID]} at {item[c.POI_ID]}, {item[c.TIME]:%Y-%m-%d %H:%M:%S} UTC"

    def found(
        self, kind: str, title: str, rows: Collection[Any], advice: str, examples: Iterable[str] | None = None
    ) -> Iterator[Problem]:
        """A problem, unless no row has it; the first few of the examples are shown, else of the rows."""
        if len(rows):
            shown = list(islice(map(self.describe, rows) if examples is None else examples, EXAMPLES))
            title = title if len(rows) > 1 else _of_one(title)
            yield Problem(kind=kind, title=title, count=len(rows), examples=shown, advice=advice)


_ONE: Final = {"are": "is", "have": "has", "repeat": "repeats", "share": "shares", "stretches": "stretch"}
_SUBJECT_AND_VERB: Final = re.compile(r"\b(\S+s)\b(.*?)(?<!who )\b(are|have|repeat|share)\b")


def _of_one(title: str) -> str:
    """A title's subject and verb in the singular.

    >>> _of_one("stretches of more than 48 h have no check-in"), _of_one("pairs of users who share a place have ids")
    ('stretch of more than 48 h has no check-in', 'pair of users who share a place has ids')
    """

    def singular(found: re.Match[str]) -> str:
        noun = re.sub("ies$", "ys", found[1])
        return _ONE.get(noun, noun[:-1]) + found[2] + _ONE[found[3]]

    return _SUBJECT_AND_VERB.sub(singular, title, count=1)


def _worst(sizes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return rows[np.argsort(-sizes[rows], kind="stable")]


def _repeats(table: _Sorted) -> Iterator[Problem]:
    yield from table.found(
        "exact_duplicates",
        "check-ins repeat user, place and second of an earlier one",
        np.flatnonzero(table.keys.duplicated().to_numpy()),
        "They are kept and counted; --set drop_exact_duplicates=true drops them.",
    )
    yield from table.found(
        "same_second",
        "check-ins share user and second with the one before",
        np.flatnonzero(table.same_user & (np.diff(table.seconds) == 0)) + 1,
        "The file decides their order; if it matters, use finer times.",
    )


def _speeds(table: _Sorted) -> Iterator[Problem]:
    km = distance_km(table.latitude[:-1], table.longitude[:-1], table.latitude[1:], table.longitude[1:])
    hours = np.diff(table.seconds) / 3600
    with np.errstate(divide="ignore", invalid="ignore"):
        kmh = np.where(hours > 0, km / hours, np.inf)
    rows = np.flatnonzero(table.same_user & (km >= MIN_JOURNEY_KM) & (kmh > MAX_SPEED_KMH))
    yield from table.found(
        "impossible_speed",
        f"journeys of {MIN_JOURNEY_KM:g} km or more are faster than {MAX_SPEED_KMH:g} km/h",
        rows,
        "Shared accounts, wrong coordinates or remote check-ins; they become transitions like any other.",
        (f"{table.describe(row)}: {km[row]:,.0f} km later in {hours[row] * 60:.1f} min" for row in _worst(km, rows)),
    )


def _moving_places(table: _Sorted) -> Iterator[Problem]:
    place = pd.DataFrame({c.POI: table.poi, "lat": table.latitude, "lon": table.longitude}).groupby(c.POI)
    low, high = place.min(), place.max()
    km = distance_km(low["lat"].to_numpy(), low["lon"].to_numpy(), high["lat"].to_numpy(), high["lon"].to_numpy())
    moving = np.flatnonzero(km > 0)
    far = int((km > MIN_SPREAD_KM).sum())
    yield from table.found(
        "moving_places",
        f"places have several coordinates, {far:,} of them more than {1000 * MIN_SPREAD_KM:g} m apart",
        moving,
        "The dataset takes the coordinates of a place's first check-in; if one name is several places, "
        "--text ids=split makes each spot a place.",
        (f"{table.poi_ids[i]} spreads over {km[i]:,.2f} km" for i in _worst(km, moving)),
    )


def _single_visits(table: _Sorted) -> Iterator[Problem]:
    """Places of which hardly one has a second check-in: numbers of rows, or points of a track."""
    single = np.flatnonzero(np.bincount(table.poi) == 1)
    is_most = len(table.poi) >= _ENOUGH_STEPS and len(single) > 0.9 * len(table.poi)
    yield from table.found(
        "single_visits",
        "places have one check-in each, like nearly all",
        single if is_most else single[:0],
        "Then nobody returns, and nothing can be predicted: name the column of places with --map poi, or make places "
        "of points first, with trackintel (generate_locations) or scikit-mobility (cluster).",
        map(str, table.poi_ids[single]),
    )


def _categories(table: _Sorted) -> Iterator[Problem]:
    category, _ = pd.factorize(table.raw[c.CATEGORY_ID])
    pairs = pd.DataFrame({c.POI: table.poi, c.CATEGORY: category}).drop_duplicates()
    several = np.flatnonzero(np.bincount(pairs[c.POI]) > 1)
    title, advice = "places have several categories", "The dataset takes the category of a place's first check-in."
    yield from table.found("changing_categories", title, several, advice, map(str, table.poi_ids[several]))
    missing = np.flatnonzero((table.raw[c.CATEGORY] == "").to_numpy())
    title = "check-ins have no category"
    if len(missing) < len(table.raw):
        yield from table.found("missing_category", title, missing, "They share one unnamed category.")
    else:
        title += ": the file has none at all"
        yield from table.found("no_categories", title, missing, "Everything works without.", [])


def _gaps(table: _Sorted) -> Iterator[Problem]:
    seconds = np.sort(table.seconds)
    hours = np.diff(seconds) / 3600
    span = (seconds[-1] - seconds[0]) / 3600
    # Only where the file is dense: at least ten check-ins would be expected in the gap.
    rows = np.flatnonzero((hours > LONG_GAP_HOURS) & (hours * len(seconds) > 10 * max(span, 1e-9)))
    times = pd.to_datetime(seconds, unit="s")
    yield from table.found(
        "time_gaps",
        f"stretches of more than {LONG_GAP_HOURS:g} h have no check-in at all",
        rows,
        "Whole days may be missing from the file: that cuts trajectories and makes routines look rarer.",
        (f"{times[row]:%Y-%m-%d %H:%M} to {times[row + 1]:%Y-%m-%d %H:%M} UTC" for row in _worst(hours, rows)),
    )


def _zones(table: _Sorted) -> Iterator[Problem]:
    """Offsets that contradict the coordinates, and times marked as UTC that look local."""
    if table.zone == LONGITUDE_ZONE:
        return  # an hour off almost everywhere, as was asked for
    expected = zone_minutes(table.latitude, table.longitude, table.seconds, table.minutes)
    rows = np.flatnonzero(expected != table.minutes)
    as_read, by_place = (_at_night(table.seconds + 60 * minutes) for minutes in (table.minutes, expected))
    zone = propose_zone(table.latitude, table.longitude) if len(rows) else ""
    swapped = len(rows) > 0 and look_swapped(table.latitude[rows], table.longitude[rows])
    yield from table.found(
        "odd_zone",
        "check-ins have an offset from UTC that differs by an hour or more from the time zone of their coordinates",
        rows,
        "Latitude and longitude look swapped: only the other way round are they on inhabited land."
        if swapped
        else f"As read, {as_read.sum():,} check-ins are at night (2 to 5 o'clock), in the zone of the coordinates "
        f"{by_place.sum():,}. --timezone {zone} takes that zone; with --local-times it keeps the clocks as written.",
    )
    as_written = _at_night(table.seconds)
    is_quieter = as_written.sum() <= QUIETER * as_read.sum() and as_read.mean() >= NIGHT_SHARE
    is_far = np.abs(np.median(table.minutes)) >= LEAST_SHIFT_MINUTES
    if table.is_marked and len(as_read) >= ENOUGH_TIMES and is_quieter and is_far:
        yield from table.found(
            "local_marked_utc",
            f"check-ins are at night (2 to 5 o'clock) as read, {as_written.sum():,} if their times are local",
            np.flatnonzero(as_read),
            f"Marked as UTC, they look local; --timezone {table.zone or LONGITUDE_ZONE} --local-times reads them so.",
        )


def _at_night(local_seconds: np.ndarray) -> np.ndarray:
    hour = local_seconds % 86_400 // 3600
    return (hour >= 2) & (hour <= 5)


def _spellings(table: _Sorted) -> Iterator[Problem]:
    nouns = {c.POI_ID: "places at one spot", c.USER_ID: "users who share a place"}
    advice = "They count as different ones; --text ids=join joins these pairs and no others."
    for column, pairs in spelling_pairs(table.raw).items():
        title = f"pairs of {nouns[column]} have ids that differ only in case, blanks, accents, zeros or a decimal"
        yield from table.found("several_spellings", title, pairs, advice, (pair.shown() for pair in pairs))


def _precision(table: _Sorted) -> Iterator[Problem]:
    """Times and ids that a spreadsheet or a short number format has rounded."""
    step = max(map(_step, table.clocks))
    if (step % 60 and 60 % step) or (step % 3600 and not step % 8640):
        title = f"times are all multiples of {step:,.6g} seconds: digits are lost"
        advice = "A spreadsheet or a short number format rounded them; export them again with all digits, as text."
        yield from table.found("lost_precision", title, np.arange(len(table.seconds)), advice)
    for column, noun in ((c.USER_ID, "users"), (c.POI_ID, "places")):
        names = pd.Series(table.raw[column].unique()).astype(str)
        rounded = names[names.str.fullmatch(r"\d([.,]\d+)?[eE]\+?\d{1,3}") & names.str.contains(r"[.,+]")]
        title = f"{noun} have ids in scientific notation: digits are lost"
        advice = "A spreadsheet rounded them, so that different ids became one; export them again as text."
        yield from table.found("rounded_ids", title, rounded, advice, rounded)


def _step(seconds: np.ndarray) -> float:
    """The largest step of which times are multiples; of a step that is no whole number, rounded ones will do."""
    distinct = np.unique(seconds)
    if len(distinct) < _ENOUGH_STEPS:
        return 1.0
    step, odd = float(np.gcd.reduce(distinct)), distinct[distinct % 60 > 0]
    if step > 1 or len(odd) < _ENOUGH_STEPS:
        return step
    fits = (size for size in _ODD_STEPS if (np.abs(odd - np.round(odd / size) * size) < 1).mean() > 0.99)
    return next(fits, step)


def _zeros(table: _Sorted) -> Iterator[Problem]:
    rows = max((np.flatnonzero(seconds % 86_400 == 0) for seconds in table.clocks), key=len)
    yield from table.found(
        "dates_only",
        "times are midnight: the file seems to contain dates, not times",
        rows if len(rows) > len(table.seconds) / 2 else rows[:0],
        "The file then decides the order within a day; add times, or name the clock's column with --map time "
        "and the day's with --map date.",
    )
    yield from table.found(
        "null_island",
        "check-ins are at latitude 0, longitude 0",
        np.flatnonzero((table.latitude == 0) & (table.longitude == 0)),
        "Missing coordinates written as zeros; leave them out with --bbox.",
    )
    yield from table.found(
        "no_degrees",
        "check-ins are in the sea around latitude 0, longitude 0, like nearly all: their coordinates are no degrees",
        np.arange(len(table.seconds)) if are_in_gulf(table.latitude, table.longitude) else rows[:0],
        f"{RADIANS} Shares of a map or distances must be turned into degrees too.",
    )


def _leaks(table: _Sorted) -> Iterator[Problem]:
    if c.SPLIT not in table.raw:
        return
    split = table.raw[c.SPLIT].to_numpy()
    train = split == c.TRAIN
    yield from table.found(
        "split_not_in_time",
        "validation or test check-ins are not later than all of training",
        np.flatnonzero(~train & (table.seconds <= table.seconds[train].max(initial=np.iinfo(np.int64).min))),
        "Training then sees the future of these cases; --set keep_given_split=false cuts by time.",
    )
    known = pd.MultiIndex.from_frame(table.keys[train])
    yield from table.found(
        "in_train_and_test",
        "validation or test check-ins are in training too",
        np.flatnonzero(~train)[pd.MultiIndex.from_frame(table.keys[~train]).isin(known)],
        "The answers are in the training data: make the parts disjoint.",
    )
    if c.TRAJECTORY_ID in table.raw:
        parts = pd.Series(split).groupby(table.raw[c.TRAJECTORY_ID].astype(str).to_numpy()).nunique()
        several = parts[parts > 1]
        title = "trajectories are in more than one part of the split"
        advice = "Fine if the parts follow each other in time; otherwise a leak."
        yield from table.found("split_trajectories", title, several, advice, map(str, several.index))
    for kind, codes, noun in (("unknown_users", table.user, "users"), ("unknown_pois", table.poi, "places")):
        unknown = np.setdiff1d(codes[~train], codes[train])
        title, examples = f"{noun} of validation or test are not in training", np.flatnonzero(np.isin(codes, unknown))
        advice = "Their check-ins are dropped and counted."
        yield from table.found(kind, title, unknown, advice, map(table.describe, examples.tolist()))
