"""Exact ranks under ties.

Shape suffixes: B cases, P POIs, K list length.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from recap.errors import ScoreError
from recap.scores import Scores

Counts = TypeVar("Counts", Tensor, np.ndarray)


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks of targets as counts. ``num_better_B``: POIs ranked strictly above the target; ``num_tied_B``: POIs tied
    with the target, itself included (at least 1).
    """

    num_better_B: Tensor
    num_tied_B: Tensor

    @property
    def mean_B(self) -> Tensor:
        return mean_rank(self.num_better_B, self.num_tied_B)


def mean_rank(num_better: Counts, num_tied: Counts) -> Counts:
    """The mean rank over all orders of the tied POIs, 1 is best.

    >>> mean_rank(np.array([0, 2]), np.array([1, 4])).tolist()
    [1.0, 4.5]
    """
    return num_better + (num_tied + 1) / 2


def check_scores(total_BP: Tensor, scorer_name: str) -> None:
    """Refuse totals that cannot be ranked. Raises ScoreError if a total is NaN."""
    bad_B = torch.isnan(total_BP).any(dim=1)
    if bad_B.any():
        raise ScoreError(
            f"scorer {scorer_name!r} returned NaN for {int(bad_B.sum())} of {len(bad_B)} cases of a batch; "
            "nothing was ranked"
        )


def rank_targets(total_BP: Tensor, target_B: Tensor, tie_break_P: Tensor | None = None) -> Ranks:
    """Rank each target among all POIs by (total, tie-break)."""
    target_score_B1 = total_BP.gather(1, target_B[:, None])
    above_BP, equal_BP = total_BP > target_score_B1, total_BP == target_score_B1
    if tie_break_P is not None:
        target_tie_B1 = tie_break_P[target_B][:, None]
        above_BP = above_BP | (equal_BP & (tie_break_P > target_tie_B1))
        equal_BP = equal_BP & (tie_break_P == target_tie_B1)
    return Ranks(_count(above_BP), _count(equal_BP))


def _count(mask_BP: Tensor) -> Tensor:
    if mask_BP.device.type != "cpu":
        return mask_BP.sum(1)
    # NumPy counts a row in a fortieth of torch's time.
    mask = mask_BP.numpy()
    return torch.tensor([np.count_nonzero(row) for row in mask], dtype=torch.int64)


def rank_of(total_P: Tensor, poi: int) -> float:
    """The mean rank of one POI among the totals of one case."""
    return float(rank_targets(total_P[None], torch.tensor([poi], device=total_P.device)).mean_B)


def top_pois(scores: Scores, length: int) -> tuple[Tensor, Tensor]:
    """The best POIs by (total, tie-break, index) and their totals: two tensors (B, min(length, P))."""
    total_BP = scores.total
    length = min(length, total_BP.shape[1])
    if scores.tie_break_P is None:
        values_BK, poi_BK = total_BP.topk(length, dim=1)
        return poi_BK, values_BK
    order_P = torch.sort(scores.tie_break_P, descending=True, stable=True).indices
    total_BP = total_BP[:, order_P]
    last_B1 = total_BP.topk(length, dim=1).values[:, -1:]
    # All totals above the K-th best are in the list; POIs that equal it follow in `order_P`.
    above_BP, equal_BP = total_BP > last_B1, total_BP == last_B1
    left_B1 = length - above_BP.sum(1, keepdim=True)
    listed_BP = above_BP | (equal_BP & (equal_BP.cumsum(1, dtype=torch.int32) <= left_B1))
    position_BK = listed_BP.nonzero()[:, 1].view(-1, length)
    values_BK, within_BK = torch.sort(total_BP.gather(1, position_BK), dim=1, descending=True, stable=True)
    return order_P[position_BK.gather(1, within_BK)], values_BK
