"""The features of all training cases, computed once and read again in every epoch.

Shape suffixes: N training cases, B cases of a batch, C pairs of a case and a place, F features, K categories.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from recap.features.places import Places
from recap.features.two_hop import TwoHopPaths
from recap.features.values import Features, FeatureValues, Pairs
from recap.ragged import expand_ranges
from recap.scores import CaseBatch

_CASES: Final = 256
"""Cases computed at a time."""
_MOST_BYTES: Final = 2_000_000_000
"""Larger tables are not kept: features are computed for each batch then."""


@dataclass(frozen=True, eq=False)
class _Packed:
    """Pairs of many cases; those of case n are from ``start_N1[n]`` to ``start_N1[n + 1]``."""

    start_N1: Tensor
    poi_C: Tensor
    value_FC: Tensor

    @classmethod
    def of(cls, pieces: list[Pairs], sizes: list[int], num_pois: int) -> "_Packed":
        cases = (torch.div(pairs.key_C, num_pois, rounding_mode="floor") for pairs in pieces)
        count_N = torch.cat([torch.bincount(case, minlength=size) for case, size in zip(cases, sizes, strict=True)])
        start_N1 = torch.cat([count_N.new_zeros(1), torch.cumsum(count_N, 0)])
        poi_C = torch.cat([(pairs.key_C % num_pois).int() for pairs in pieces])
        return cls(start_N1, poi_C, torch.cat([pairs.value_FC for pairs in pieces], dim=1))

    def take(self, index_B: Tensor, num_pois: int) -> Pairs:
        start_B = self.start_N1[index_B]
        case_C, at_C = expand_ranges(start_B, self.start_N1[index_B + 1] - start_B)
        return Pairs(case_C * num_pois + self.poi_C[at_C], self.value_FC[:, at_C])


@dataclass(frozen=True, eq=False)
class KeptFeatures:
    """`FeatureValues` of training cases; two-hop paths are not kept one by one."""

    places: Places
    packed: tuple[_Packed, _Packed, _Packed, _Packed]
    category_NK: Tensor

    @classmethod
    def of(cls, features: Features, cases: CaseBatch, dtype: torch.dtype) -> "KeptFeatures | None":
        """Compute the features of all cases; None where they take too much memory."""
        num_pois = features.others.num_pois
        pieces: list[FeatureValues] = []
        held = 0
        for row_B in cases.row_B.split(_CASES):
            values = features.of(CaseBatch(cases.checkins, row_B), dtype=dtype)
            pieces.append(values.without_paths())
            held += sum(pairs.value_FC.nbytes + 8 * len(pairs.key_C) for pairs in values.sparse)
            held += values.category_BK.nbytes
            if held / (_CASES * len(pieces)) * len(cases) > _MOST_BYTES:
                return None
        sizes = [len(piece.batch) for piece in pieces]
        packed = tuple(
            _Packed.of([piece.sparse[at] for piece in pieces], sizes, num_pois) for at in range(len(pieces[0].sparse))
        )
        assert len(packed) == 4
        return cls(features.places, packed, torch.cat([piece.category_BK for piece in pieces]))

    def take(self, batch: CaseBatch, index_B: Tensor) -> FeatureValues:
        """Features of a batch whose cases stand at ``index_B`` among those kept."""
        num_pois = len(self.places.checkins_P)
        visits, transitions, two_hop, similar = (packed.take(index_B, num_pois) for packed in self.packed)
        return FeatureValues(
            batch, self.places, visits, transitions, two_hop, similar, TwoHopPaths.none(), self.category_NK[index_B]
        )
