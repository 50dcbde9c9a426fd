"""Issues of raw check-ins that no single row shows: repeats, ties, impossible journeys, moving places, leaks."""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import pandas as pd
from pydantic import Field

from recap import columns as c
from recap.config import Config
from recap.data.coordinates import MAX_ZONE_HOURS, hours_off_the_sun, look_swapped
from recap.geodesy import distance_km

MAX_SPEED_KMH: Final = 1000.0
MIN_JOURNEY_KM: Final = 5.0
"""Shorter journeys are never called impossible: coordinates and seconds are rounded."""
MIN_SPREAD_KM: Final = 0.2
LONG_GAP_HOURS: Final = 48.0
EXAMPLES: Final = 3


class Problem(Config):
    """One kind of issue."""

    kind: str = Field(description="Short name for programs.")
    title: str = Field(description="What is wrong, for people.")
    count: int = Field(ge=1, description="How many, in the unit of the title.")
    examples: list[str] = Field(description="The first or worst few.")
    advice: str = Field(description="What it means and what to do.")


def check_checkins(raw: pd.DataFrame) -> list[Problem]:
    """Look at a raw table (columns in `recap.columns`) as a whole; only what was found is returned."""
    table = _Sorted(raw)
    return [problem for check in _CHECKS for problem in check(table)]


class _Sorted:
    """A raw table by (user, time, file order), with what several checks need."""

    def __init__(self, raw: pd.DataFrame) -> None:
        user, _ = pd.factorize(raw[c.USER_ID])
        seconds = raw[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
        order = np.lexsort((seconds, user))  # stable: file order decides what is left
        self.raw = raw.iloc[order]
        self.user, self.seconds = user[order], seconds[order]
        self.poi, self.poi_ids = pd.factorize(self.raw[c.POI_ID])
        self.latitude = self.raw[c.LATITUDE].to_numpy(np.float64)
        self.longitude = self.raw[c.LONGITUDE].to_numpy(np.float64)
        self.same_user = self.user[1:] == self.user[:-1]
        self.same_second = self.same_user & (self.seconds[1:] == self.seconds[:-1])

    def describe(self, row: int) -> str:
        item = self.raw.iloc[row]
        return f"user {item[c.USER_ID]} at {item[c.POI_ID]}, {item[c.TIME]:%Y-%m-%d %H:%M:%S} UTC"

    def examples(self, rows: np.ndarray) -> list[str]:
        return [self.describe(int(row)) for row in rows[:EXAMPLES]]


def _duplicates(table: _Sorted) -> Iterator[Problem]:
    keys = pd.DataFrame({c.USER: table.user, c.POI: table.poi, "seconds": table.seconds})
    rows = np.flatnonzero(keys.duplicated().to_numpy())
    if len(rows):
        yield Problem(
            kind="exact_duplicates",
            title="check-ins repeat user, place and second of an earlier one",
            count=len(rows),
            examples=table.examples(rows),
            advice="They are kept and counted; --set drop_exact_duplicates=true drops them.",
        )


def _ties(table: _Sorted) -> Iterator[Problem]:
    rows = np.flatnonzero(table.same_second) + 1
    if len(rows):
        yield Problem(
            kind="same_second",
            title="check-ins share user and second with the one before",
            count=len(rows),
            examples=table.examples(rows),
            advice="Their order is that of the file; where it matters, bring finer times.",
        )


def _speeds(table: _Sorted) -> Iterator[Problem]:
    km = distance_km(table.latitude[:-1], table.longitude[:-1], table.latitude[1:], table.longitude[1:])
    hours = np.diff(table.seconds) / 3600
    with np.errstate(divide="ignore", invalid="ignore"):
        kmh = np.where(hours > 0, km / hours, np.inf)
    rows = np.flatnonzero(table.same_user & (km >= MIN_JOURNEY_KM) & (kmh > MAX_SPEED_KMH))
    if len(rows):
        worst = rows[np.argsort(-km[rows], kind="stable")]
        yield Problem(
            kind="impossible_speed",
            title=f"journeys of {MIN_JOURNEY_KM:g} km or more are faster than {MAX_SPEED_KMH:g} km/h",
            count=len(rows),
            examples=[
                f"{table.describe(int(row))}: {km[row]:,.0f} km later in {hours[row] * 60:.1f} min"
                for row in worst[:EXAMPLES]
            ],
            advice="Shared accounts, wrong coordinates or check-ins from afar; they become transitions like any other.",
        )


def _moving_places(table: _Sorted) -> Iterator[Problem]:
    place = pd.DataFrame({c.POI: table.poi, "lat": table.latitude, "lon": table.longitude}).groupby(c.POI)
    low, high = place.min(), place.max()
    km = distance_km(low["lat"].to_numpy(), low["lon"].to_numpy(), high["lat"].to_numpy(), high["lon"].to_numpy())
    moving = np.flatnonzero(km > 0)
    if len(moving):
        worst = moving[np.argsort(-km[moving], kind="stable")]
        far = int((km > MIN_SPREAD_KM).sum())
        yield Problem(
            kind="moving_places",
            title=f"places have several coordinates, {far:,} of them more than {1000 * MIN_SPREAD_KM:g} m apart",
            count=len(moving),
            examples=[f"{table.poi_ids[i]} spreads over {km[i]:,.2f} km" for i in worst[:EXAMPLES]],
            advice="The dataset takes the coordinates of a place's first check-in.",
        )


def _changing_categories(table: _Sorted) -> Iterator[Problem]:
    category, _ = pd.factorize(table.raw[c.CATEGORY_ID])
    pairs = pd.DataFrame({c.POI: table.poi, c.CATEGORY: category}).drop_duplicates()
    several = np.flatnonzero(np.bincount(pairs[c.POI]) > 1)
    if len(several):
        yield Problem(
            kind="changing_categories",
            title="places have several categories",
            count=len(several),
            examples=[str(table.poi_ids[i]) for i in several[:EXAMPLES]],
            advice="The dataset takes the category of a place's first check-in.",
        )


def _categories(table: _Sorted) -> Iterator[Problem]:
    missing = np.flatnonzero((table.raw[c.CATEGORY] == "").to_numpy())
    if len(missing) == len(table.raw):
        yield Problem(
            kind="no_categories",
            title="check-ins have no category: the file has none at all",
            count=len(missing),
            examples=[],
            advice="Everything works without; category embeddings then carry nothing.",
        )
    elif len(missing):
        yield Problem(
            kind="missing_category",
            title="check-ins have no category",
            count=len(missing),
            examples=table.examples(missing),
            advice="They share one unnamed category.",
        )
    pairs = table.raw[[c.CATEGORY, c.CATEGORY_ID]].drop_duplicates().astype(str)
    shared = pairs[pairs[c.CATEGORY] != ""].groupby(c.CATEGORY)[c.CATEGORY_ID].nunique()
    shared = shared[shared > 1]
    if len(shared):
        yield Problem(
            kind="category_names_share",
            title="category names belong to several category ids",
            count=len(shared),
            examples=[f"{name}: {count} ids" for name, count in shared.sort_values(ascending=False).items()][:EXAMPLES],
            advice="The model tells categories apart by id, the app shows names.",
        )


def _gaps(table: _Sorted) -> Iterator[Problem]:
    seconds = np.sort(table.seconds)
    hours = np.diff(seconds) / 3600
    span = (seconds[-1] - seconds[0]) / 3600
    # A gap is worth a word only where the file is dense: ten check-ins and more would be expected in it.
    rows = np.flatnonzero((hours > LONG_GAP_HOURS) & (hours * len(seconds) > 10 * max(span, 1e-9)))
    if len(rows):
        worst = rows[np.argsort(-hours[rows], kind="stable")][:EXAMPLES]
        times = pd.to_datetime(seconds, unit="s")
        yield Problem(
            kind="time_gaps",
            title=f"stretches of more than {LONG_GAP_HOURS:g} h have no check-in at all",
            count=len(rows),
            examples=[f"{times[row]:%Y-%m-%d %H:%M} to {times[row + 1]:%Y-%m-%d %H:%M} UTC" for row in worst],
            advice="Lost days of a crawl: trajectories are cut there, and habits look rarer than they are.",
        )


def _zones(table: _Sorted) -> Iterator[Problem]:
    minutes = table.raw[c.TZ_OFFSET_MINUTES].to_numpy(np.float64)
    rows = np.flatnonzero(hours_off_the_sun(minutes, table.longitude) > MAX_ZONE_HOURS)
    if len(rows):
        swapped = look_swapped(table.latitude[rows], table.longitude[rows], minutes[rows])
        yield Problem(
            kind="odd_zone",
            title=f"check-ins have a local clock more than {MAX_ZONE_HOURS:g} h off the sun",
            count=len(rows),
            examples=[
                f"{table.describe(int(row))}: longitude {table.longitude[row]:.1f}, UTC{minutes[row] / 60:+g} h"
                for row in rows[:EXAMPLES]
            ],
            advice=("Latitude and longitude look swapped: turned round, the clocks would fit." if swapped else "")
            or "Wrong zone, wrong coordinates, or offsets with the wrong sign; hours of the day will mislead.",
        )


def _clockless(table: _Sorted) -> Iterator[Problem]:
    rows = np.flatnonzero(table.seconds % 86_400 == 0)
    if len(rows) > len(table.seconds) / 2:
        yield Problem(
            kind="dates_only",
            title="times are midnight: the file seems to hold dates, not times",
            count=len(rows),
            examples=table.examples(rows),
            advice="The order within a day is then that of the file; bring times.",
        )


def _null_island(table: _Sorted) -> Iterator[Problem]:
    rows = np.flatnonzero((table.latitude == 0) & (table.longitude == 0))
    if len(rows):
        yield Problem(
            kind="null_island",
            title="check-ins lie at latitude 0, longitude 0",
            count=len(rows),
            examples=table.examples(rows),
            advice="Missing coordinates written as zeros; leave them out with --bbox.",
        )


def _leaks(table: _Sorted) -> Iterator[Problem]:
    if c.SPLIT not in table.raw:
        return
    split = table.raw[c.SPLIT].to_numpy()
    train = split == c.TRAIN
    if train.any():
        latest = table.seconds[train].max()
        rows = np.flatnonzero(~train & (table.seconds <= latest))
        if len(rows):
            yield Problem(
                kind="split_not_in_time",
                title="validation or test check-ins are not later than all of training",
                count=len(rows),
                examples=table.examples(rows),
                advice="Training then sees the future of these cases; --set keep_given_split=false cuts by time.",
            )
    keys = pd.DataFrame({c.USER: table.user, c.POI: table.poi, "seconds": table.seconds})
    known = pd.MultiIndex.from_frame(keys[train])
    rows = np.flatnonzero(~train)[pd.MultiIndex.from_frame(keys[~train]).isin(known)]
    if len(rows):
        yield Problem(
            kind="in_train_and_test",
            title="validation or test check-ins stand in training too",
            count=len(rows),
            examples=table.examples(rows),
            advice="The answer is in the training data: make the parts disjoint.",
        )
    if c.TRAJECTORY_ID in table.raw:
        pairs = pd.DataFrame(
            {c.TRAJECTORY_ID: table.raw[c.TRAJECTORY_ID].astype(str), c.SPLIT: split}
        ).drop_duplicates()
        several = pairs[c.TRAJECTORY_ID].value_counts()
        several = several[several > 1]
        if len(several):
            yield Problem(
                kind="split_trajectories",
                title="trajectories lie in several parts of the split",
                count=len(several),
                examples=[str(name) for name in several.index[:EXAMPLES]],
                advice="Fine where the parts follow each other in time; a leak where they do not.",
            )
    for kind, codes, noun in (("unknown_users", table.user, "users"), ("unknown_pois", table.poi, "places")):
        unknown = np.setdiff1d(codes[~train], codes[train])
        if len(unknown):
            rows = np.flatnonzero(np.isin(codes, unknown))
            yield Problem(
                kind=kind,
                title=f"{noun} of validation or test are not in training",
                count=len(unknown),
                examples=table.examples(rows),
                advice="Their check-ins are dropped and counted.",
            )


_CHECKS: Final[tuple[Callable[[_Sorted], Iterator[Problem]], ...]] = (
    _duplicates,
    _ties,
    _speeds,
    _moving_places,
    _changing_categories,
    _categories,
    _gaps,
    _zones,
    _clockless,
    _null_island,
    _leaks,
)
