"""Named additive evidence for the next POI: what the user's own past and other users' transitions say.

Everything about the user comes from the batch's check-ins up to and including the source row t, so an edited history
gives edited evidence; everything about others excludes the user (see `others`), so a feature means the same in
training and in use, and a case's own transition is never part of its evidence. No loop over cases.

Shape suffixes: B cases, P POIs, H past check-ins of all cases, E transitions out of all sources, C packed candidates,
F packed features.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from recap.data.dataset import Dataset
from recap.evidence.config import EvidenceConfig
from recap.evidence.habits import habit_counts, hour_counts, regularity
from recap.evidence.others import EdgeEdits, OtherUsers
from recap.evidence.past import PastRows, days_between, is_weekend, same_hour
from recap.evidence.places import PlaceAttributes
from recap.evidence.popularity import OthersCheckins
from recap.evidence.surroundings import Surroundings
from recap.graph import TransitionGraph
from recap.history import local_weekday
from recap.scores import CaseBatch


@dataclass(frozen=True, eq=False)
class Evidence:
    """Features of a batch of cases, float64 unless asked otherwise for the dense ones.

    Attributes:
        case_C, poi_C: candidates, sorted by (case, POI), each pair once: the user's past POIs (the source included)
            and the destinations of other users' training transitions from the source.
        packed_CF: their features, in the order of `EvidenceConfig.packed_features`.
        dense: feature of every POI by name, (B, P) or (P,) where all cases share it.
    """

    case_C: Tensor
    poi_C: Tensor
    packed_CF: Tensor
    dense: dict[str, Tensor]


def dense_at(value: Tensor, case_C: Tensor, poi_C: Tensor) -> Tensor:
    """A feature of every POI, (B, P) or (P,), at candidates."""
    return value[poi_C] if value.dim() == 1 else value[case_C, poi_C]


@dataclass(frozen=True, eq=False)
class EvidenceFeatures:
    """Computes `Evidence` for any batch of cases of one dataset's vocabulary."""

    config: EvidenceConfig
    others: OtherUsers
    places: PlaceAttributes
    surroundings: Surroundings | None = None
    others_checkins: OthersCheckins | None = None

    @classmethod
    def from_dataset(cls, dataset: Dataset, graph: TransitionGraph, config: EvidenceConfig) -> "EvidenceFeatures":
        """Features of a dataset whose transition graph is ``graph``."""
        surroundings = None
        if config.surroundings is not None:
            surroundings = Surroundings.from_dataset(dataset, config.surroundings)
        others_checkins = OthersCheckins.from_dataset(dataset) if config.others_popularity else None
        others, places = OtherUsers.from_dataset(dataset, graph), PlaceAttributes.from_dataset(dataset)
        return cls(config, others, places, surroundings, others_checkins)

    def to(self, device: torch.device | str) -> "EvidenceFeatures":
        """The same features computed on another device."""
        others_checkins = None if self.others_checkins is None else self.others_checkins.to(device)
        return EvidenceFeatures(
            self.config, self.others.to(device), self.places.to(device), self.surroundings, others_checkins
        )

    def dense_of(self, source_B: Tensor, dtype: torch.dtype = torch.float64) -> dict[str, Tensor]:
        """Features of every POI given the source alone, by name in the order of `DENSE_FEATURES`."""
        return {
            "popularity": torch.log1p(self.places.popularity_P.to(dtype)),
            "distance": self.places.distance_km(source_B, dtype).log1p_(),
        }

    def of(
        self, batch: CaseBatch, edits: EdgeEdits | None = None, dense_dtype: torch.dtype = torch.float64
    ) -> Evidence:
        """Evidence of every case of a batch, with training counts edited for single cases."""
        source_B, num_pois = batch.source_B, self.others.num_pois
        past = PastRows.of(batch)
        edge_case_E, edge_poi_E, count_E = self.others.transitions_from(batch.user_B, source_B, edits)
        key_H = past.case_H * num_pois + batch.checkins.poi_T[past.row_H]
        key_C, slot = torch.unique(torch.cat([key_H, edge_case_E * num_pois + edge_poi_E]), return_inverse=True)
        slot_H, slot_E = slot[: len(key_H)], slot[len(key_H) :]
        case_C = torch.div(key_C, num_pois, rounding_mode="floor")
        poi_C = key_C - case_C * num_pois

        values = self._own_evidence(batch, past, slot_H, case_C)
        others_C = torch.zeros(len(key_C), dtype=torch.float64, device=key_C.device)
        others_C[slot_E] = count_E.double()
        dense = self.dense_of(source_B, dense_dtype)
        if self.others_checkins is not None:
            dense["popularity"] = self.others_checkins.of(batch.user_B, dense_dtype).log1p_()
        values |= {
            "stay": (poi_C == source_B[case_C]).double(),
            "others_transitions": torch.log1p(others_C),
            "known_popularity": values["known"] * dense_at(dense["popularity"], case_C, poi_C).double(),
            "known_distance": values["known"] * dense["distance"][case_C, poi_C].double(),
        }
        if self.surroundings is not None:
            known_C = values["known"] > 0
            for name, value_BP in self.surroundings.of(batch, dense["distance"]).items():
                values[f"known_{name}"] = values["known"] * value_BP[case_C, poi_C].double()
                value_BP[case_C[known_C], poi_C[known_C]] = 0.0
                dense[name] = value_BP
        packed_CF = torch.stack([values[name] for name in self.config.packed_features], dim=1)
        return Evidence(case_C, poi_C, packed_CF, dense)

    def _own_evidence(self, batch: CaseBatch, past: PastRows, slot_H: Tensor, case_C: Tensor) -> dict[str, Tensor]:
        """Features of the candidates in the user's own past; ``slot_H`` is each past check-in's candidate."""
        checkins, config, row_B = batch.checkins, self.config, batch.row_B
        case_H, q_H = past.case_H, past.row_H

        def total(value_H: Tensor) -> Tensor:
            return torch.zeros(len(case_C), dtype=torch.float64, device=row_B.device).index_add_(0, slot_H, value_H)

        last_C = torch.full_like(case_C, -1).scatter_reduce_(0, slot_H, q_H, "amax")  # rows are in time order
        known_C = last_C >= 0
        known = known_C.double()
        last_C = torch.where(known_C, last_C, row_B[case_C])
        visits_C = known * checkins.visit_number_T[last_C]
        days_C = days_between(checkins, last_C, row_B[case_C])

        days_H = days_between(checkins, q_H, row_B[case_H])
        habit_H = torch.exp(-days_H / config.memory_days)
        follows_H = past.is_after_source_H.double() * habit_H
        counts = {
            "recent_visits": torch.exp((q_H - row_B[case_H]).double() / config.memory_steps),
            "visits_at_hour": habit_H * same_hour(checkins, q_H, row_B[case_H], config.hour_width),
            "visits_on_day": habit_H * (is_weekend(checkins, q_H) == is_weekend(checkins, row_B)[case_H]),
            "next_at_hour": habit_H
            * past.has_previous_H
            * same_hour(checkins, past.previous_H, row_B[case_H], config.next_hour_width),
            "own_transitions": follows_H,
            "own_pairs": follows_H * past.is_after_same_pair_H,
        }
        if config.sessions:
            counts |= self._session_counts(batch, past, habit_H)
        found: dict[str, Tensor] = {}
        recency_days = config.recency_days
        if config.habits is not None:
            counts |= habit_counts(days_H, config.habits)
            if config.habits.hours:
                counts |= hour_counts(checkins, past, row_B[case_H], habit_H)
            found = regularity(days_H, slot_H, len(case_C))
            recency_days = (*recency_days, *config.habits.recency_days)
        return found | {
            "known": known,
            "once": (visits_C == 1).double(),
            **{name: torch.log1p(config.gain * total(value_H)) for name, value_H in counts.items()},
            **{f"recency_{days:g}_days": known * torch.exp(-days_C / days) for days in recency_days},
        }

    def _session_counts(self, batch: CaseBatch, past: PastRows, habit_H: Tensor) -> dict[str, Tensor]:
        """What each past check-in adds to the `SESSION_FEATURES` of its POI."""
        checkins, config, row_B = batch.checkins, self.config, batch.row_B
        row_H, q_H, before_H = row_B[past.case_H], past.row_H, past.previous_H
        pause_H = (checkins.seconds_T[q_H] - checkins.seconds_T[before_H]).double() > 60.0 * config.burst_minutes
        pauses_H = torch.cumsum(pause_H, 0)
        # Rows of a case lie together and end with its source: how many pauses come after a row, up to the source.
        last_B = torch.cumsum(torch.bincount(past.case_H, minlength=len(row_B)), 0) - 1
        is_past_H = q_H < row_H
        same_day_H = is_weekend(checkins, before_H) == is_weekend(checkins, row_B)[past.case_H]
        weekday_H = local_weekday(checkins.local_seconds_T[q_H]) == local_weekday(checkins.local_seconds_T[row_H])
        width = config.next_hour_width
        follows_H = past.is_after_source_H * habit_H
        next_at_hour_H = habit_H * past.has_previous_H * same_hour(checkins, before_H, row_H, width)
        return {
            "in_burst": (is_past_H & (pauses_H[last_B][past.case_H] == pauses_H)).double(),
            "in_trajectory": (is_past_H & (checkins.trajectory_T[q_H] == checkins.trajectory_T[row_H])).double(),
            "just_before": (q_H == row_H - 1).double(),
            "own_transitions_at_hour": follows_H * same_hour(checkins, before_H, row_H, width),
            "week_slot": habit_H * weekday_H * same_hour(checkins, q_H, row_H, config.hour_width),
            "next_at_hour_on_day": next_at_hour_H * same_day_H,
            "slow_transitions": follows_H * pause_H,
        }
