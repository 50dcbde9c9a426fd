"""The revisit prior made of curves: R_t(d) is a sum of one learned curve for each named feature (beyond the paper).

Shape suffixes: B cases, P POIs, C packed pairs, I pairs asked for, U places drawn, F features.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from recap.features.catalogue import FEATURES, NAMES, PAST, TIME, TWO_HOP_FEATURE, VISIT_FEATURES
from recap.features.kept import KeptFeatures
from recap.features.others import EdgeEdits
from recap.features.values import Features, FeatureValues, Pairs
from recap.model.curves import Curves
from recap.ragged import found_in
from recap.scores import CaseBatch

_VISITS = slice(0, len(VISIT_FEATURES))
_TRANSITIONS, _TWO_HOP, _SIMILAR = (slice(len(VISIT_FEATURES) + at, len(VISIT_FEATURES) + at + 1) for at in range(3))
_POPULARITY, _DISTANCE, _CATEGORY = (slice(len(FEATURES) - 3 + at, len(FEATURES) - 2 + at) for at in range(3))
_SPARSE = (_VISITS, _TRANSITIONS, _TWO_HOP, _SIMILAR)
_KNOT_CASES = 1024
"""Training cases whose candidates place the knots."""
TWO_HOP = NAMES.index(TWO_HOP_FEATURE.name)


@dataclass(frozen=True, eq=False)
class CurveValues:
    """Features of a batch, and which curves count.

    Attributes:
        kept_FB: factor on each case's curves, 0 or 1; None keeps all.
    """

    features: FeatureValues
    kept_FB: Tensor | None = None


class CurvePrior(nn.Module):
    """R_t(d) of every place, dense and without a bound; all curves are 0 before training.

    Args:
        features: of the model's dataset; they hold no parameter.
        with_history: False leaves the curves of past visits and times at 0.
    """

    def __init__(self, features: Features, *, with_history: bool = True) -> None:
        super().__init__()
        self._features = features
        self.curves = Curves([with_history or feature.group not in (PAST, TIME) for feature in FEATURES])

    def features_of(
        self,
        batch: CaseBatch,
        edits: EdgeEdits | None = None,
        cut_K3: Tensor | None = None,
        factor_BF: Tensor | None = None,
    ) -> CurveValues:
        """The features of a batch, with edited counts, cut paths and factors on curves where given."""
        if self._features.device != batch.row_B.device:
            self._features = self._features.to(batch.row_B.device)
        dtype = self.curves.step_FK.dtype
        values = self._features.of(batch, edits, cut_K3, dtype)
        return CurveValues(values, None if factor_BF is None else factor_BF.T.to(dtype))

    def keep(self, cases: CaseBatch) -> KeptFeatures | None:
        """The features of training cases for all epochs; None where they take too much memory."""
        return KeptFeatures.of(self._features, cases, self.curves.step_FK.dtype)

    def place_knots(self, batch: CaseBatch) -> None:
        """Put the knots at quantiles over the candidates of (training) cases."""
        size = min(_KNOT_CASES, len(batch))
        apart = torch.linspace(0, len(batch) - 1, size, device=batch.row_B.device).round().long()
        found: list[list[Tensor]] = [[] for _ in FEATURES]
        for rows_B in batch.row_B[apart].split(64):
            values = self.features_of(CaseBatch(batch.checkins, rows_B)).features
            for span, pairs in zip(_SPARSE, values.sparse, strict=True):
                for feature, value_C in zip(range(len(FEATURES))[span], pairs.value_FC, strict=True):
                    found[feature].append(value_C[value_C != 0].cpu())
            num_pois, size = values.num_pois, len(rows_B)
            # Every place of a city, a fixed sample of a large catalogue.
            spread = torch.linspace(0, num_pois - 1, min(num_pois, 5_000), device=rows_B.device).round().long()
            key_I = (torch.arange(size, device=rows_B.device)[:, None] * num_pois + spread).view(-1)
            key_I = key_I[~values.is_known(key_I)]
            for at, value_I in enumerate(values.everywhere(key_I)):
                found[len(FEATURES) - 3 + at].append(value_I[:: max(1, len(value_I) // 20_000)].cpu())
        self.curves.place_knots([torch.cat(pieces) for pieces in found])

    def forward(self, values: CurveValues) -> Tensor:
        """R_t(d) of every place, (B, P)."""
        features = values.features
        total_BP = self._as_new(values)
        # What every new place has does not count where the user was.
        total = total_BP.reshape(-1).index_fill(0, features.visits.key_C, 0.0)
        keys, points = zip(*(self._points(span, pairs, values) for span, pairs in _paired(features)), strict=True)
        return total.index_add(0, torch.cat(keys), torch.cat(points)).view_as(total_BP)

    def at_pairs(self, values: CurveValues, key_I: Tensor) -> Tensor:
        """The curves at pairs (case x P + POI), (F, I); they add up to R_t(d)."""
        value_FI, applies_FI = values.features.at(key_I)
        points_FI = self.curves(value_FI) * applies_FI
        if values.kept_FB is None:
            return points_FI
        return points_FI * values.kept_FB[:, torch.div(key_I, values.features.num_pois, rounding_mode="floor")]

    def at_drawn(self, values: CurveValues, poi_U: Tensor) -> Tensor:
        """R_t(d) of places drawn for the batch, (B, U), right at pairs that are nobody's candidates.

        Past visits, transitions and two-hop paths count as 0: candidates are scored on their own, see `at_pairs`.
        """
        total_BU = self._as_new(values, poi_U)
        similar = values.features.similar
        key, points = _among(*self._points(_SIMILAR, similar, values), values.features.num_pois, poi_U)
        return total_BU.reshape(-1).index_add(0, key, points).view_as(total_BU)

    def _as_new(self, values: CurveValues, poi_U: Tensor | None = None) -> Tensor:
        """Popularity, distance and category of every place (B, P), or of some (B, U), as if it were new."""
        features, kept_FB = values.features, values.kept_FB
        places, source_B, dtype = features.places, features.batch.source_B, features.category_BK.dtype
        popularity_P = self.curves(torch.log1p(places.checkins_P).to(dtype)[None], _POPULARITY)[0]
        distance_BU = places.distance_km(source_B, dtype, poi_U).log1p_()
        category_BK = self.curves(features.category_BK.view(1, -1), _CATEGORY).view_as(features.category_BK)
        own_key_O, own_O = self._without_own(features, popularity_P)
        category_U = places.category_P
        if poi_U is not None:
            own_key_O, own_O = _among(own_key_O, own_O, features.num_pois, poi_U)
            popularity_P, category_U = popularity_P.index_select(0, poi_U), category_U[poi_U]
        parts = [
            popularity_P.expand(len(source_B), -1),
            self.curves(distance_BU.view(1, -1), _DISTANCE).view_as(distance_BU),
            category_BK.index_select(1, category_U),
        ]
        if kept_FB is not None:
            parts = [part * kept_FB[at][:, None] for part, at in zip(parts, (-3, -2, -1), strict=True)]
            own_O = own_O * kept_FB[-3][torch.div(own_key_O, distance_BU.shape[1], rounding_mode="floor")]
        total = (parts[0] + parts[1] + parts[2]).reshape(-1).index_add(0, own_key_O, own_O)
        return total.view_as(distance_BU)

    def visits_and_time(self, values: CurveValues, key_C: Tensor) -> Tensor:
        """Sum of the curves of past visits and of times at pairs of a case and a visited place, (C,)."""
        rows = [at for at, feature in enumerate(VISIT_FEATURES) if feature.group in (PAST, TIME)]
        points_FC = self._kept(
            self.curves(values.features.visits.value_FC, _VISITS), _VISITS, values.features.visits, values
        )
        return Pairs(values.features.visits.key_C, points_FC[rows].sum(0)[None]).at(key_C)[0]

    def path_points(self, values: CurveValues) -> Tensor:
        """What each two-hop path is shown to add, (W,): f(x) p / x for a path of product p and their sum x."""
        features = values.features
        key_W = features.paths.case_W * features.num_pois + features.paths.destination_W
        total_W = features.two_hop.at(key_W)
        points_W = self._kept(self.curves(total_W, _TWO_HOP), _TWO_HOP, Pairs(key_W, total_W), values)[0]
        return points_W * features.paths.product_W / total_W[0]

    def _points(self, span: slice, pairs: Pairs, values: CurveValues) -> tuple[Tensor, Tensor]:
        """Keys and summed points of packed features."""
        return pairs.key_C, self._kept(self.curves(pairs.value_FC, span), span, pairs, values).sum(0)

    def _kept(self, points_FC: Tensor, span: slice, pairs: Pairs, values: CurveValues) -> Tensor:
        if values.kept_FB is None:
            return points_FC
        case_C = torch.div(pairs.key_C, values.features.num_pois, rounding_mode="floor")
        return points_FC * values.kept_FB[span][:, case_C]

    def _without_own(self, features: FeatureValues, popularity_P: Tensor) -> tuple[Tensor, Tensor]:
        """By how much leaving out the user's own training check-ins changes the popularity's points: keys, (O,)."""
        case_O, poi_O, own_O = features.places.own_checkins(features.batch.user_B)
        others_O = torch.log1p(features.places.checkins_P[poi_O] - own_O).to(popularity_P.dtype)
        change_O = self.curves(others_O[None], _POPULARITY)[0] - popularity_P.index_select(0, poi_O)
        return case_O * features.num_pois + poi_O, change_O


def _paired(features: FeatureValues) -> list[tuple[slice, Pairs]]:
    return list(zip(_SPARSE, features.sparse, strict=True))


def _among(key_N: Tensor, value_N: Tensor, num_pois: int, poi_U: Tensor) -> tuple[Tensor, Tensor]:
    """Pairs whose place was drawn, as case x U + its position among the drawn (ascending, each once)."""
    case_N = torch.div(key_N, num_pois, rounding_mode="floor")
    is_drawn_N, at_N = found_in(poi_U, key_N - case_N * num_pois)
    return (case_N * len(poi_U) + at_N)[is_drawn_N], value_N[is_drawn_N]
