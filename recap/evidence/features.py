"""Named additive evidence for the next POI: what the user's own past and other users' transitions say.

Everything about the user comes from the batch's check-ins up to and including the source row t, so an edited history
gives edited evidence; everything about others excludes the user (see `others`), so it is the same in training and in
use. No loop over cases.

Shape suffixes: B cases, P POIs, H past check-ins of all cases, C packed candidates, F packed features.
"""

from dataclasses import dataclass
from math import pi
from typing import Final

import torch
from pydantic import Field
from torch import Tensor

from recap.config import Config
from recap.data.dataset import Dataset
from recap.evidence.others import OtherUsers
from recap.evidence.places import Places
from recap.graph import TransitionGraph
from recap.history import SECONDS_PER_DAY, local_hour_fraction, local_weekday
from recap.scores import CaseBatch

DENSE_FEATURES: Final = ("popularity", "distance")


class EvidenceConfig(Config):
    """Time scales of the evidence."""

    recency_steps: tuple[float, ...] = Field((2.0, 10.0, 50.0), description="Decay lengths of recency, in check-ins.")
    recency_days: tuple[float, ...] = Field((1.0, 14.0), description="Decay lengths of recency, in days.")
    hour_width: float = Field(2.0, gt=0, description="How far from an hour a visit still counts for it, in hours.")

    @property
    def packed_features(self) -> tuple[str, ...]:
        """Names of the candidates' features, in order."""
        return (
            "known",
            "stay",
            "visits",
            "visits_at_hour",
            "visits_on_weekday",
            *(f"recency_{scale:g}_steps" for scale in self.recency_steps),
            *(f"recency_{scale:g}_days" for scale in self.recency_days),
            "own_transitions",
            "own_share",
            "others_transitions",
            "others_share",
            "known_popularity",
            "known_distance",
        )


@dataclass(frozen=True, eq=False)
class Evidence:
    """Features of a batch of cases.

    Attributes:
        case_C, poi_C: candidates, sorted by (case, POI), each pair once: the user's past POIs (the source included)
            and the destinations of training transitions from the source.
        packed_CF: their features, in the order of `EvidenceConfig.packed_features`.
        dense: feature of every POI by name, (B, P) or (P,) where all cases share it.
    """

    case_C: Tensor
    poi_C: Tensor
    packed_CF: Tensor
    dense: dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class EvidenceFeatures:
    """Computes `Evidence` for any batch of cases of one dataset's vocabulary."""

    config: EvidenceConfig
    others: OtherUsers
    places: Places

    @classmethod
    def from_dataset(cls, dataset: Dataset, graph: TransitionGraph, config: EvidenceConfig) -> "EvidenceFeatures":
        """Features of a dataset whose transition graph is ``graph``."""
        return cls(config, OtherUsers.from_dataset(dataset, graph), Places.from_dataset(dataset))

    def to(self, device: torch.device | str) -> "EvidenceFeatures":
        """The same features computed on another device."""
        return EvidenceFeatures(self.config, self.others.to(device), self.places.to(device))

    def of(self, batch: CaseBatch) -> Evidence:
        """Evidence of every case of a batch, float64."""
        checkins, row_B, source_B = batch.checkins, batch.row_B, batch.source_B
        num_pois = self.others.num_pois
        case_H, q_H = past_rows(batch)
        edge_case, edge_poi, edge_count = self.others.transitions_from(source_B)
        key_C, slot = torch.unique(
            torch.cat([case_H * num_pois + checkins.poi_T[q_H], edge_case * num_pois + edge_poi]), return_inverse=True
        )
        slot_H, slot_E = slot[: len(q_H)], slot[len(q_H) :]
        case_C = torch.div(key_C, num_pois, rounding_mode="floor")
        poi_C = key_C - case_C * num_pois
        row_C = row_B[case_C]
        stay_C = poi_C == source_B[case_C]

        def sum_H(value_H: Tensor) -> Tensor:
            return torch.zeros(len(key_C), dtype=torch.float64, device=key_C.device).index_add_(0, slot_H, value_H)

        # The user's own past.
        is_last_H = checkins.next_visit_T[q_H] > row_B[case_H]
        last_C = torch.full_like(row_C, -1)
        last_C[slot_H[is_last_H]] = q_H[is_last_H]
        known_C = last_C >= 0
        last_C = torch.where(known_C, last_C, row_C)
        visits_C = torch.where(known_C, checkins.visit_number_T[last_C], 0).double()
        steps_C = (row_C - last_C).double()
        days_C = (checkins.seconds_T[row_C] - checkins.seconds_T[last_C]).double() / SECONDS_PER_DAY
        local_T = checkins.local_seconds_T
        hours_H = 24.0 * (local_hour_fraction(local_T[q_H]) - local_hour_fraction(local_T[row_B])[case_H]).double()
        near_hour_H = _circular_kernel(hours_H, self.config.hour_width)
        same_weekday_H = (local_weekday(local_T[q_H]) == local_weekday(local_T[row_B])[case_H]).double()
        follows_source_H = _follows(batch, case_H, q_H)
        own_C = sum_H(follows_source_H.double())
        own_total_B = own_C.new_zeros(len(batch)).index_add_(0, case_C, own_C)

        # Other users' transitions.
        user_B = batch.user_B
        others_E = edge_count - self.others.own_count(user_B[edge_case], source_B[edge_case], edge_poi)
        others_C = torch.zeros_like(visits_C)
        others_C[slot_E] = others_E.double()
        others_total_B = (self.others.out_total_P[source_B] - self.others.own_out_total(user_B, source_B)).double()

        dense = self.dense_of(source_B)
        log_popularity_P, log_distance_BP = dense["popularity"], dense["distance"]
        known = known_C.double()
        values = [
            known,
            stay_C.double(),
            torch.log1p(visits_C),
            torch.log1p(sum_H(near_hour_H)),
            torch.log1p(sum_H(same_weekday_H)),
            *(known * torch.exp(-steps_C / scale) for scale in self.config.recency_steps),
            *(known * torch.exp(-days_C / scale) for scale in self.config.recency_days),
            torch.log1p(own_C),
            own_C / own_total_B[case_C].clamp_min(1.0),
            torch.log1p(others_C),
            others_C / others_total_B[case_C].clamp_min(1.0),
            known * log_popularity_P[poi_C],
            known * log_distance_BP[case_C, poi_C],
        ]
        return Evidence(case_C, poi_C, torch.stack(values, dim=1), dense)

    def dense_of(self, source_B: Tensor) -> dict[str, Tensor]:
        """Features of every POI given the source alone, by name in the order of `DENSE_FEATURES`, float64."""
        return {
            "popularity": torch.log1p(self.places.popularity_P),
            "distance": torch.log1p(self.places.distance_km(source_B)),
        }


def past_rows(batch: CaseBatch) -> tuple[Tensor, Tensor]:
    """Every check-in of each case's user up to and including the source: case (H,) and row (H,)."""
    first_B = batch.checkins.first_T[batch.row_B]
    length_B = batch.row_B - first_B + 1
    case_H = torch.repeat_interleave(torch.arange(len(batch), device=batch.row_B.device), length_B)
    offset_B = torch.cumsum(length_B, 0) - length_B
    return case_H, torch.arange(len(case_H), device=batch.row_B.device) - offset_B[case_H] + first_B[case_H]


def _follows(batch: CaseBatch, case_H: Tensor, q_H: Tensor) -> Tensor:
    """Whether each past check-in came right after one at the case's source, in one trajectory."""
    checkins = batch.checkins
    previous_H = (q_H - 1).clamp_min(0)
    return (
        (q_H > checkins.first_T[q_H])
        & (checkins.trajectory_T[previous_H] == checkins.trajectory_T[q_H])
        & (checkins.poi_T[previous_H] == batch.source_B[case_H])
    )


def _circular_kernel(hours: Tensor, width: float) -> Tensor:
    """1 at the same hour of the day, falling off like a Gaussian of this width around the clock."""
    angle = 2.0 * pi / 24.0
    return torch.exp((torch.cos(angle * hours) - 1.0) / (angle * width) ** 2)
