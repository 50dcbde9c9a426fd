"""Raw check-ins in, a `Dataset` out: clean, number users, POIs and categories, hash."""

from typing import Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.data.cases import history_only
from recap.data.cleaning import DataConfig, clean_checkins, number_ids
from recap.data.dataset import Dataset, Manifest, hash_tables
from recap.data.parsing.read_report import ReadReport

DESCRIBING: Final = (c.POI_NAME, c.CATEGORY_ID, c.CATEGORY, c.LATITUDE, c.LONGITUDE)
"""Columns of a raw row that say what a place is."""


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
    checkins = pd.DataFrame(
        {
            c.USER: user,
            c.POI: poi,
            c.TIME: frame[c.TIME].to_numpy("datetime64[s]"),
            c.TZ_OFFSET_MINUTES: frame[c.TZ_OFFSET_MINUTES].to_numpy(np.int16),
            c.TRAJECTORY: _renumber(frame[c.TRAJECTORY].to_numpy()),
            c.SPLIT: frame[c.SPLIT].to_numpy(np.int8),
            c.SOURCE_ROW: frame[c.SOURCE_ROW].to_numpy(np.int64),
        }
    )
    checkins[c.TIME] = checkins[c.TIME].dt.tz_localize("UTC")
    if c.HISTORY_ONLY in frame:
        checkins[c.HISTORY_ONLY] = frame[c.HISTORY_ONLY].to_numpy(bool)
    of_cases = ~history_only(checkins)
    rows = frame[of_cases].iloc[_earliest_rows(poi[of_cases], checkins[of_cases])]
    train = checkins[c.SPLIT].to_numpy() == c.TRAIN
    pois = describe_pois(rows, poi_ids, np.bincount(poi[train], minlength=len(poi_ids)))
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


def _renumber(trajectory: np.ndarray) -> np.ndarray:
    starts = np.append(True, trajectory[1:] != trajectory[:-1])
    return (np.cumsum(starts) - 1).astype(np.int32)


def _earliest_rows(poi: np.ndarray, checkins: pd.DataFrame) -> np.ndarray:
    """Row of each POI's first check-in by (time, source row)."""
    seconds = checkins[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
    earliest = np.full(poi.max() + 1, np.iinfo(np.int64).max)
    np.minimum.at(earliest, poi, seconds)
    rows = np.flatnonzero(seconds == earliest[poi])
    rows = rows[np.lexsort((checkins[c.SOURCE_ROW].to_numpy()[rows], poi[rows]))]
    return rows[np.append(True, np.diff(poi[rows]) != 0)]


def describe_pois(rows: pd.DataFrame, poi_ids: np.ndarray, train_checkins: np.ndarray) -> pd.DataFrame:
    """The table of POIs from the raw row that describes each, in order of their numbers."""
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
            c.TRAIN_CHECKINS: train_checkins.astype(np.int64),
        }
    )
