"""Everything that is known of users, for predictions: check-ins that evaluation cannot use, and later ones.

Shape suffixes: N added check-ins, T check-ins of the extended dataset.
"""

from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.data.cases import history_only
from recap.data.cleaning import number_ids
from recap.data.dataset import Dataset, hash_tables
from recap.data.schema import COLUMNS, seconds_of
from recap.errors import DataError
from recap.machine.printable import count_of

_NEVER: Final = np.iinfo(np.int64).min


def extend_dataset(dataset: Dataset, raw: pd.DataFrame | None = None) -> tuple[Dataset, str]:
    """Join `Dataset.unseen` and, of raw check-ins (columns in `recap.columns`, file order), those later than their
    user's last known one, in time order, as history only. Training rows, their order and every other check-in stay as
    they are; new users and places come after the known ones, without training check-ins. Also says what was added of
    the raw check-ins and what was not. Raises DataError: none is later, and those that end the file are not in the
    dataset.
    """
    known, given = dataset.checkins, [] if dataset.unseen is None else [dataset.unseen]
    last_row = max(int(table[c.SOURCE_ROW].max()) for table in (known, *given))
    if raw is not None:
        texts = {name: raw[name].astype(str) for name in (c.USER_ID, c.POI_ID, c.CATEGORY_ID, c.CATEGORY)}
        names = raw[c.POI_NAME].astype(str) if c.POI_NAME in raw else ""
        numbers = last_row + 1 + np.arange(len(raw))
        given.append(raw.assign(**texts, **{c.POI_NAME: names, c.SPLIT: c.TEST, c.SOURCE_ROW: numbers}))
    if not given:
        return dataset, ""
    every = pd.concat([table[[*COLUMNS["unseen"]]] for table in given], ignore_index=True)
    user_N, users = number_ids(every[c.USER_ID], dataset.users[c.USER_ID])
    seconds_N, is_raw_N = seconds_of(every), every[c.SOURCE_ROW].to_numpy() > last_row
    last_U = np.full(len(users), _NEVER)
    np.maximum.at(last_U, known[c.USER].to_numpy(), seconds_of(known))
    np.maximum.at(last_U, user_N[~is_raw_N], seconds_N[~is_raw_N])
    is_later_N = is_raw_N & (seconds_N > last_U[user_N])
    if raw is not None and not is_later_N.any() and not _ends_with(dataset, every.assign(**{c.USER: user_N}), is_raw_N):
        count = int((is_raw_N & (seconds_N == last_U[user_N])).sum())
        equal = f", {count:,} are at the same second" if count else ""
        refusal = f"none of the {len(raw):,} check-ins is later than its user's last one in the data set{equal}"
        raise DataError(f"{refusal}: give check-ins that follow it")
    kept_N = is_later_N | ~is_raw_N
    added, is_raw_N, user_N = every[kept_N], is_raw_N[kept_N], user_N[kept_N]
    poi_N, _ = number_ids(added[c.POI_ID], dataset.pois[c.POI_ID])
    extended = _joined(dataset, added.assign(**{c.USER: user_N, c.POI: poi_N}), users)
    if raw is None:
        return extended, ""
    new_users, num_added = set(user_N[is_raw_N & (last_U[user_N] == _NEVER)]), int(is_raw_N.sum())
    parts = [f"Added {count_of(num_added, 'check-in')} and {count_of(len(new_users), 'new user')}"]
    if num_added < len(raw):
        parts.append(f"ignored {count_of(len(raw) - num_added, 'row')} up to their user's last known check-in")
    held = np.append(poi_N[~is_raw_N], np.arange(dataset.num_pois))
    elsewhere = poi_N[is_raw_N & ~np.isin(poi_N, held)]
    if len(elsewhere):
        where = f"{count_of(len(elsewhere), 'visit')} to {count_of(len(set(elsewhere)), 'place')} outside the data set"
        parts.append(f"{where}, which only models with curves predict")
    return extended, "; ".join(parts) + "."


def _ends_with(dataset: Dataset, every: pd.DataFrame, is_raw_N: np.ndarray) -> bool:
    """Whether each user's last check-in of the file is their last of the dataset: the file is the dataset's own."""
    keys = [c.USER, c.POI, c.TIME]
    rows = every.assign(**{c.POI: pd.Index(dataset.pois[c.POI_ID]).get_indexer(every[c.POI_ID])})
    parts = rows[is_raw_N], pd.concat([dataset.checkins[keys], rows.loc[~is_raw_N, keys]])
    ends, held = (part.loc[part[c.TIME] == part.groupby(c.USER)[c.TIME].transform("max"), keys] for part in parts)
    return bool(pd.MultiIndex.from_frame(ends).isin(pd.MultiIndex.from_frame(held)).all())


def _joined(dataset: Dataset, added: pd.DataFrame, users: np.ndarray) -> Dataset:
    """The dataset with added check-ins, and its users' ids by number."""
    known, config = dataset.checkins, dataset.manifest.config
    rows = added.assign(**{c.TRAJECTORY: -1})[[name for name in known if name != c.HISTORY_ONLY]]
    rows = rows.astype(known.dtypes[list(rows.columns)].to_dict()).assign(**{c.HISTORY_ONLY: True})
    table = pd.concat([known.assign(**{c.HISTORY_ONLY: history_only(known)}), rows], ignore_index=True)
    order = np.lexsort((table[c.SOURCE_ROW], seconds_of(table), table[c.USER]))
    table = table.iloc[order].reset_index(drop=True)
    # Known trajectories stay; an added check-in shares that of those around it unless the gap is too long.
    given = table[c.TRAJECTORY].to_numpy(np.int64)
    is_far = np.diff(seconds_of(table)) > config.trajectory_gap_hours * 3600
    is_added = (given[1:] < 0) | (given[:-1] < 0)
    starts = (np.diff(table[c.USER]) != 0) | np.where(is_added, is_far, np.diff(given) != 0)
    table[c.TRAJECTORY] = np.cumsum(np.append(0, starts)).astype(known[c.TRAJECTORY].to_numpy().dtype)
    pois = _with_places(dataset.pois, added)
    grown = pd.DataFrame({c.USER_ID: users})
    manifest = dataset.manifest.model_copy(update={"dataset_hash": hash_tables(table, pois, grown)})
    tables = {"checkins": table, "pois": pois, "users": grown}
    return replace(dataset, **tables, manifest=manifest, unseen=None, extends=dataset.hash)


def _with_places(pois: pd.DataFrame, added: pd.DataFrame) -> pd.DataFrame:
    """The POI table with rows for new places, each described by its first check-in."""
    rows = added[added[c.POI] >= len(pois)].sort_values([c.POI, c.TIME]).drop_duplicates(c.POI)
    by_number = pois.drop_duplicates(c.CATEGORY_ID).sort_values(c.CATEGORY_INDEX)  # from 0, without gaps
    rows[c.CATEGORY_INDEX], _ = number_ids(rows[c.CATEGORY_ID], by_number[c.CATEGORY_ID])
    rows[c.TRAIN_CHECKINS] = 0
    return pd.concat([pois, rows[list(pois.columns)].astype(pois.dtypes.to_dict())], ignore_index=True)
