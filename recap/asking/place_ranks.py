"""Rank of one place in many scorings of a case, block by block.

Scorings of one case differ in the state and in a few places' own contributions. All states are scored in blocks of some
thousand places.

Shape suffixes: M scorings, P POIs, B POIs of a block, D hidden features, C contributions.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import torch
from torch import Tensor, nn

from recap.evaluation.ranks import Ranks, rank_totals
from recap.machine.device import one_thread, side_by_side

_BLOCK: Final = 2048
_WORTH_A_THREAD: Final = 64
"""Blocks: below some hundred thousand places threads would wait for Python more than they compute."""


class PlaceRanks(NamedTuple):
    """One place in M scorings. ``logit_M``: its total; ``rank_M``: its mean rank over ties, 1 is best."""

    logit_M: Tensor
    rank_M: Tensor

    @classmethod
    def of_totals(cls, total_MP: Tensor, poi: int) -> "PlaceRanks":
        poi_M = torch.full_like(total_MP[:, 0], poi, dtype=torch.int64)
        return cls(total_MP[:, poi], rank_totals(total_MP, poi_M).mean_B)

    @classmethod
    def joined(cls, pieces: "list[PlaceRanks]") -> "PlaceRanks":
        return cls(*map(torch.cat, zip(*pieces, strict=True)))


class Contributions(NamedTuple):
    """Points of single places on top of their core score, in any order; each pair of scoring and place at most once."""

    scoring_C: Tensor
    poi_C: Tensor
    value_C: Tensor


@one_thread()
def place_ranks_of_states(output: nn.Linear, state_MD: Tensor, contributions: Contributions, poi: int) -> PlaceRanks:
    """Ranks of a place in scorings ``output(state) + contributions``. ``output``: l_core(d) = w_d . h + b_d (Eq. 5)."""
    order_C = torch.argsort(contributions.poi_C, stable=True)
    scoring_C, poi_C, value_C = (column_C[order_C] for column_C in contributions)

    def totals(start: int) -> Tensor:
        """Those of the block of places that begins there, (M, B)."""
        places = slice(start, start + _BLOCK)
        total_MB = torch.addmm(output.bias[places], state_MD, output.weight[places].T)
        size = total_MB.shape[1]
        here = slice(*torch.searchsorted(poi_C, torch.tensor([start, start + size])).tolist())
        total_MB.view(-1).index_add_(0, scoring_C[here] * size + poi_C[here] - start, value_C[here])
        return total_MB

    own = poi - poi % _BLOCK
    own_M1 = totals(own)[:, poi - own, None].clone()  # bitwise equal to the block's own value below

    def read(starts: Sequence[int]) -> tuple[Tensor, Tensor]:
        better_M = torch.zeros(len(state_MD), dtype=torch.int64)
        tied_M = torch.zeros_like(better_M)
        with torch.inference_mode():  # a thread has modes of its own
            for start in starts:
                total_MB = totals(start)
                better_M += (total_MB > own_M1).sum(1, dtype=torch.int32)  # a fifth of the time of int64
                tied_M += (total_MB == own_M1).sum(1, dtype=torch.int32)
        return better_M, tied_M

    better, tied = zip(*side_by_side(read, range(0, output.out_features, _BLOCK), _WORTH_A_THREAD), strict=True)
    return PlaceRanks(own_M1[:, 0], Ranks(sum(better), sum(tied)).mean_B)
