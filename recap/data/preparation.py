"""Turn raw check-ins into a `Dataset`: clean, number users, POIs and categories, hash."""

from typing import Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.data.cases import history_only
from recap.data.cleaning import DataConfig, Rows, clean_checkins, number_ids
from recap.data.dataset import Dataset, Manifest, hash_tables
from recap.data.parsing.read_report import ReadReport

DESCRIBING: Final = (c.POI_NAME, c.CATEGORY_ID, c.CATEGORY, c.LATITUDE, c.LONGITUDE)
"""Columns of a raw row that describe a place."""


def prepare_dataset(
    raw: pd.DataFrame,
    config: DataConfig,
    *,
    name: str,
    source_format: str,
    preset: str = "custom",
    synthetic: bool = False,
    reading: ReadReport | None = None,
) -> Dataset:
    """Build a dataset from a raw check-in table (columns in `recap.columns`).

    Users, POIs and categories are numbered in lexicographic order of their ids, so the numbering depends on content
    alone. A POI's coordinates, name and category are those of its first surviving check-in by (time, source row);
    check-ins that are history only do not count, so that the rule for them changes no POI.

    Args:
        reading: the reader's account, kept in the manifest.

    Raises:
        DataError: nothing usable is left, see `clean_checkins`.
    """
    frame, report = clean_checkins(raw, config)
    user, user_ids = number_ids(frame[c.USER_ID])
    poi, poi_ids = number_ids(frame[c.POI_ID])
    checkins = checkin_table(
        user,
        poi,
        frame[c.TIME].to_numpy("datetime64[s]"),
        frame[c.TZ_OFFSET_MINUTES].to_numpy(np.int16),
        frame[c.SOURCE_ROW].to_numpy(np.int64),
        Rows(
            np.arange(len(frame)),
            frame[c.SPLIT].to_numpy(np.int8),
            frame[c.TRAJECTORY].to_numpy(),
            history_only(frame),
        ),
    )
    rows = frame.iloc[first_rows(checkins)]
    pois = describe_pois(rows, poi_ids, checkins)
    users = pd.DataFrame({c.USER_ID: user_ids})
    manifest = Manifest(
        name=name,
        source_format=source_format,
        preset=preset,
        config=config,
        report=report,
        dataset_hash=hash_tables(checkins, pois, users),
        synthetic=synthetic,
        reading=reading,
    )
    return Dataset(checkins=checkins, pois=pois, users=users, manifest=manifest)


def checkin_table(
    user: np.ndarray, poi: np.ndarray, time: np.ndarray, offset: np.ndarray, source_row: np.ndarray, left: Rows
) -> pd.DataFrame:
    """The table of check-ins from the columns of the rows left, in their order."""
    starts = np.append(True, left.trajectory[1:] != left.trajectory[:-1])
    checkins = pd.DataFrame(
        {
            c.USER: user,
            c.POI: poi,
            c.TIME: time,
            c.TZ_OFFSET_MINUTES: offset,
            c.TRAJECTORY: (np.cumsum(starts) - 1).astype(np.int32),
            c.SPLIT: left.split,
            c.SOURCE_ROW: source_row,
        },
        copy=False,
    )
    checkins[c.TIME] = checkins[c.TIME].dt.tz_localize("UTC")
    if left.is_aside.any():
        checkins[c.HISTORY_ONLY] = left.is_aside
    return checkins


def first_rows(checkins: pd.DataFrame) -> np.ndarray:
    """Row of each POI's first check-in by (time, source row), of those that open cases."""
    opening = np.flatnonzero(~history_only(checkins))
    poi, row = checkins[c.POI].to_numpy()[opening], checkins[c.SOURCE_ROW].to_numpy()[opening]
    seconds = checkins[c.TIME].to_numpy("datetime64[s]").astype(np.int64)[opening]
    earliest = np.full(poi.max() + 1, np.iinfo(np.int64).max)
    np.minimum.at(earliest, poi, seconds)
    rows = np.flatnonzero(seconds == earliest[poi])
    rows = rows[np.lexsort((row[rows], poi[rows]))]
    return opening[rows[np.append(True, np.diff(poi[rows]) != 0)]]


def describe_pois(rows: pd.DataFrame, poi_ids: np.ndarray, checkins: pd.DataFrame) -> pd.DataFrame:
    """The table of POIs from the raw row that describes each, in order of their numbers."""
    trained = checkins[c.POI].to_numpy()[checkins[c.SPLIT].to_numpy() == c.TRAIN]
    category_index, _ = number_ids(rows[c.CATEGORY_ID])
    rows = rows.reset_index(drop=True)
    names = rows[c.POI_NAME] if c.POI_NAME in rows else pd.Series([""] * len(rows))
    return pd.DataFrame(
        {
            c.POI_ID: poi_ids,
            c.POI_NAME: names.astype(str),
            c.CATEGORY_ID: rows[c.CATEGORY_ID].astype(str),
            c.CATEGORY: rows[c.CATEGORY].astype(str),
            c.CATEGORY_INDEX: category_index,
            c.LATITUDE: rows[c.LATITUDE].to_numpy(np.float64),
            c.LONGITUDE: rows[c.LONGITUDE].to_numpy(np.float64),
            c.TRAIN_CHECKINS: np.bincount(trained, minlength=len(poi_ids)).astype(np.int64),
        }
    )
