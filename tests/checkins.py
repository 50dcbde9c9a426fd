"""Small check-in tables for tests: written by hand, or drawn by Hypothesis."""

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from recap import columns as c
from recap.data.cleaning import CleaningReport, DataConfig, SplitBy, clean_rows, number_rows
from recap.data.dataset import Dataset, Manifest
from recap.data.preparation import prepare_dataset

START = pd.Timestamp("2012-04-02 08:00:00", tz="UTC")
"""A Monday. Hours in the tables below count from here."""

LENIENT = DataConfig(min_poi_checkins=1, min_user_checkins=1, min_trajectory_length=1)
"""A protocol under which small tables keep their rows."""

FOURSQUARE_LINE = "{user}\t{poi}\tcat-{poi}\tCafé {poi}\t{latitude}\t{longitude}\t-240\t{time}"


def clean_checkins(raw: pd.DataFrame, config: DataConfig) -> tuple[pd.DataFrame, CleaningReport]:
    """The raw rows that `clean_rows` leaves, with their splits and trajectories, and the report."""
    left, _, report = clean_rows(number_rows(raw)[0], config)
    marks = [c.SPLIT, c.TRAJECTORY, *[c.HISTORY_ONLY] * bool(left[c.HISTORY_ONLY].any())]
    found = left[marks].rename_axis(c.SOURCE_ROW).reset_index()
    return raw.iloc[left.index].assign(**{str(name): found[name].to_numpy() for name in found}), report


def raw_table(rows: list[tuple[str, str, float]]) -> pd.DataFrame:
    """Raw check-ins from (user, POI, hours after START); a POI's coordinates follow from its name."""
    users, pois, hours = zip(*rows, strict=True) if rows else ((), (), ())
    latitude = [40 + (sum(map(ord, poi)) % 100) / 100 for poi in pois]
    return pd.DataFrame(
        {
            c.USER_ID: pd.Categorical(users),
            c.POI_ID: pd.Categorical(pois),
            c.CATEGORY_ID: pd.Categorical([f"id of {poi[0]}" for poi in pois]),
            c.CATEGORY: pd.Categorical([f"kind {poi[0]}" for poi in pois]),
            c.LATITUDE: np.array(latitude, dtype=np.float64),
            c.LONGITUDE: np.array(latitude, dtype=np.float64) - 114,
            c.TZ_OFFSET_MINUTES: np.full(len(rows), -240, dtype=np.int64),
            c.TIME: START.as_unit("s") + pd.to_timedelta([round(3600 * hour) for hour in hours], unit="s").as_unit("s"),
        }
    )


def small_dataset(rows: list[tuple[str, str, float]], config: DataConfig = LENIENT) -> Dataset:
    """The dataset of `raw_table` rows."""
    return prepare_dataset(raw_table(rows), config, name="small", source_format="test")


def split_dataset(walks: list[tuple[int, list[tuple[int, int]]]], num_pois: int) -> Dataset:
    """A dataset put together by hand: walks of (user, [(poi, split), ...]), each walk one trajectory, hour by hour."""
    rows: list[dict[str, Any]] = []
    for trajectory, (user, steps) in enumerate(walks):
        rows += [{c.USER: user, c.POI: poi, c.TRAJECTORY: trajectory, c.SPLIT: split} for poi, split in steps]
    checkins = pd.DataFrame(rows).astype({c.USER: "int32", c.POI: "int32", c.TRAJECTORY: "int32", c.SPLIT: "int8"})
    checkins[c.TIME] = (START + pd.to_timedelta(np.arange(len(rows)), unit="h")).as_unit("s")
    checkins[c.TZ_OFFSET_MINUTES] = np.int16(-240)
    checkins[c.SOURCE_ROW] = np.arange(len(rows))
    kind = {c.CATEGORY_ID: "k", c.CATEGORY: "kind", c.CATEGORY_INDEX: 0}
    where = {c.LATITUDE: 40.0, c.LONGITUDE: -74.0, c.TRAIN_CHECKINS: 0}
    pois = pd.DataFrame({c.POI_ID: [f"p{poi}" for poi in range(num_pois)], c.POI_NAME: "", **kind, **where})
    users = pd.DataFrame({c.USER_ID: [f"u{user}" for user in range(int(checkins[c.USER].max()) + 1)]})
    report = CleaningReport(raw=len(rows), exact_duplicates=0, kept=len(rows), checkins=len(rows), dropped={})
    manifest = Manifest(
        name="by hand", source_format="test", preset="test", config=LENIENT, report=report, dataset_hash="0" * 64
    )
    return Dataset(checkins=checkins, pois=pois, users=users, manifest=manifest)


def foursquare_lines(rows: list[tuple[str, str, float]]) -> list[str]:
    """The same rows as lines of a TSMC2014 file."""
    rows_of_table: list[Any] = list(raw_table(rows).itertuples())
    return [
        FOURSQUARE_LINE.format(
            user=row.user_id,
            poi=row.poi_id,
            latitude=row.latitude,
            longitude=row.longitude,
            time=row.time.strftime("%a %b %d %H:%M:%S +0000 %Y"),
        )
        for row in rows_of_table
    ]


def write_foursquare(path: Path, rows: list[tuple[str, str, float]]) -> Path:
    """Write the rows as a TSMC2014 file and return its path."""
    path.write_bytes(("\n".join(foursquare_lines(rows)) + "\n").encode("latin-1"))
    return path


@st.composite
def raw_rows(draw: st.DrawFn, min_size: int = 4, max_size: int = 40) -> list[tuple[str, str, float]]:
    """Rows for `raw_table`: few users and POIs, every time different, in any order."""
    hours = draw(st.lists(st.integers(0, 400), min_size=min_size, max_size=max_size, unique=True))
    users = st.sampled_from(["ann", "bob", "cy"])
    pois = st.sampled_from(["home", "work", "gym", "bar", "zoo"])
    return [(draw(users), draw(pois), float(hour)) for hour in hours]


configs = st.builds(
    DataConfig,
    min_poi_checkins=st.integers(1, 3),
    min_user_checkins=st.integers(1, 3),
    min_trajectory_length=st.integers(1, 3),
    trajectory_gap_hours=st.sampled_from([6.0, 24.0, 72.0]),
    train_end=st.sampled_from([0.5, 0.8]),
    val_end=st.sampled_from([0.8, 0.9]),
    drop_exact_duplicates=st.booleans(),
    history=st.sampled_from(["every_checkin", "cases_only"]),
    merge_seconds=st.sampled_from([0, 0, 3600, 7200]),
    merge_by=st.sampled_from(["gap", "clock"]),
    split_by=st.sampled_from(get_args(SplitBy)),
    removal_order=st.sampled_from(["short_first", "unseen_first"]),
)
