"""Add later check-ins to a prepared dataset: histories grow, everything learned from training stays.

Shape suffixes: N new check-ins, T check-ins of the extended dataset.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.data.cases import history_only
from recap.data.dataset import Dataset, hash_tables
from recap.data.splitting import SplitConfig
from recap.errors import DataError

_DESCRIBED: Final = (c.POI_NAME, c.CATEGORY_ID, c.CATEGORY, c.LATITUDE, c.LONGITUDE)


@dataclass(frozen=True, eq=False)
class Extension:
    """A dataset with later check-ins appended to its users.

    Attributes:
        dataset: the added check-ins are history only and of the test split; new users come after the known ones, places
            that are not in the data set after the known ones, without training check-ins.
        added: check-ins added.
        ignored: rows at or before their user's last known check-in.
        new_users, new_places: what the data set did not know.
        visits_to_new: check-ins added at ``new_places``.
    """

    dataset: Dataset
    added: int
    ignored: int
    new_users: int
    new_places: int
    visits_to_new: int

    @property
    def line(self) -> str:
        """What was added and what was not, in one line."""
        said = [f"added {self.added:,} check-ins ({self.new_users:,} new users)"]
        if self.ignored:
            said.append(f"ignored {self.ignored:,} rows that are not later than their user's last known check-in")
        if self.new_places:
            said.append(
                f"{self.visits_to_new:,} check-ins are at {self.new_places:,} places that are not in the data set: "
                "they count as stops, and are never predicted"
            )
        line = "; ".join(said)
        return f"{line[:1].upper()}{line[1:]}."


def extend_dataset(dataset: Dataset, raw: pd.DataFrame) -> Extension:
    """Append raw check-ins (columns in `recap.columns`, file order) to their users, in time order.

    Training rows, their order and every earlier check-in stay as they are.

    Raises:
        DataError: no row is later than its user's last known check-in.
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
    poi_N, places = _numbered(added[c.POI_ID], dataset.pois[c.POI_ID])
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
    pois = _with_places(dataset.pois, added.sort_values(c.TIME, kind="stable"), places)
    grown = pd.DataFrame({c.USER_ID: users})
    manifest = dataset.manifest.model_copy(update={"dataset_hash": hash_tables(table, pois, grown)})
    return Extension(
        replace(dataset, checkins=table, pois=pois, users=grown, manifest=manifest),
        added=len(added),
        ignored=len(raw) - len(added),
        new_users=len(users) - dataset.num_users,
        new_places=len(pois) - dataset.num_pois,
        visits_to_new=int((poi_N >= dataset.num_pois).sum()),
    )


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
    first = added.assign(**{c.POI_ID: added[c.POI_ID].astype(str)}).drop_duplicates(c.POI_ID).set_index(c.POI_ID)
    rows = first.reindex(new).reindex(columns=list(_DESCRIBED)).fillna({c.POI_NAME: ""}).reset_index(drop=True)
    categories = pois.drop_duplicates(c.CATEGORY_ID)
    _, ids = _numbered(rows[c.CATEGORY_ID], categories[c.CATEGORY_ID])
    number = dict(zip(categories[c.CATEGORY_ID], categories[c.CATEGORY_INDEX], strict=True))
    unknown = int(pois[c.CATEGORY_INDEX].max()) + 1
    number |= {name: unknown + at for at, name in enumerate(ids[len(categories) :])}
    rows[c.CATEGORY_INDEX] = rows[c.CATEGORY_ID].map(number)
    rows[c.POI_ID], rows[c.TRAIN_CHECKINS] = new, 0
    return pd.concat([pois, rows[list(pois.columns)].astype(pois.dtypes.to_dict())], ignore_index=True)
