"""Add later check-ins to a prepared dataset: histories grow, everything learned from training stays.

Shape suffixes: N new check-ins, T check-ins of the extended dataset.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from recap import columns as c
from recap.data.cases import history_only
from recap.data.dataset import Dataset, hash_tables
from recap.data.splitting import SplitConfig
from recap.errors import DataError
from recap.printable import count_of


@dataclass(frozen=True, eq=False)
class Extension:
    """A dataset with later check-ins appended to its users: history only, of the test split; new users and places come
    after the known ones. ``line``: what was added and what was not, in one line.
    """

    dataset: Dataset
    new_users: int
    new_places: int
    line: str


def extend_dataset(dataset: Dataset, raw: pd.DataFrame) -> Extension:
    """Append raw check-ins (columns in `recap.columns`, file order) to their users, in time order; all that is there
    stays as it is. Raises DataError: no row is later than its user's last known check-in.
    """
    known = dataset.checkins
    user_N, users = _numbered(raw[c.USER_ID], dataset.users[c.USER_ID])
    seconds_N = raw[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
    last_U = np.full(len(users), np.iinfo(np.int64).min)
    # Rows are in time order: a user's last one is assigned last.
    last_U[known[c.USER].to_numpy()] = known[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
    order = np.lexsort((seconds_N, user_N))  # stable: file order within one second
    order = order[seconds_N[order] > last_U[user_N[order]]]
    if not len(order):
        raise DataError(
            f"none of the {len(raw):,} check-ins is later than its user's last one in the data set: "
            "give check-ins that follow it"
        )
    added = raw.iloc[order]
    poi_N, place_ids = _numbered(added[c.POI_ID], dataset.pois[c.POI_ID])
    rows = pd.DataFrame(
        {
            c.USER: user_N[order],
            c.POI: poi_N,
            c.TIME: added[c.TIME].array,
            c.TZ_OFFSET_MINUTES: added[c.TZ_OFFSET_MINUTES].to_numpy(),
            c.TRAJECTORY: -1,
            c.SPLIT: c.TEST,
            c.SOURCE_ROW: known[c.SOURCE_ROW].max() + 1 + order,
        }
    )
    rows = rows.astype(known.dtypes[list(rows.columns)].to_dict()).assign(**{c.HISTORY_ONLY: True})
    table = pd.concat([known.assign(**{c.HISTORY_ONLY: history_only(known)}), rows], ignore_index=True)
    table = table.iloc[np.argsort(table[c.USER].to_numpy(), kind="stable")].reset_index(drop=True)
    table[c.TRAJECTORY] = _trajectories(table, dataset.manifest.config).astype(known[c.TRAJECTORY].to_numpy().dtype)
    pois = _with_places(dataset.pois, added.sort_values(c.TIME, kind="stable"), place_ids)
    grown = pd.DataFrame({c.USER_ID: users})
    manifest = dataset.manifest.model_copy(update={"dataset_hash": hash_tables(table, pois, grown)})
    new_users, new_places = len(users) - dataset.num_users, len(pois) - dataset.num_pois
    said = [f"Added {count_of(len(added), 'check-in')} and {count_of(new_users, 'new user')}"]
    if len(added) < len(raw):
        said.append(f"ignored {count_of(len(raw) - len(added), 'row')} up to their user's last known check-in")
    if new_places:
        visits = count_of(int((poi_N >= dataset.num_pois).sum()), "visit")
        places = count_of(new_places, "place")
        said.append(f"{visits} to {places} outside the data set: kept as stops that are never predicted")
    extended = replace(dataset, checkins=table, pois=pois, users=grown, manifest=manifest)
    return Extension(extended, new_users, new_places, "; ".join(said) + ".")


def _numbered(ids: pd.Series, known: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Number of each id, and all ids by number: those that are not known follow in lexicographic order."""
    text = ids.astype(str)
    new = np.sort(np.setdiff1d(text.unique().astype(object), known.astype(str).to_numpy(object)))
    every = np.concatenate([known.to_numpy(object), new])
    return pd.Index(every).get_indexer(text), every


def _trajectories(table: pd.DataFrame, config: SplitConfig) -> np.ndarray:
    """Known trajectories as they are; added check-ins go on with the one before unless the gap is too long."""
    user, given = table[c.USER].to_numpy(np.int64), table[c.TRAJECTORY].to_numpy(np.int64)
    seconds = table[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
    is_far = np.diff(seconds) > config.trajectory_gap_hours * 3600
    starts = (np.diff(user) != 0) | np.where(given[1:] < 0, is_far, np.diff(given) != 0)
    trajectory: np.ndarray = np.cumsum(np.append(True, starts)) - 1
    return trajectory


def _with_places(pois: pd.DataFrame, added: pd.DataFrame, place_ids: np.ndarray) -> pd.DataFrame:
    """The POI table with rows for new places, each described by its first check-in."""
    new = place_ids[len(pois) :]
    if not len(new):
        return pois
    rows = added.assign(**{c.POI_ID: added[c.POI_ID].astype(str)}).drop_duplicates(c.POI_ID).set_index(c.POI_ID)
    rows = rows.assign(**{c.POI_NAME: rows.get(c.POI_NAME, "")}).loc[new].reset_index()
    by_number = pois.drop_duplicates(c.CATEGORY_ID).sort_values(c.CATEGORY_INDEX)  # from 0, without gaps
    rows[c.CATEGORY_INDEX], _ = _numbered(rows[c.CATEGORY_ID], by_number[c.CATEGORY_ID])
    rows[c.TRAIN_CHECKINS] = 0
    return pd.concat([pois, rows[list(pois.columns)].astype(pois.dtypes.to_dict())], ignore_index=True)
