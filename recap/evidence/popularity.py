"""How often other users checked in at each place in training.

A place's training check-ins hold the user's own later ones: beside counts that leave the user out, the difference tells
a training case where its user will go, and a test case nothing. Here the user's own are taken out of both.

Shape suffixes: B cases, P POIs, U users, K distinct (user, POI) pairs, C their part of a batch.
"""

from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import Tensor

from recap import columns as c
from recap.data.dataset import Dataset
from recap.ragged import expand_ranges


@dataclass(frozen=True, eq=False)
class OthersCheckins:
    """Training check-ins of everyone, and of each user to take away again.

    Attributes:
        total_P: float64, everyone's.
        start_U1: int64 (U + 1,), where each user's places begin among K.
        poi_K, count_K: int64, places and the user's own check-ins there.
    """

    total_P: Tensor
    start_U1: Tensor
    poi_K: Tensor
    count_K: Tensor

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> "OthersCheckins":
        """Count each user's training check-ins."""
        train = dataset.checkins[c.SPLIT].to_numpy() == c.TRAIN
        user, poi = (dataset.checkins[name].to_numpy(np.int64)[train] for name in (c.USER, c.POI))
        key, count = np.unique(user * dataset.num_pois + poi, return_counts=True)
        owner, place = np.divmod(key, dataset.num_pois)
        start = np.searchsorted(owner, np.arange(dataset.num_users + 1))
        total = np.bincount(poi, minlength=dataset.num_pois).astype(np.float64)
        return cls(*(torch.from_numpy(array) for array in (total, start, place, count)))

    def to(self, device: torch.device | str) -> "OthersCheckins":
        """The same tensors on another device."""
        return OthersCheckins(*(getattr(self, field.name).to(device) for field in fields(self)))

    def of(self, user_B: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
        """Training check-ins of everyone but each case's user at every POI, (B, P); all of them for a user unknown."""
        known_B = user_B < len(self.start_U1) - 1
        user_B = torch.where(known_B, user_B, 0)
        start_B = self.start_U1[user_B]
        case_C, pair_C = expand_ranges(start_B, (self.start_U1[user_B + 1] - start_B) * known_B)
        others_BP = self.total_P.to(dtype).repeat(len(user_B), 1)
        others_BP[case_C, self.poi_K[pair_C]] -= self.count_K[pair_C].to(dtype)  # a user has each place once
        return others_BP
