"""Turn raw check-ins into a `Dataset`."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.data.cases import history_only
from recap.data.cleaning import DataConfig, clean_rows, number_ids, number_rows
from recap.data.dataset import Dataset, Manifest, hash_tables, hash_unseen
from recap.machine.memory import trim_heap

DESCRIBING: Final = (c.POI_NAME, c.CATEGORY_ID, c.CATEGORY, c.LATITUDE, c.LONGITUDE)
"""Columns of a raw row that describe a place."""


def prepare_dataset(
    raw: pd.DataFrame,
    config: DataConfig,
    describing: Callable[[np.ndarray], pd.DataFrame] | None = None,
    /,
    **facts: Any,
) -> Dataset:
    """Build a dataset from a raw check-in table (columns in `recap.columns`). Ids are numbered in lexicographic order;
    a POI is described by its first check-in by (time, source row) that is not history only. Raises DataError: nothing
    usable is left, see `clean_rows`. ``describing``: source rows -> their columns of `DESCRIBING`, where the table
    lacks them; ``facts``: further fields of the `Manifest`, its name and source_format among them.
    """
    rows, user_ids, poi_ids = number_rows(raw)
    offset = raw[c.TZ_OFFSET_MINUTES].to_numpy(np.int16)
    describing = describing or raw.take
    del raw
    trim_heap()
    left, gone, report = clean_rows(rows, config)
    trim_heap()
    unseen = None
    if len(gone.row):
        unseen = pd.DataFrame({c.SOURCE_ROW: gone.row})
        unseen[c.USER_ID], unseen[c.POI_ID] = user_ids[rows.user[gone.row]], poi_ids[rows.poi[gone.row]]
        unseen = unseen.join(_described(describing(gone.row)))
        time = pd.Series(rows.seconds[gone.row].view("datetime64[s]")).dt.tz_localize("UTC")
        unseen = unseen.assign(**{c.TZ_OFFSET_MINUTES: offset[gone.row], c.TIME: time, c.SPLIT: gone.split})
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
            c.SOURCE_ROW: left.row,
        },
        copy=False,
    )
    del rows, offset  # gigabytes of a large file
    checkins[c.TIME] = checkins[c.TIME].dt.tz_localize("UTC")
    if left.is_aside.any():
        checkins[c.HISTORY_ONLY] = left.is_aside
    pois = _described(describing(checkins[c.SOURCE_ROW].to_numpy()[_first_rows(checkins)]))
    pois.insert(0, c.POI_ID, poi_ids[pois_left])
    pois.insert(4, c.CATEGORY_INDEX, number_ids(pois[c.CATEGORY_ID])[0])
    trained = checkins[c.POI].to_numpy()[checkins[c.SPLIT].to_numpy() == c.TRAIN]
    pois[c.TRAIN_CHECKINS] = np.bincount(trained, minlength=len(pois)).astype(np.int64)
    users = pd.DataFrame({c.USER_ID: user_ids[users_left]})
    trim_heap()
    hashes = {"dataset_hash": hash_tables(checkins, pois, users), "unseen_hash": hash_unseen(unseen)}
    manifest = Manifest(config=config, report=report, **hashes, **facts)
    return Dataset(checkins=checkins, pois=pois, users=users, manifest=manifest, unseen=unseen)


def _described(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of `DESCRIBING`; names are empty where there are none."""
    rows = rows.reset_index(drop=True)
    texts = {name: rows[name].astype(str) if name in rows else "" for name in DESCRIBING[:3]}
    return pd.DataFrame({name: rows[name].astype(np.float64) for name in DESCRIBING[3:]}).assign(**texts)[[*DESCRIBING]]


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
