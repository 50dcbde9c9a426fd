"""Evidence about places new to the user: how near they are, whether users alike go there, of what category they are.

Shape suffixes: B cases, P POIs, N rows of places, U users, H past check-ins,
K categories.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from recap import columns as c
from recap.data.dataset import Dataset
from recap.evidence.config import SurroundingsConfig
from recap.scores import CaseBatch, past_rows

_ALIKE_GAIN: Final = 20.0


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Dense evidence of a dataset's places.

    Attributes:
        visited_UP: 1 where a user checked in in training.
        profile_UP: the same weighted by log(users / (1 + the place's visitors)), rows of length 1.
        rarity_P: these weights.
        category_P: int64, the category of each POI.
    """

    config: SurroundingsConfig
    visited_UP: sparse.csr_array
    profile_UP: sparse.csr_array
    rarity_P: np.ndarray
    category_P: Tensor

    @classmethod
    def from_dataset(cls, dataset: Dataset, config: SurroundingsConfig) -> "Surroundings":
        """Who was where in training."""
        train = dataset.checkins[c.SPLIT].to_numpy() == c.TRAIN
        user, poi = (dataset.checkins[name].to_numpy(np.int64)[train] for name in (c.USER, c.POI))
        visited = sparse.csr_array((np.ones(len(user)), (user, poi)), shape=(dataset.num_users, dataset.num_pois))
        visited.sum_duplicates()
        visited.data[:] = 1.0
        rarity_P = np.log(dataset.num_users / (1.0 + visited.sum(0)))
        category_P = torch.from_numpy(dataset.pois[c.CATEGORY_INDEX].to_numpy(np.int64, copy=True))
        return cls(config, visited, _profiles(visited, rarity_P), rarity_P, category_P)

    def of(self, batch: CaseBatch, log_km_BP: Tensor) -> dict[str, Tensor]:
        """Features of every POI by name in the order of `SurroundingsConfig.names`, (B, P) each, visited ones too.

        Args:
            log_km_BP: log(1 + km) from the source.
        """
        found: dict[str, Tensor] = {}
        if self.config.near_km:
            km_BP = torch.expm1(log_km_BP)
            found = {_near(km): torch.exp(-km_BP / km) for km in self.config.near_km}
        case_H, row_H = past_rows(batch)
        case_H, poi_H = case_H.cpu(), batch.checkins.poi_T[row_H].cpu()
        if self.config.alike_users:
            alike_BP = self._alike(case_H.numpy(), poi_H.numpy(), batch.user_B.cpu().numpy())
            found["visitors_alike"] = torch.from_numpy(alike_BP)
        if self.config.own_category:
            visits_BK = torch.zeros(len(batch), int(self.category_P.max()) + 1, dtype=log_km_BP.dtype)
            once = torch.ones((), dtype=log_km_BP.dtype)
            visits_BK.index_put_((case_H, self.category_P[poi_H]), once, accumulate=True)
            found["own_category"] = torch.log1p(visits_BK)[:, self.category_P]
        return {name: value_BP.to(log_km_BP.device, log_km_BP.dtype) for name, value_BP in found.items()}

    def _alike(self, case_H: np.ndarray, poi_H: np.ndarray, user_B: np.ndarray) -> np.ndarray:
        """log(1 + gain x sum of the likeness of other users who were there), of the users most alike."""
        size = len(user_B)
        own = sparse.csr_array((np.ones(len(poi_H)), (case_H, poi_H)), shape=(size, len(self.rarity_P)))
        own.sum_duplicates()
        own.data[:] = 1.0
        likeness_BU = (_profiles(own, self.rarity_P) @ self.profile_UP.T).toarray()
        known_B = user_B < likeness_BU.shape[1]
        likeness_BU[known_B, user_B[known_B]] = 0.0  # never the user: training holds what the user did next
        kept = min(self.config.alike_users, likeness_BU.shape[1])
        least_B1 = np.partition(likeness_BU, -kept, axis=1)[:, -kept, None]
        likeness_BU[likeness_BU < least_B1] = 0.0
        return np.log1p(_ALIKE_GAIN * (sparse.csr_array(likeness_BU) @ self.visited_UP).toarray())


def _near(km: float) -> str:
    return f"within_{km:g}_km"


def _profiles(visited_NP: sparse.csr_array, rarity_P: np.ndarray) -> sparse.csr_array:
    """Rows of visited places by rarity, of length 1."""
    weighted = visited_NP.copy()
    weighted.data = weighted.data * rarity_P[weighted.indices]
    length_N = np.sqrt(weighted.power(2).sum(1))
    weighted.data /= np.repeat(np.where(length_N > 0, length_N, 1.0), np.diff(weighted.indptr))
    return weighted
