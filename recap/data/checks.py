"""Problems of raw check-ins that no single row shows."""

import tomllib
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from pydantic import Field

from recap import columns as c
from recap.arithmetic.geodesy import distance_km
from recap.config import Config
from recap.data.coordinates import LONGITUDE_ZONE, are_in_gulf, look_swapped, propose_zone, zone_minutes
from recap.data.id_spellings import spelling_pairs

MAX_SPEED_KMH: Final = 1000.0
MIN_JOURNEY_KM: Final = 5.0
"""Shorter journeys are never impossible, because coordinates and seconds are rounded."""
MIN_SPREAD_KM: Final = 0.2
_LONG_GAP_HOURS: Final = 48.0
_SHOWN: Final = 3
ENOUGH_TIMES: Final = 200
QUIETER: Final = 0.4
"""Times are likely local if so much fewer of them are at night then."""
NIGHT_SHARE: Final = 0.05
LEAST_SHIFT_MINUTES: Final = 120
"""Of an hour nights tell nothing."""
_WORDS: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
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
    checks = _repeats, _speeds, _places, _categories, _gaps, _zones, _spellings, _precision, _zeros, _leaks
    return [problem for check in checks for problem in check(table)]


class _Sorted:
    def __init__(self, raw: pd.DataFrame, zone: str | None, is_marked: bool) -> None:
        self.zone, self.is_marked = zone, is_marked
        user, _ = pd.factorize(raw[c.USER_ID])
        seconds = raw[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
        order = np.lexsort((seconds, user))  # stable: file order decides what is left
        self.raw, self.user, self.seconds = raw.iloc[order], user[order], seconds[order]
        self.poi, self.poi_ids = pd.factorize(self.raw[c.POI_ID])
        self.latitude, self.longitude = self.raw[[c.LATITUDE, c.LONGITUDE]].to_numpy(np.float64).T
        self.minutes = self.raw[c.TZ_OFFSET_MINUTES].to_numpy(np.int64)
        self.clocks = self.seconds + 60 * self.minutes, self.seconds  # as read, and where local times were read as UTC
        self.same_user = self.user[1:] == self.user[:-1]
        self.keys = pd.DataFrame({c.USER: self.user, c.POI: self.poi, "seconds": self.seconds})

    def describe(self, row: int) -> str:
        item = self.raw.iloc[int(row)]
        return f"user {item[c.USER_ID]} at {item[c.POI_ID]}, {item[c.TIME]:%Y-%m-%d %H:%M:%S} UTC"

    def found(
        self, kind: str, rows: Collection[Any], examples: Iterable[str] | None = None, **values: object
    ) -> Iterator[Problem]:
        """A problem in the words of `checks.toml`, unless no row has it, with the first few examples, else rows."""
        if len(rows):
            shown = list(islice(map(self.describe, rows) if examples is None else examples, _SHOWN))
            words = {name: text.format(**values) for name, text in _WORDS[kind].items()}
            title = words.get("one", words["many"]) if len(rows) == 1 else words["many"]
            yield Problem(kind=kind, title=title, count=len(rows), examples=shown, advice=words["advice"])


def _worst(sizes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return rows[np.argsort(-sizes[rows], kind="stable")]


def _repeats(table: _Sorted) -> Iterator[Problem]:
    yield from table.found("exact_duplicates", np.flatnonzero(table.keys.duplicated().to_numpy()))
    yield from table.found("same_second", np.flatnonzero(table.same_user & (np.diff(table.seconds) == 0)) + 1)


def _speeds(table: _Sorted) -> Iterator[Problem]:
    km = distance_km(table.latitude[:-1], table.longitude[:-1], table.latitude[1:], table.longitude[1:])
    hours = np.diff(table.seconds) / 3600
    with np.errstate(divide="ignore", invalid="ignore"):
        kmh = np.where(hours > 0, km / hours, np.inf)
    rows = np.flatnonzero(table.same_user & (km >= MIN_JOURNEY_KM) & (kmh > MAX_SPEED_KMH))
    worst = (f"{table.describe(row)}: {km[row]:,.0f} km later in {hours[row] * 60:.1f} min" for row in _worst(km, rows))
    yield from table.found("impossible_speed", rows, worst, km=MIN_JOURNEY_KM, kmh=MAX_SPEED_KMH)


def _places(table: _Sorted) -> Iterator[Problem]:
    """Places at several spots, and places of which hardly one has a second check-in: numbers of rows, or points of a
    track.
    """
    place = pd.DataFrame({c.POI: table.poi, "lat": table.latitude, "lon": table.longitude}).groupby(c.POI)
    low, high = place.min(), place.max()
    km = distance_km(low["lat"].to_numpy(), low["lon"].to_numpy(), high["lat"].to_numpy(), high["lon"].to_numpy())
    moving = np.flatnonzero(km > 0)
    worst = (f"{table.poi_ids[i]} spreads over {km[i]:,.2f} km" for i in _worst(km, moving))
    far = int((km > MIN_SPREAD_KM).sum())
    yield from table.found("moving_places", moving, worst, far=far, metres=1000 * MIN_SPREAD_KM)
    single = np.flatnonzero(np.bincount(table.poi) == 1)
    is_most = len(table.poi) >= _ENOUGH_STEPS and len(single) > 0.9 * len(table.poi)
    yield from table.found("single_visits", single if is_most else single[:0], map(str, table.poi_ids[single]))


def _categories(table: _Sorted) -> Iterator[Problem]:
    category, _ = pd.factorize(table.raw[c.CATEGORY_ID])
    pairs = pd.DataFrame({c.POI: table.poi, c.CATEGORY: category}).drop_duplicates()
    several = np.flatnonzero(np.bincount(pairs[c.POI]) > 1)
    yield from table.found("changing_categories", several, map(str, table.poi_ids[several]))
    missing = np.flatnonzero((table.raw[c.CATEGORY] == "").to_numpy())
    kind, examples = ("missing_category", None) if len(missing) < len(table.raw) else ("no_categories", ())
    yield from table.found(kind, missing, examples)


def _gaps(table: _Sorted) -> Iterator[Problem]:
    seconds = np.sort(table.seconds)
    hours = np.diff(seconds) / 3600
    span = (seconds[-1] - seconds[0]) / 3600
    # Only where the file is dense: at least ten check-ins would be expected in the gap.
    rows = np.flatnonzero((hours > _LONG_GAP_HOURS) & (hours * len(seconds) > 10 * max(span, 1e-9)))
    times = pd.to_datetime(seconds, unit="s")
    worst = (f"{times[row]:%Y-%m-%d %H:%M} to {times[row + 1]:%Y-%m-%d %H:%M} UTC" for row in _worst(hours, rows))
    yield from table.found("time_gaps", rows, worst, hours=_LONG_GAP_HOURS)


def _zones(table: _Sorted) -> Iterator[Problem]:
    """Offsets that contradict the coordinates, and times marked as UTC that look local."""
    if table.zone == LONGITUDE_ZONE:
        return  # an hour off almost everywhere, as was asked for
    expected = zone_minutes(table.latitude, table.longitude, table.seconds, table.minutes)
    rows = np.flatnonzero(expected != table.minutes)
    as_read, by_place = (_at_night(table.seconds + 60 * minutes) for minutes in (table.minutes, expected))
    zone = propose_zone(table.latitude, table.longitude) if len(rows) else ""
    for problem in table.found("odd_zone", rows, as_read=as_read.sum(), by_place=by_place.sum(), zone=zone):
        swapped = look_swapped(table.latitude[rows], table.longitude[rows])
        yield problem.model_copy(update={"advice": _WORDS["odd_zone"]["swapped"]}) if swapped else problem
    as_written = _at_night(table.seconds)
    is_quieter = as_written.sum() <= QUIETER * as_read.sum() and as_read.mean() >= NIGHT_SHARE
    is_far = np.abs(np.median(table.minutes)) >= LEAST_SHIFT_MINUTES
    if table.is_marked and len(as_read) >= ENOUGH_TIMES and is_quieter and is_far:
        values = {"if_local": as_written.sum(), "zone": table.zone or LONGITUDE_ZONE}
        yield from table.found("local_marked_utc", np.flatnonzero(as_read), **values)


def _at_night(local_seconds: np.ndarray) -> np.ndarray:
    hour = local_seconds % 86_400 // 3600
    return (hour >= 2) & (hour <= 5)


def _spellings(table: _Sorted) -> Iterator[Problem]:
    nouns = {c.POI_ID: "places at one spot", c.USER_ID: "users who share a place"}
    for column, pairs in spelling_pairs(table.raw).items():
        yield from table.found("several_spellings", pairs, (pair.shown() for pair in pairs), what=nouns[column])


def _precision(table: _Sorted) -> Iterator[Problem]:
    """Times and ids that a spreadsheet or a short number format has rounded."""
    step = max(map(_step, table.clocks))
    if (step % 60 and 60 % step) or (step % 3600 and not step % 8640):
        yield from table.found("lost_precision", np.arange(len(table.seconds)), step=step)
    for column, noun in ((c.USER_ID, "user"), (c.POI_ID, "place")):
        names = pd.Series(table.raw[column].unique()).astype(str)
        rounded = names[names.str.fullmatch(r"\d([.,]\d+)?[eE]\+?\d{1,3}") & names.str.contains(r"[.,+]")]
        yield from table.found("rounded_ids", rounded, rounded, what=noun)


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
    yield from table.found("dates_only", rows if len(rows) > len(table.seconds) / 2 else rows[:0])
    yield from table.found("null_island", np.flatnonzero((table.latitude == 0) & (table.longitude == 0)))
    if are_in_gulf(table.latitude, table.longitude):
        yield from table.found("no_degrees", np.arange(len(table.seconds)))
    if all((part % 1 == 0).all() and len(np.unique(part)) > 2 for part in (table.latitude, table.longitude)):
        yield from table.found("whole_degrees", np.arange(len(table.seconds)))


def _leaks(table: _Sorted) -> Iterator[Problem]:
    if c.SPLIT not in table.raw:
        return
    split = table.raw[c.SPLIT].to_numpy()
    train = split == c.TRAIN
    last = table.seconds[train].max(initial=np.iinfo(np.int64).min)
    yield from table.found("split_not_in_time", np.flatnonzero(~train & (table.seconds <= last)))
    known, others = (pd.MultiIndex.from_frame(table.keys[part]) for part in (train, ~train))
    yield from table.found("in_train_and_test", np.flatnonzero(~train)[others.isin(known)])
    if c.TRAJECTORY_ID in table.raw:
        parts = pd.Series(split).groupby(table.raw[c.TRAJECTORY_ID].astype(str).to_numpy()).nunique()
        several = parts[parts > 1].index
        yield from table.found("split_trajectories", several, map(str, several))
