"""Which categories other users go to next, from a category and at an hour.

Shape suffixes: B cases, K categories, N training transitions, C packed pairs.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from recap import columns as c
from recap.data.dataset import Dataset
from recap.features.others import OtherUsers

_HOURS: Final = 24
_USUAL: Final = 20.0
"""Transitions of the usual kind added to each share, so that a few transitions say little."""


@dataclass(frozen=True, eq=False)
class NextCategories:
    """Training transitions by destination category. ``counts``: sources are K categories, 24 hours, "any", and
    "unknown", which nobody left; ``num_categories``: K, those of places with training check-ins.
    """

    counts: OtherUsers
    num_categories: int

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> "NextCategories":
        rows = dataset.cases(c.TRAIN)
        user, poi = (dataset.checkins[name].to_numpy(np.int64) for name in (c.USER, c.POI))
        category_P = dataset.pois[c.CATEGORY_INDEX].to_numpy(np.int64)
        categories = int(category_P[poi[dataset.checkins[c.SPLIT].to_numpy() == c.TRAIN]].max(initial=-1)) + 1
        hour = dataset.local_time.dt.hour.to_numpy(np.int64)[rows]
        any_hour = np.full(len(rows), categories + _HOURS)
        source = np.concatenate([category_P[poi[rows]], categories + hour, any_hour])
        destination = np.tile(category_P[poi[rows + 1]], 3)
        size = categories + _HOURS + 2
        ones = np.ones(len(source), dtype=np.int64)
        counts = sparse.csr_array((ones, (source, destination)), shape=(size, size))
        return cls(OtherUsers.of(np.tile(user[rows], 3), source, destination, counts), categories)

    def to(self, device: torch.device | str) -> "NextCategories":
        return NextCategories(self.counts.to(device), self.num_categories)

    def likelier(self, user_B: Tensor, category_B: Tensor, hour_B: Tensor) -> tuple[Tensor, Tensor]:
        """How much likelier than usual others go next to each category: log ratios, (B, K) float64 each.

        Given the source's category, and given its hour; 0 where nothing is known.
        """
        usual_BK = self._others(user_B, torch.full_like(category_B, self.num_categories + _HOURS)) + 0.5
        usual_BK = usual_BK / usual_BK.sum(1, keepdim=True)
        known_B = torch.where(category_B < self.num_categories, category_B, self.num_categories + _HOURS + 1)
        both = (known_B, self.num_categories + hour_B.long())
        from_here_BK, at_hour_BK = (self._likelier(self._others(user_B, source_B), usual_BK) for source_B in both)
        return from_here_BK, at_hour_BK

    def _others(self, user_B: Tensor, source_B: Tensor) -> Tensor:
        case_C, category_C, count_C = self.counts.transitions_from(user_B, source_B)
        count_BK = torch.zeros(len(user_B), self.num_categories, dtype=torch.float64, device=user_B.device)
        return count_BK.index_put_((case_C, category_C), count_C.double())

    @staticmethod
    def _likelier(count_BK: Tensor, usual_BK: Tensor) -> Tensor:
        share_BK = (count_BK + _USUAL * usual_BK) / (count_BK.sum(1, keepdim=True) + _USUAL)
        return (share_BK / usual_BK).log()
