"""Rank of one place in many scorings of a case, block by block.

Scorings of one case differ in the state and in a few places' own contributions. All states are scored in blocks of some
thousand places.

Shape suffixes: M scorings, P POIs, B POIs of a block, D hidden features, C contributions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn

from recap.device import one_thread, side_by_side
from recap.evaluation.ranks import Ranks, rank_totals

_BLOCK: Final = 2048
_WORTH_A_THREAD: Final = 64
"""Blocks: below some hundred thousand places threads would wait for Python more than they compute."""


@dataclass(frozen=True, eq=False)
class PlaceRanks:
    """One place in M scorings. ``logit_M``: its total; ``rank_M``: its mean rank over ties, 1 is best."""

    logit_M: Tensor
    rank_M: Tensor

    @classmethod
    def of_totals(cls, total_MP: Tensor, poi: int) -> "PlaceRanks":
        poi_M = torch.full_like(total_MP[:, 0], poi, dtype=torch.int64)
        return cls(total_MP[:, poi], rank_totals(total_MP, poi_M).mean_B)

    @classmethod
    def joined(cls, pieces: "list[PlaceRanks]") -> "PlaceRanks":
        return cls(*(torch.cat(columns) for columns in zip(*(vars(piece).values() for piece in pieces), strict=True)))


@dataclass(frozen=True, eq=False)
class Contributions:
    """Points of single places on top of their core score, in any order; each pair of scoring and place at most once."""

    scoring_C: Tensor
    poi_C: Tensor
    value_C: Tensor

    @classmethod
    def none(cls) -> "Contributions":
        no_index = torch.zeros(0, dtype=torch.int64)
        return cls(no_index, no_index, torch.zeros(0, dtype=torch.float64))


@one_thread()
def place_ranks_of_states(output: nn.Linear, state_MD: Tensor, contributions: Contributions, poi: int) -> PlaceRanks:
    """Ranks of a place in scorings ``output(state) + contributions``. ``output``: l_core(d) = w_d . h + b_d (Eq. 5)."""
    blocks = ScoreBlocks(output, state_MD, contributions)
    own = poi - poi % _BLOCK
    own_M1 = blocks.totals(own)[:, poi - own, None].clone()  # bitwise equal to the block's own value below

    def read(starts: Sequence[int]) -> tuple[Tensor, Tensor]:
        better_M = torch.zeros(len(state_MD), dtype=torch.int64)
        tied_M = torch.zeros_like(better_M)
        with torch.inference_mode():  # a thread has modes of its own
            for start in starts:
                total_MB = blocks.totals(start)
                better_M += (total_MB > own_M1).sum(1, dtype=torch.int32)  # a fifth of the time of int64
                tied_M += (total_MB == own_M1).sum(1, dtype=torch.int32)
        return better_M, tied_M

    better, tied = zip(*side_by_side(read, range(0, output.out_features, _BLOCK), _WORTH_A_THREAD), strict=True)
    return PlaceRanks(own_M1[:, 0], Ranks(sum(better), sum(tied)).mean_B)


class ScoreBlocks:
    """Totals of states, block by block."""

    def __init__(self, output: nn.Linear, state_MD: Tensor, contributions: Contributions) -> None:
        self._output, self._state_MD = output, state_MD
        order_C = torch.argsort(contributions.poi_C, stable=True)
        self._contributions = Contributions(
            contributions.scoring_C[order_C], contributions.poi_C[order_C], contributions.value_C[order_C]
        )

    def totals(self, start: int) -> Tensor:
        """Totals (M, B) of the block that begins at ``start``."""
        places = slice(start, start + _BLOCK)
        total_MB = torch.addmm(self._output.bias[places], self._state_MD, self._output.weight[places].T)
        size, ends = total_MB.shape[1], torch.tensor([start, start + total_MB.shape[1]])
        own = slice(*torch.searchsorted(self._contributions.poi_C, ends).tolist())
        index_C = self._contributions.scoring_C[own] * size + self._contributions.poi_C[own] - start
        total_MB.view(-1).index_add_(0, index_C, self._contributions.value_C[own])
        return total_MB
