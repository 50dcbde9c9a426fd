"""The places, categories and users that a checkpoint knows, and how they are found again in another dataset.

Shape suffixes: P POIs, U users and K categories of the opened dataset; Q POIs of the checkpoint.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recap import columns as c
from recap.arithmetic.geodesy import distance_km
from recap.data.dataset import Dataset
from recap.errors import CheckpointError, VocabularyError
from recap.storage.frames import read_validated

VOCABULARY: Final = "vocabulary.parquet"
USERS: Final = "users.parquet"
_USER_HASH: Final = "user_hash"
_COLUMNS: Final = [c.POI_ID, c.CATEGORY_ID, c.CATEGORY_INDEX]
_COORDINATES: Final = [c.LATITUDE, c.LONGITUDE]
"""Checkpoints of formats 1 and 2 lack them."""
_NEAR_KM: Final = 1.0
_NEAR_DEGREES: Final = 0.0091
"""Of latitude: a little more than 1 km."""


@dataclass(frozen=True)
class TrainedOn:
    """What a checkpoint's manifest says of its dataset. ``users_hash``: see `hash_users`; ``published``: whether it
    holds a published model, which needs the same users and places.
    """

    name: str
    hash: str
    users_hash: str
    published: bool


@dataclass(frozen=True, eq=False)
class Match:
    """Where a checkpoint has the users, places and categories of a dataset; -1 where they are new to it.
    ``coordinates_Q2``: latitude and longitude of the checkpoint's places, which its coordinates are standardised with.
    """

    poi_P: np.ndarray
    user_U: np.ndarray
    category_K: np.ndarray
    coordinates_Q2: np.ndarray

    @property
    def new_users(self) -> int:
        return int((self.user_U < 0).sum())

    @property
    def new_places(self) -> int:
        return int((self.poi_P < 0).sum())

    @property
    def line(self) -> str:
        """How many users and places are new."""
        return (
            f"New to the checkpoint, which was trained on another dataset: {self.new_users:,} of {len(self.user_U):,} "
            f"users, {self.new_places:,} of {len(self.poi_P):,} places."
        )


def match_dataset(folder: Path, trained_on: TrainedOn, dataset: Dataset) -> Match | None:
    """Find the users, places and categories of a dataset in a checkpoint; None if it was trained on this dataset. A
    place is the same by its id and within 1 km. Raises VocabularyError: fewer than half of the dataset's places match;
    or a place of a checkpoint that has no coordinates (format 1 or 2) or any user or place of a published model
    differs; CheckpointError: a table cannot be read.
    """
    if dataset.hash == trained_on.hash:
        return None
    line = f"checkpoint {folder.name} was trained on dataset {trained_on.name!r} ({trained_on.hash[:12]}…)"
    if dataset.manifest.name == trained_on.name:
        line += f", which was prepared again since ({dataset.hash[:12]}…)"
    else:
        line += f", not on {dataset.manifest.name!r} ({dataset.hash[:12]}…)"
    try:
        known = read_validated(folder / VOCABULARY).to_pandas()
        hashes = read_validated(folder / USERS)[_USER_HASH].to_pandas() if (folder / USERS).is_file() else None
        poi_P, coordinates_Q2 = _match_places(known, dataset.pois)
        same = int((poi_P >= 0).sum())
        if 2 * same < dataset.num_pois and dataset.extends != trained_on.hash:
            raise VocabularyError(
                f"{line}: it knows {same:,} of the {dataset.num_pois:,} places here (same id, within 1 km) and "
                "needs at least half; train on this dataset"
            )
        if c.LATITUDE not in known and same < len(known):
            raise VocabularyError(
                f"{line}: {len(known) - same:,} of its {len(known):,} places are not here, and an earlier version "
                "wrote it without their coordinates; train again"
            )
        categories = known.drop_duplicates(c.CATEGORY_ID).set_index(c.CATEGORY_ID)[c.CATEGORY_INDEX]
    except (OSError, KeyError, ValueError, pa.ArrowException) as error:
        raise CheckpointError(f"{folder / VOCABULARY} cannot be read ({error})") from error
    here = dataset.pois.drop_duplicates(c.CATEGORY_INDEX).sort_values(c.CATEGORY_INDEX)[c.CATEGORY_ID]
    category_K = categories.reindex(here).fillna(-1).to_numpy(np.int64)
    match = Match(poi_P, _match_users(hashes, trained_on, dataset), category_K, coordinates_Q2)
    if trained_on.published and not _is_same(match, len(known), None if hashes is None else len(hashes)):
        raise VocabularyError(
            f"{line}: a published model opens only with later check-ins of the same users, places and categories; "
            "train again"
        )
    return match


def place_keys(pois: pd.DataFrame, *, around: bool = False) -> np.ndarray:
    """A number for each place from its id and its cell of some kilometres; ``around``: for each cell within 1 km, so
    that the same place in another dataset has one of them. Empty without coordinates.
    """
    if not set(_COORDINATES) <= set(pois) or pois.empty:
        return np.empty(0, np.uint64)
    id_P = pd.util.hash_array(pois[c.POI_ID].astype(str).to_numpy(object))
    latitude_P, longitude_P = pois[_COORDINATES].to_numpy(np.float64).T
    away_P = _NEAR_DEGREES / np.cos(np.radians(np.clip(latitude_P, -84.0, 84.0)))
    signs = (-1, 1) if around else (0,)
    keys = [
        id_P + _cell(latitude_P + north * _NEAR_DEGREES, longitude_P + east * away_P)
        for north in signs
        for east in signs
    ]
    return np.unique(np.concatenate(keys))


def _cell(latitude_P: np.ndarray, longitude_P: np.ndarray) -> np.ndarray:
    row_P, column_P = np.floor(latitude_P / 0.02), np.floor(longitude_P / 0.1) % 3600
    return pd.util.hash_array((row_P * 3600 + column_P).astype(np.int64))


def _match_places(known: pd.DataFrame, pois: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Row of each place in the checkpoint, (P,), and the coordinates of the checkpoint's places, (Q, 2)."""
    if known[c.POI_ID].duplicated().any():
        raise ValueError("a place occurs twice")
    poi_P = pd.Index(known[c.POI_ID]).get_indexer(pois[c.POI_ID])
    here_P2 = pois[_COORDINATES].to_numpy(np.float64)
    if c.LATITUDE not in known:
        at_Q = pd.Index(pois[c.POI_ID]).get_indexer(known[c.POI_ID])
        return poi_P, here_P2[at_Q[at_Q >= 0]]
    coordinates_Q2 = known[_COORDINATES].to_numpy(np.float64)
    away_P = distance_km(*here_P2.T, *coordinates_Q2[poi_P].T)
    return np.where(away_P <= _NEAR_KM, poi_P, -1), coordinates_Q2


def _match_users(hashes: pd.Series | None, trained_on: TrainedOn, dataset: Dataset) -> np.ndarray:
    """Row of each user in the checkpoint, (U,); formats 1 and 2 know their users only all together."""
    if hashes is not None:
        return pd.Index(hashes).get_indexer(hash_each_user(dataset.users[c.USER_ID], trained_on.hash))
    if hash_users(dataset) == trained_on.users_hash:
        return np.arange(dataset.num_users)
    return np.full(dataset.num_users, -1)


def _is_same(match: Match, num_pois: int, num_users: int | None) -> bool:
    sizes = (num_pois, len(match.user_U) if num_users is None else num_users, len(match.category_K))
    pairs = zip((match.poi_P, match.user_U, match.category_K), sizes, strict=True)
    return all(np.array_equal(index, np.arange(size)) for index, size in pairs)


def hash_users(dataset: Dataset) -> str:
    """SHA-256 of all user ids together."""
    return hashlib.sha256("\n".join(dataset.users[c.USER_ID].astype(str)).encode()).hexdigest()


def hash_each_user(user_ids: Iterable[object], salt: str) -> list[str]:
    """The first 16 hex digits of SHA-256 of the salt and each user id.

    >>> hash_each_user(["7"], "salt") == hash_each_user(["7"], "pepper")
    False
    """
    return [hashlib.sha256(f"{salt}\n{user_id}".encode()).hexdigest()[:16] for user_id in user_ids]


def write_vocabulary(dataset: Dataset, folder: Path) -> None:
    """Write places with categories and coordinates, and the users' hashes, each in index order."""
    users = pa.table({_USER_HASH: hash_each_user(dataset.users[c.USER_ID], dataset.hash)})
    places = pd.DataFrame(dataset.pois[[*_COLUMNS, *_COORDINATES]])
    tables = {VOCABULARY: pa.Table.from_pandas(places, preserve_index=False), USERS: users}
    for name, table in tables.items():
        pq.write_table(table, folder / name, compression="zstd")
