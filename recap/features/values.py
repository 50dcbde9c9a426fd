"""The features of a batch of cases: packed if few places have them, else computed on request.

Features of the user come from the batch's check-ins up to and including the source t. Features of others leave the user
out.

Shape suffixes: B cases, P POIs, C places of the users' pasts, I pairs of a case and a place, F features, K categories.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from recap.arithmetic.ragged import found_in, sum_within
from recap.data.dataset import Dataset
from recap.features.catalogue import FeatureSet, feature_set
from recap.features.others import NextCategories, OtherUsers, two_hop_paths
from recap.features.places import Places
from recap.features.similar_users import SimilarUsers
from recap.features.visits import PastRows, long_gaps_lately, new_lately, pause_hours, visit_features
from recap.history.graph import TransitionGraph
from recap.history.tensors import Histories, local_hour_fraction


@dataclass(frozen=True, eq=False)
class Pairs:
    """Features of a few places of each case. ``key_C``: case x P + POI, ascending, each pair once; ``value_FC``: one
    row a feature.
    """

    key_C: Tensor
    value_FC: Tensor

    def at(self, key_I: Tensor) -> Tensor:
        """Values at pairs, (F, I); 0 where there are none."""
        is_in_I, at_I = found_in(self.key_C, key_I)
        if not len(self.key_C):
            return self.value_FC.new_zeros(len(self.value_FC), len(key_I))
        return self.value_FC[:, at_I] * is_in_I


@dataclass(frozen=True, eq=False)
class FeatureValues:
    """Features of a batch.

    Attributes:
        of: which, in their order.
        sparse: ``of.visited`` of every place in a user's past, the source included; then each of ``of.sparse`` at the
            places that have it, similar users at new places only.
        by_category_JBK: ``of.by_category``.
    """

    of: FeatureSet
    histories: Histories
    places: Places
    sparse: tuple[Pairs, ...]
    by_category_JBK: Tensor

    @property
    def num_pois(self) -> int:
        return len(self.places.checkins_P)

    @property
    def visits(self) -> Pairs:
        return self.sparse[0]

    @property
    def similar_users(self) -> Pairs:
        return self.sparse[self.of.row_spans.index(self.of.rows("similar_users"))]

    def is_known(self, key_I: Tensor) -> Tensor:
        """Whether the user was or is there."""
        return found_in(self.visits.key_C, key_I)[0]

    def everywhere(self, key_I: Tensor) -> Tensor:
        """``of.new`` at pairs as if the place were new, (F, I)."""
        case_I, poi_I = torch.div(key_I, self.num_pois, rounding_mode="floor"), key_I % self.num_pois
        dtype = self.by_category_JBK.dtype
        return torch.stack(
            [
                torch.log1p(self.places.others_checkins(self.histories.user_B[case_I], poi_I)).to(dtype),
                torch.log1p(self.places.distance_between(self.histories.source_B[case_I], poi_I, dtype)),
                *self.by_category_JBK[:, case_I, self.places.category_P[poi_I]],
            ]
        )

    def without_values(self) -> "FeatureValues":
        """The places that have features, without values."""
        sparse = tuple(Pairs(pairs.key_C, pairs.value_FC[:, :0]) for pairs in self.sparse)
        return replace(self, sparse=sparse, by_category_JBK=self.by_category_JBK[:, :, :0])

    def at(self, key_I: Tensor) -> tuple[Tensor, Tensor]:
        """Every feature at pairs, (F, I), and which apply to a known or a new place, bool (F, I)."""
        known_I = self.is_known(key_I)
        value_FI = torch.cat([*(pairs.at(key_I) for pairs in self.sparse), self.everywhere(key_I)])
        applies_FI = torch.ones_like(value_FI, dtype=torch.bool)
        applies_FI[: len(self.of.visited)] = known_I
        applies_FI[self.of.rows("similar_users").start :] = ~known_I
        return value_FI, applies_FI


@dataclass(frozen=True, eq=False)
class Features:
    """Computes `FeatureValues` for any batch of cases of one dataset."""

    others: OtherUsers
    categories: NextCategories
    places: Places
    similar: SimilarUsers

    @classmethod
    def from_dataset(cls, dataset: Dataset, graph: TransitionGraph) -> "Features":
        return cls(
            OtherUsers.from_dataset(dataset, graph),
            NextCategories.from_dataset(dataset),
            Places.from_dataset(dataset),
            SimilarUsers.from_dataset(dataset),
        )

    def to(self, device: torch.device | str) -> "Features":
        return Features(self.others.to(device), self.categories.to(device), self.places.to(device), self.similar)

    @property
    def device(self) -> torch.device:
        return self.places.category_P.device

    def over(self, graph: TransitionGraph) -> "Features":
        """With everyone's transitions as changed."""
        return replace(self, others=self.others.over(graph))

    def of(
        self, histories: Histories, cut_K3: Tensor | None = None, dtype: torch.dtype = torch.float64
    ) -> FeatureValues:
        """Features of every case. ``cut_K3``: (case, middle, destination) of two-hop paths taken out."""
        num_pois = self.others.num_pois
        past = PastRows.of(histories)
        poi_H = histories.checkins.poi_T[past.row_H]
        key_C, slot_H = torch.unique(past.case_H * num_pois + poi_H, return_inverse=True)
        case_C = torch.div(key_C, num_pois, rounding_mode="floor")
        poi_C = key_C - case_C * num_pois
        of_categories = self._of_categories(histories, past, poi_H)
        category_C = self.places.category_P[poi_C]
        values = visit_features(histories, past, slot_H, case_C) | {
            "popularity_known": torch.log1p(self.places.others_checkins(histories.user_B[case_C], poi_C)),
            "distance_known": torch.log1p(self.places.distance_between(histories.source_B[case_C], poi_C)),
            "category_known": of_categories["category_new"][case_C, category_C],
            "new_lately": new_lately(histories.checkins, histories.row_B)[case_C],
        }
        if histories.next_local_seconds_B is not None:
            values["pause"] = torch.log1p(pause_hours(histories))[case_C]
            values["category_at_time_known"] = F.softplus(of_categories["category_at_time"][case_C, category_C])
        else:
            values["long_gaps_lately"] = long_gaps_lately(histories.checkins, histories.row_B)[case_C]
        names = feature_set(given_time=histories.next_local_seconds_B is not None)
        values |= {f.name: values[f.factors[0]] * values[f.factors[1]] for f in names.visited if f.factors}
        visits = Pairs(key_C, torch.stack([values[feature.name] for feature in names.visited]).to(dtype))

        edge_case_E, edge_poi_E, count_E = self.others.transitions_from(histories.user_B, histories.source_B)
        key_T, count_T = _summed(edge_case_E * num_pois + edge_poi_E, count_E.double())
        paths = two_hop_paths(self.others, histories.user_B, histories.source_B, cut_K3)
        key_W, product_W = _summed(paths.case_W * num_pois + paths.destination_W, paths.product_W)
        similar_case, similar_poi, similarity = self.similar.visits(past.case_H, poi_H, histories.user_B)
        key_S = similar_case * num_pois + similar_poi
        is_new_S = ~found_in(key_C, key_S)[0]
        sparse = (
            visits,
            Pairs(key_T, torch.log1p(count_T)[None].to(dtype)),
            Pairs(key_W, product_W[None].to(dtype)),
            Pairs(key_S[is_new_S], torch.log1p(similarity[is_new_S])[None].to(dtype)),
        )
        by_category_JBK = torch.stack([of_categories[name] for name in names.by_category]).to(dtype)
        return FeatureValues(names, histories, self.places, sparse, by_category_JBK)

    def _of_categories(self, histories: Histories, past: PastRows, poi_H: Tensor) -> dict[str, Tensor]:
        """Features that depend on case and category only, (B, K) each."""
        given_time = histories.next_local_seconds_B is not None
        category_B = self.places.category_P[histories.source_B]
        hour_B = 24.0 * local_hour_fraction(histories.now_local_seconds_B)
        missing = self.places.num_categories - self.categories.num_categories  # categories without training
        likelier = self.categories.likelier(histories.user_B, category_B, hour_B, arriving=given_time)
        from_here_BK, at_hour_BK = (F.pad(ratio_BK, (0, missing)) for ratio_BK in likelier)
        share_B = new_lately(histories.checkins, histories.row_B)
        return {
            "category_new": torch.log1p(self.places.category_visits(past.case_H, poi_H, len(histories))),
            "category_from_here": from_here_BK,
            "category_at_time" if given_time else "category_at_hour": at_hour_BK,
            "new_lately": share_B[:, None].expand_as(at_hour_BK),
        }


def _summed(key_N: Tensor, value_N: Tensor) -> tuple[Tensor, Tensor]:
    key_C, slot_N = torch.unique(key_N, return_inverse=True)
    return key_C, sum_within(value_N, slot_N, len(key_C))
