"""The features of all training cases, computed once and read in every epoch.

Shape suffixes: N training cases, B cases of a batch, C pairs of a case and a place, F features, K categories, P POIs.
"""

from dataclasses import dataclass, replace
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F

from recap.arithmetic.ragged import expand_ranges
from recap.features.catalogue import FeatureSet
from recap.features.places import Places
from recap.features.values import FeatureValues, Pairs
from recap.history.tensors import Histories
from recap.model.curve_prior import CurvePrior, CurveValues
from recap.model.curves import OnCurves

_CASES: Final = 256
"""Cases computed at a time."""
_MOST_BYTES: Final = 2_000_000_000
"""Larger tables are not kept: features are computed for each batch then."""
_MOST_DISTANCES: Final = 100_000_000
"""Pairs of places whose distances are kept."""


@dataclass(frozen=True, eq=False)
class _Packed:
    """Pairs of many cases; case n has ``start_N1[n]`` to ``start_N1[n + 1]``. ``key_C``: position of the case among
    those computed with it x P + POI; ``on_CF``: a pair's features are adjacent, one column of many rows takes eight
    times as long.
    """

    start_N1: Tensor
    key_C: Tensor
    on_CF: OnCurves

    @classmethod
    def of(cls, values: list[CurveValues], which: int) -> "_Packed":
        """Those at a position of `CurveValues.on`."""
        keys, pieces = [piece.features.sparse[which].key_C for piece in values], [piece.on[which] for piece in values]
        counts = []
        for key_C, piece in zip(keys, values, strict=True):
            edge = torch.arange(len(piece.features.histories) + 1, device=key_C.device) * piece.features.num_pois
            counts.append(torch.searchsorted(key_C, edge).diff())
        return cls(
            F.pad(torch.cumsum(torch.cat(counts), 0), (1, 0)),
            torch.cat([key_C.int() for key_C in keys]),
            _joined([on.each(lambda column_FC: column_FC.T) for on in pieces], dim=0),
        )

    def take(self, index_B: Tensor, num_pois: int) -> tuple[Pairs, OnCurves]:
        start_B = self.start_N1[index_B]
        case_C, at_C = expand_ranges(start_B, self.start_N1[index_B + 1] - start_B)
        on = self.on_CF.each(lambda column_CF: column_CF.index_select(0, at_C).T.contiguous())
        moved_B = (torch.arange(len(index_B), device=index_B.device) - index_B % _CASES) * num_pois
        return Pairs(moved_B.index_select(0, case_C).add_(self.key_C.index_select(0, at_C)), on.part_FN[:, :0]), on


@dataclass(frozen=True, eq=False)
class KeptFeatures:
    """`CurveValues` of training cases, without values and two-hop paths."""

    of: FeatureSet
    places: Places
    packed: tuple[_Packed, ...]
    by_category_JNK: OnCurves
    distance_PP: OnCurves | None

    @classmethod
    def compute(cls, curves: CurvePrior, cases: Histories) -> "KeptFeatures | None":
        """Compute the features of all cases; None if they take too much memory."""
        num_pois = len(curves.features.places.checkins_P)
        pieces: list[CurveValues] = []
        held = 0
        for start in range(0, len(cases), _CASES):
            values = curves.features_of(cases.select(slice(start, start + _CASES)))
            pieces.append(replace(values, features=values.features.without_values()))
            held += sum(on.at_FN.nbytes + on.part_FN.nbytes for on in (*values.on, values.by_category))
            held += sum(8 * len(pairs.key_C) for pairs in values.features.sparse)
            if held / (_CASES * len(pieces)) * len(cases) > _MOST_BYTES:
                return None
        packed = tuple(_Packed.of(pieces, which) for which in range(len(pieces[0].features.sparse)))
        by_category = _joined([piece.by_category for piece in pieces], dim=1)
        distance_PP = None
        if num_pois**2 <= _MOST_DISTANCES:
            sources = torch.arange(num_pois, device=cases.row_B.device).split(_CASES)
            distances = _joined([curves.locate_distances(source_B) for source_B in sources], dim=1)
            distance_PP = distances.each(lambda column_1N: column_1N.view(num_pois, num_pois))
        # `features_of` has moved the features to the cases' device.
        by_category_JNK = by_category.each(lambda column_JN: column_JN.unflatten(1, (len(cases), -1)))
        return cls(curves.of, curves.features.places, packed, by_category_JNK, distance_PP)

    def take(self, histories: Histories, index_B: Tensor) -> CurveValues:
        """Features of a batch whose cases are at ``index_B`` among those kept."""
        taken = [packed.take(index_B, len(self.places.checkins_P)) for packed in self.packed]
        sparse, by_category_JBK = tuple(pairs for pairs, _ in taken), self.by_category_JNK.part_FN[:, index_B, :0]
        features = FeatureValues(self.of, histories, self.places, sparse, by_category_JBK)
        distance = None
        if self.distance_PP is not None:
            distance = self.distance_PP.each(lambda row_PP: row_PP.index_select(0, histories.source_B).view(1, -1))
        by_category = self.by_category_JNK.each(lambda column_JNK: column_JNK.index_select(1, index_B).flatten(1))
        return CurveValues(features, tuple(on for _, on in taken), by_category, distance)


def _joined(pieces: list[OnCurves], dim: int) -> OnCurves:
    return OnCurves(torch.cat([on.at_FN for on in pieces], dim), torch.cat([on.part_FN for on in pieces], dim))
