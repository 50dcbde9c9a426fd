"""The revisit prior R_t(d) as a sum of one learned curve for each named feature (beyond the paper).

Shape suffixes: B cases, P POIs, C packed pairs, I pairs asked for, U places drawn, F features.
"""

from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn

from recap.arithmetic.ragged import found_in
from recap.features.catalogue import GIVEN_TIME, PAST, TIME, feature_set
from recap.features.values import Features, FeatureValues, Pairs
from recap.history.graph import TransitionGraph
from recap.history.tensors import Histories
from recap.model.curves import Curves, OnCurves

NEW_PLACES: Final = "new_places"
"""The term of `CurvePrior.new_places`."""
_KNOT_CASES = 1024
"""Training cases whose candidates place the knots."""


class _AsNew(torch.autograd.Function):
    """Scores of every place (B, U) by popularity, distance and category as if it were new, plus values of few pairs
    (keys are case x U + place): ``own_O`` at new places, then 0 at ``known_C``, then ``packed_N``. As one function, it
    makes fewer copies of (B, U) numbers.
    """

    @staticmethod
    def forward(
        ctx: Any,
        popularity_U: Tensor,
        distance_BU: Tensor,
        category_BK: Tensor,
        category_U: Tensor,
        key_O: Tensor,
        own_O: Tensor,
        known_C: Tensor,
        key_N: Tensor,
        packed_N: Tensor,
    ) -> Tensor:
        ctx.save_for_backward(category_U, key_O, known_C, key_N)
        ctx.shapes = popularity_U.shape, category_BK.shape
        total_BU = (distance_BU + popularity_U).add_(category_BK.index_select(1, category_U))
        total_BU.view(-1).index_add_(0, key_O, own_O).index_fill_(0, known_C, 0.0).index_add_(0, key_N, packed_N)
        return total_BU

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        category_U, key_O, known_C, key_N = ctx.saved_tensors
        packed_N = grads[0].reshape(-1).index_select(0, key_N)
        grad_BU = grads[0].clone(memory_format=torch.contiguous_format)
        grad_BU.view(-1).index_fill_(0, known_C, 0.0)
        popularity, category = ctx.shapes
        category_BK = grad_BU.new_zeros(category).index_add_(1, category_U, grad_BU)
        own_O = grad_BU.view(-1).index_select(0, key_O)
        return grad_BU.sum_to_size(popularity), grad_BU, category_BK, None, None, own_O, None, None, packed_N


@dataclass(frozen=True, eq=False)
class CurveValues:
    """Features of a batch and their positions on the curves: ``on`` of each of ``features.sparse``; ``by_category`` of
    the features by category, (J, B K); ``distance`` to all places, (1, B P), computed if None. ``off``: terms that add
    nothing.
    """

    features: FeatureValues
    on: tuple[OnCurves, ...]
    by_category: OnCurves
    distance: OnCurves | None = None
    off: frozenset[str] = frozenset()


class CurvePrior(nn.Module):
    """R_t(d) of every place, dense and unbounded; all curves are 0 before training, and without history those of past
    visits and times for good. ``given_time``: they read the time of the next check-in, from `Histories`.
    ``new_places`` are points of every place new to the user, fitted to a dataset (`recap.pretrained`); None is no term.
    """

    def __init__(self, features: Features, *, given_time: bool = False, with_history: bool = True) -> None:
        super().__init__()
        self.features, self.of = features, feature_set(given_time=given_time)
        self.new_places: float | None = None
        enabled = [with_history or feature.group not in (PAST, TIME) for feature in self.of.features]
        self.curves = Curves(self.of, enabled)
        self._popularity, self._distance = self.of.rows("popularity_new"), self.of.rows("distance_new")
        self._by_category = self.of.rows(*self.of.by_category)

    def features_of(
        self,
        histories: Histories,
        graph: TransitionGraph | None = None,
        cut_K3: Tensor | None = None,
        off: frozenset[str] = frozenset(),
    ) -> CurveValues:
        """The features of a batch, with changed counts and without cut paths and some terms."""
        if self.features.device != histories.row_B.device:
            self.features = self.features.to(histories.row_B.device)
        dtype = self.curves.step_FK.dtype
        features = self.features if graph is None else self.features.over(graph)
        values = features.of(histories.asked(given_time=self.of is GIVEN_TIME), cut_K3, dtype)
        spans = zip(values.sparse, self.of.row_spans, strict=True)
        on = tuple(self.curves.locate(pairs.value_FC, span) for pairs, span in spans)
        by_category = self.curves.locate(values.by_category_JBK.flatten(1), self._by_category)
        return CurveValues(values, on, by_category, off=off)

    def locate_distances(self, source_B: Tensor, poi_U: Tensor | None = None) -> OnCurves:
        """Locate distances from sources to all or some places on their curve, (1, B P) or (1, B U)."""
        distance_BU = self.features.places.distance_km(source_B, self.curves.step_FK.dtype, poi_U).log1p_()
        return self.curves.locate(distance_BU.view(1, -1), self._distance)

    def knot_values(self, histories: Histories) -> list[Tensor]:
        """Values of each feature at some of the cases' candidates, whose quantiles place the knots."""
        size = min(_KNOT_CASES, len(histories))
        apart = torch.linspace(0, len(histories) - 1, size, device=histories.row_B.device).round().long()
        pieces_of: list[list[Tensor]] = [[] for _ in self.of.features]
        for at_B in apart.split(64):
            values = self.features_of(histories.select(at_B)).features
            packed = [value_C for pairs in values.sparse for value_C in pairs.value_FC]
            for row, value_C in enumerate(packed):
                pieces_of[row].append(value_C[value_C != 0].cpu())
            num_pois, size = values.num_pois, len(at_B)
            # All places, or a fixed sample of a large catalogue.
            spread = torch.linspace(0, num_pois - 1, min(num_pois, 5_000), device=at_B.device).round().long()
            key_I = (torch.arange(size, device=at_B.device)[:, None] * num_pois + spread).view(-1)
            key_I = key_I[~values.is_known(key_I)]
            for row, value_I in enumerate(values.everywhere(key_I), start=len(packed)):
                pieces_of[row].append(value_I[:: max(1, len(value_I) // 20_000)].cpu())
        return [torch.cat(pieces) for pieces in pieces_of]

    def forward(self, values: CurveValues) -> Tensor:
        """R_t(d) of every place, (B, P)."""
        features = values.features
        key_N = torch.cat([pairs.key_C for pairs in features.sparse])
        packed_N = torch.cat([self._points(number, values).sum(0) for number in range(len(features.sparse))])
        return self._everywhere(values, features.visits.key_C, key_N, packed_N)

    def at_pairs(self, values: CurveValues, key_I: Tensor) -> Tensor:
        """The curves, then ``new_places``, at pairs (case x P + POI), (F, I); they add up to R_t(d)."""
        value_FI, applies_FI = values.features.at(key_I)
        points_FI = self.curves(value_FI, off=values.off) * applies_FI
        if self.new_places is None:
            return points_FI
        is_new_1I = ~values.features.is_known(key_I)[None] & (NEW_PLACES not in values.off)
        return torch.cat([points_FI, self.new_places * is_new_1I.to(points_FI.dtype)])

    def at_drawn(self, values: CurveValues, poi_U: Tensor) -> Tensor:
        """R_t(d) of places sampled for the batch, (B, U), exact at pairs that are not candidates."""
        similar = self.of.row_spans.index(self.of.rows("similar_users"))
        key_N, points_N = values.features.sparse[similar].key_C, self._points(similar, values)[0]
        key_N, points_N = _among(key_N, points_N, values.features.num_pois, poi_U)
        return self._everywhere(values, key_N[:0], key_N, points_N, poi_U)

    def _everywhere(
        self, values: CurveValues, known_C: Tensor, key_N: Tensor, packed_N: Tensor, poi_U: Tensor | None = None
    ) -> Tensor:
        """R_t(d) of all places (B, P) or some (B, U), see `_AsNew`."""
        features, off = values.features, values.off
        places, source_B, dtype = features.places, features.histories.source_B, features.by_category_JBK.dtype
        popularity_U = self.curves(torch.log1p(places.checkins_P).to(dtype)[None], self._popularity, off)[0]
        distance = values.distance or self.locate_distances(source_B, poi_U)
        distance_BU = self.curves(distance, self._distance, off).view(len(source_B), -1)
        of_category_JN = self.curves(values.by_category, self._by_category, off)
        of_category_JBK = of_category_JN.view(len(of_category_JN), len(source_B), -1)
        key_O, own_O = self._without_own(values, popularity_U)
        category_U = places.category_P
        if poi_U is not None:
            key_O, own_O = _among(key_O, own_O, features.num_pois, poi_U)
            popularity_U, category_U = popularity_U.index_select(0, poi_U), category_U[poi_U]
        if self.new_places is not None and NEW_PLACES not in off:
            distance_BU = distance_BU + self.new_places
        return _AsNew.apply(
            popularity_U, distance_BU, of_category_JBK.sum(0), category_U, key_O, own_O, known_C, key_N, packed_N
        )

    def visits_and_time(self, values: CurveValues, key_C: Tensor) -> Tensor:
        """Sum of the curves of past visits and of times at pairs with visited places, (C,)."""
        rows = [row for row, feature in enumerate(self.of.visited) if feature.group in (PAST, TIME)]
        return Pairs(values.features.visits.key_C, self._points(0, values)[rows].sum(0)[None]).at(key_C)[0]

    def _points(self, which: int, values: CurveValues) -> Tensor:
        return self.curves(values.on[which], self.of.row_spans[which], values.off)

    def _without_own(self, values: CurveValues, popularity_P: Tensor) -> tuple[Tensor, Tensor]:
        """How leaving out the user's own check-ins changes popularity's points: keys and changes, (O,)."""
        features = values.features
        case_O, poi_O, own_O = features.places.own_checkins(features.histories.user_B)
        others_O = torch.log1p(features.places.checkins_P[poi_O] - own_O).to(popularity_P.dtype)
        change_O = self.curves(others_O[None], self._popularity, values.off)[0] - popularity_P.index_select(0, poi_O)
        return case_O * features.num_pois + poi_O, change_O


def _among(key_N: Tensor, value_N: Tensor, num_pois: int, poi_U: Tensor) -> tuple[Tensor, Tensor]:
    """Pairs whose place is among the distinct, ascending poi_U, as case x U + position."""
    case_N = torch.div(key_N, num_pois, rounding_mode="floor")
    is_drawn_N, at_N = found_in(poi_U, key_N - case_N * num_pois)
    return (case_N * len(poi_U) + at_N)[is_drawn_N], value_N[is_drawn_N]
