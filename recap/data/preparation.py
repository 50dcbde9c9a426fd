"""Turn raw check-ins into a `Dataset`."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.data.cases import history_only
from recap.data.cleaning import DataConfig, RawRows, Rows, clean_rows, number_ids, number_rows
from recap.data.dataset import Dataset, Manifest, hash_tables, hash_unseen
from recap.machine.memory import trim_heap

DESCRIBING: Final = (c.POI_NAME, c.CATEGORY_ID, c.CATEGORY, c.LATITUDE, c.LONGITUDE)
"""Columns of a raw row that describe a place."""

IdsOf = Callable[[np.ndarray], np.ndarray]
"""Ids by their numbers, which ascend."""


def prepare_dataset(raw: pd.DataFrame, config: DataConfig, *, name: str, source_format: str, **facts: Any) -> Dataset:
    """Build a dataset from a raw check-in table (columns in `recap.columns`). Ids are numbered in lexicographic order;
    a POI is described by its first check-in by (time, source row) that is not history only. Raises DataError: nothing
    usable is left, see `clean_rows`. ``facts``: further fields of the `Manifest`.
    """
    rows, user_ids, poi_ids = number_rows(raw)
    offset = raw[c.TZ_OFFSET_MINUTES].to_numpy(np.int16)
    ids = (user_ids.take, poi_ids.take)
    return build_dataset(rows, offset, ids, raw.take, config, name=name, source_format=source_format, **facts)


def build_dataset(
    rows: RawRows,
    offset: np.ndarray,
    ids: tuple[IdsOf, IdsOf],
    describing: Callable[[np.ndarray], pd.DataFrame],
    config: DataConfig,
    **facts: Any,
) -> Dataset:
    """Build a dataset from check-ins as numbers, see `prepare_dataset`. ``offset``: local minus UTC, minutes;
    ``describing``: source rows -> their raw rows, with those of `DESCRIBING` that exist.
    """
    left, gone, report = clean_rows(rows, config)
    trim_heap()
    unseen = _unseen_table(rows, offset, gone, ids, describing) if len(gone.row) else None
    user, users_left = _renumbered(rows.user[left.row])
    poi, pois_left = _renumbered(rows.poi[left.row])
    starts = np.append(True, left.trajectory[1:] != left.trajectory[:-1])
    checkins = pd.DataFrame(
        {
            c.USER: user,
            c.POI: poi,
            c.TIME: rows.seconds[left.row].view("datetime64[s]"),
            c.TZ_OFFSET_MINUTES: offset[left.row],
            c.TRAJECTORY: (np.cumsum(starts) - 1).astype(np.int32),
            c.SPLIT: left.split,
            c.SOURCE_ROW: rows.source_row[left.row],
        },
        copy=False,
    )
    del rows, offset  # gigabytes of a large file
    checkins[c.TIME] = checkins[c.TIME].dt.tz_localize("UTC")
    if left.is_aside.any():
        checkins[c.HISTORY_ONLY] = left.is_aside
    first = checkins[c.SOURCE_ROW].to_numpy()[_first_rows(checkins)]
    users_of, pois_of = ids
    pois = _describe_pois(describing(first), pois_of(pois_left), checkins)
    users = pd.DataFrame({c.USER_ID: users_of(users_left)})
    trim_heap()
    hashes = {"dataset_hash": hash_tables(checkins, pois, users), "unseen_hash": hash_unseen(unseen)}
    manifest = Manifest(config=config, report=report, **hashes, **facts)
    return Dataset(checkins=checkins, pois=pois, users=users, manifest=manifest, unseen=unseen)


def _unseen_table(
    rows: RawRows,
    offset: np.ndarray,
    gone: Rows,
    ids: tuple[IdsOf, IdsOf],
    describing: Callable[[np.ndarray], pd.DataFrame],
) -> pd.DataFrame:
    """`Dataset.unseen` of the rows whose user or POI training has not seen."""
    described = describing(rows.source_row[gone.row])
    table = pd.DataFrame({c.SOURCE_ROW: rows.source_row[gone.row]})
    for name, ids_of, numbers in zip((c.USER_ID, c.POI_ID), ids, (rows.user, rows.poi), strict=True):
        distinct, at = np.unique(numbers[gone.row], return_inverse=True)
        table[name] = ids_of(distinct)[at].astype(str)
    for name in (c.POI_NAME, c.CATEGORY_ID, c.CATEGORY):
        table[name] = described[name].astype(str).to_numpy() if name in described else ""
    for name in (c.LATITUDE, c.LONGITUDE):
        table[name] = described[name].to_numpy(np.float64)
    time = pd.Series(rows.seconds[gone.row].view("datetime64[s]")).dt.tz_localize("UTC")
    return table.assign(**{c.TZ_OFFSET_MINUTES: offset[gone.row], c.TIME: time, c.SPLIT: gone.split})


def _renumbered(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    occurs = np.bincount(codes) > 0
    rank = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    return rank[codes], np.flatnonzero(occurs)


def _first_rows(checkins: pd.DataFrame) -> np.ndarray:
    """Row of each POI's first check-in that may open a case."""
    opening = np.flatnonzero(~history_only(checkins))
    poi, row = checkins[c.POI].to_numpy()[opening], checkins[c.SOURCE_ROW].to_numpy()[opening]
    seconds = checkins[c.TIME].to_numpy("datetime64[s]").astype(np.int64)[opening]
    earliest = np.full(poi.max() + 1, np.iinfo(np.int64).max)
    np.minimum.at(earliest, poi, seconds)
    rows = np.flatnonzero(seconds == earliest[poi])
    rows = rows[np.lexsort((row[rows], poi[rows]))]
    return opening[rows[np.append(True, np.diff(poi[rows]) != 0)]]


def _describe_pois(rows: pd.DataFrame, poi_ids: np.ndarray, checkins: pd.DataFrame) -> pd.DataFrame:
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
