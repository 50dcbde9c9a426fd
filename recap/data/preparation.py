"""Turn raw check-ins into a `Dataset`."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.data.cases import history_only
from recap.data.cleaning import DataConfig, clean_rows, number_ids, number_rows
from recap.data.dataset import Dataset, Manifest, hash_tables
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
    describing = describing or raw.take
    del raw
    trim_heap()
    left, gone, report = clean_rows(rows, config)
    del rows  # gigabytes of a large file
    trim_heap()
    unseen = None
    if len(gone):
        ids = {c.SOURCE_ROW: gone.index, c.USER_ID: user_ids[gone[c.USER]], c.POI_ID: poi_ids[gone[c.POI]]}
        unseen = pd.DataFrame(ids).join(_described(describing(gone.index.to_numpy())))
        unseen = unseen.join(gone[[c.TZ_OFFSET_MINUTES, c.TIME, c.SPLIT]].reset_index(drop=True))
    numbers, names = {}, {}
    for column in (c.USER, c.POI, c.TRAJECTORY):  # only those that are left
        codes, names[column] = pd.factorize(left[column], sort=True)
        numbers[column] = codes.astype(np.int32)
    columns = [c.USER, c.POI, c.TIME, c.TZ_OFFSET_MINUTES, c.TRAJECTORY, c.SPLIT, c.SOURCE_ROW]
    columns += [c.HISTORY_ONLY] * bool(left[c.HISTORY_ONLY].any())
    checkins = left.assign(**numbers).rename_axis(c.SOURCE_ROW).reset_index()[columns]
    del left
    pois = _described(describing(_first_rows(checkins)))
    pois.insert(0, c.POI_ID, poi_ids[names[c.POI]])
    pois.insert(4, c.CATEGORY_INDEX, number_ids(pois[c.CATEGORY_ID])[0])
    trained = checkins.loc[checkins[c.SPLIT] == c.TRAIN, c.POI]
    pois[c.TRAIN_CHECKINS] = np.bincount(trained, minlength=len(pois)).astype(np.int64)
    users = pd.DataFrame({c.USER_ID: user_ids[names[c.USER]]})
    trim_heap()
    facts["unseen_hash"] = "" if unseen is None else hash_tables(unseen)
    manifest = Manifest(config=config, report=report, dataset_hash=hash_tables(checkins, pois, users), **facts)
    return Dataset(checkins=checkins, pois=pois, users=users, manifest=manifest, unseen=unseen)


def _described(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of `DESCRIBING`; names are empty where there are none."""
    rows = rows.reset_index(drop=True)
    texts = {name: rows[name].astype(str) if name in rows else "" for name in DESCRIBING[:3]}
    return pd.DataFrame({name: rows[name].astype(np.float64) for name in DESCRIBING[3:]}).assign(**texts)[[*DESCRIBING]]


def _first_rows(checkins: pd.DataFrame) -> np.ndarray:
    """Source row of each POI's first check-in that may open a case."""
    opening = checkins[~history_only(checkins)]
    firsts = opening[opening[c.TIME] == opening.groupby(c.POI)[c.TIME].transform("min")]
    return firsts.sort_values([c.POI, c.SOURCE_ROW]).drop_duplicates(c.POI)[c.SOURCE_ROW].to_numpy()
