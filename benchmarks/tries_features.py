"""What every idea knows of a case and its candidates: the features and the numbers of the step; see `tries_cases.py`.

Own features read the user's check-ins up to and including the source. What others did comes from training check-ins of
other users alone. Shape suffixes: N cases, B cases of a block, P POIs, C candidates, H past check-ins, U users.
"""

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from recap import columns as c
from recap.baselines.evidence import EvidenceRanker
from recap.baselines.evidence_config import EvidenceRankerConfig
from recap.data.dataset import Dataset
from recap.evidence.config import EvidenceConfig, HabitsConfig, SurroundingsConfig
from recap.evidence.features import EvidenceFeatures
from recap.evidence.past import PastRows
from recap.graph import TransitionGraph
from recap.history import CheckinTensors, local_hour_fraction, local_weekday
from recap.scores import CaseBatch

LIBRARY = EvidenceConfig(
    sessions=True, habits=HabitsConfig(), surroundings=SurroundingsConfig(own_category=True, known_too=True)
)
"""What the library has of the ideas; the rest stands here."""


@dataclass(eq=False)
class World:
    """A dataset with what the features share."""

    dataset: Dataset
    graph: TransitionGraph
    checkins: CheckinTensors
    ranker: EvidenceRanker
    features: EvidenceFeatures
    distance_PP: Tensor
    category_P: Tensor
    visited_UP: Tensor
    by_hour_PH: Tensor
    own_key_K: Tensor
    own_count_K: Tensor
    visitors_P: Tensor
    own_by_hour_KH: Tensor
    next_category_KK: Tensor
    category_at_HK: Tensor

    @classmethod
    def of(cls, dataset: Dataset, seed: int = 0) -> "World":
        graph = TransitionGraph.from_dataset(dataset)
        config = EvidenceRankerConfig(features=EvidenceConfig(sessions=True))
        ranker = EvidenceRanker.fit(dataset, graph, config, seed=seed)
        checkins = CheckinTensors.from_dataset(dataset)
        num_pois = dataset.num_pois
        train = dataset.checkins[c.SPLIT].to_numpy() == c.TRAIN
        user, poi = checkins.user_T.numpy()[train], checkins.poi_T.numpy()[train]
        visits = sparse.csr_array((np.ones(len(user)), (user, poi)), shape=(dataset.num_users, num_pois))
        visited_UP = torch.from_numpy((visits.toarray() > 0).astype(np.float32))
        hour = (local_hour_fraction(checkins.local_seconds_T).numpy()[train] * 24).astype(int)
        by_hour = np.zeros((num_pois, 24), np.float32)
        np.add.at(by_hour, (poi, hour), 1.0)
        near = np.exp(
            -(
                np.minimum(
                    np.abs(np.arange(24)[:, None] - np.arange(24)), 24 - np.abs(np.arange(24)[:, None] - np.arange(24))
                )
                ** 2
            )
            / 4.5
        )
        own_key, own_of, own_count = np.unique(user * num_pois + poi, return_inverse=True, return_counts=True)
        own_by_hour = np.zeros((len(own_key), 24), np.float32)
        np.add.at(own_by_hour, (own_of, hour), 1.0)
        category_P = torch.from_numpy(dataset.pois[c.CATEGORY_INDEX].to_numpy(np.int64))
        num_categories = int(category_P.max()) + 1
        rows = dataset.cases(c.TRAIN)
        moves = np.zeros((num_categories, num_categories), np.float32)
        every_poi = checkins.poi_T.numpy()
        np.add.at(moves, (category_P[every_poi[rows]], category_P[every_poi[rows + 1]]), 1.0)
        at = np.zeros((48, num_categories), np.float32)
        weekend = (local_weekday(checkins.local_seconds_T).numpy()[train] >= 5).astype(int)
        np.add.at(at, (weekend * 24 + hour, category_P.numpy()[poi]), 1.0)
        share_K = (at.sum(0) + 1) / (at.sum() + num_categories)
        moves = np.log((moves + 20 * share_K) / (moves.sum(1, keepdims=True) + 20) / share_K)
        at = np.log((at + 50 * share_K) / (at.sum(1, keepdims=True) + 50) / share_K)
        distance = ranker.features.places.distance_km(torch.arange(num_pois), torch.float32)
        return cls(
            dataset,
            graph,
            checkins,
            ranker,
            EvidenceFeatures.from_dataset(dataset, graph, LIBRARY),
            distance,
            category_P,
            visited_UP,
            torch.from_numpy(by_hour @ near.astype(np.float32)),
            torch.from_numpy(own_key),
            torch.from_numpy(own_count),
            visited_UP.sum(0),
            torch.from_numpy(own_by_hour @ near.astype(np.float32)),
            torch.from_numpy(moves),
            torch.from_numpy(at),
        )


def own_features(
    world: World, batch: CaseBatch, past: PastRows, key_C: Tensor, case_C: Tensor, poi_C: Tensor
) -> dict[str, Tensor]:
    checkins, row_B = batch.checkins, batch.row_B
    q_H, case_H, row_H = past.row_H, past.case_H, row_B[past.case_H]
    poi_T, num_pois = checkins.poi_T, world.dataset.num_pois
    slot_H = torch.searchsorted(key_C, case_H * num_pois + poi_T[q_H])
    seconds_T = checkins.seconds_T
    days_H = (seconds_T[row_H] - seconds_T[q_H]).float() / 86400

    def total(value_H: Tensor) -> Tensor:
        return torch.log1p(5.0 * torch.zeros(len(key_C)).index_add_(0, slot_H, value_H.float()))

    found = {}
    habit_H = torch.exp(-days_H / 60.0)
    before_H = past.previous_H
    goes_on_H = (before_H < q_H) & (checkins.trajectory_T[before_H] == checkins.trajectory_T[q_H])
    hour_T = local_hour_fraction(checkins.local_seconds_T).float() * 24

    def hours_apart(one: Tensor, other: Tensor) -> Tensor:
        apart = (hour_T[one] - hour_T[other]).abs()
        return torch.minimum(apart, 24 - apart)

    for width in (0.5, 3.0):
        found[f"visits_at_hour_{width:g}"] = total(
            habit_H * torch.exp(-(hours_apart(q_H, row_H) ** 2) / (2 * width**2))
        )
    later_H = (hour_T[q_H] - hour_T[row_H]) % 24
    for name, (low, high) in {"0_2": (0, 2), "2_5": (2, 5), "5_9": (5, 9)}.items():
        found[f"visits_hours_later_{name}"] = total(habit_H * (later_H > low) * (later_H <= high))
    source_H = batch.source_B[case_H]
    category_T = world.category_P[poi_T]
    same_category_H = category_T[before_H] == world.category_P[source_H]
    found["own_after_category"] = total(habit_H * goes_on_H * same_category_H)
    near_H = torch.exp(-world.distance_PP[poi_T[before_H], source_H] / 0.5)
    found["own_after_near"] = total(habit_H * goes_on_H * near_H)
    found["own_after_near_at_hour"] = total(
        habit_H * goes_on_H * near_H * torch.exp(-(hours_apart(before_H, row_H) ** 2) / 8)
    )
    after_H = torch.minimum(q_H + 1, row_H)
    returns_H = (
        (after_H > q_H) & (poi_T[after_H] == source_H) & (checkins.trajectory_T[after_H] == checkins.trajectory_T[q_H])
    )
    found["own_reverse"] = total(habit_H * returns_H)
    earlier_H = torch.maximum(before_H - 1, checkins.first_T[q_H])
    two_back_H = (
        (earlier_H < before_H)
        & (checkins.trajectory_T[earlier_H] == checkins.trajectory_T[q_H])
        & (poi_T[earlier_H] == source_H)
    )
    found["own_two_step"] = total(habit_H * two_back_H)
    # Visits in a past trajectory that holds the source too.
    trajectory_H = checkins.trajectory_T[q_H]
    key_H = case_H * (int(checkins.trajectory_T.max()) + 1) + trajectory_H
    with_source = torch.unique(key_H[(poi_T[q_H] == source_H) & (q_H < row_H)])
    place_H = torch.searchsorted(with_source, key_H).clamp_max(max(len(with_source) - 1, 0))
    together_H = (with_source[place_H] == key_H) if len(with_source) else torch.zeros_like(key_H, dtype=torch.bool)
    found["own_same_trajectory"] = total(habit_H * together_H * (trajectory_H != checkins.trajectory_T[row_H]))
    previous_B = torch.maximum(row_B - 1, checkins.first_T[row_B])
    found["own_after_previous"] = total(habit_H * goes_on_H * (poi_T[before_H] == poi_T[previous_B][case_H]))
    weekday_T = local_weekday(checkins.local_seconds_T)
    found["visits_weekday"] = total(habit_H * (weekday_T[q_H] == weekday_T[row_H]))
    first_of_day = (checkins.local_seconds_T[q_H] // 86400) != (checkins.local_seconds_T[before_H] // 86400)
    found["visits_first_of_day"] = total(habit_H * first_of_day)
    return found


def place_features(world: World, batch: CaseBatch, past: PastRows, case_C: Tensor, poi_C: Tensor) -> dict[str, Tensor]:
    checkins, row_B, size = batch.checkins, batch.row_B, len(batch)
    num_pois = world.dataset.num_pois
    found = {}
    weight_BP = (
        torch.zeros(size * num_pois)
        .index_add_(0, past.case_H * num_pois + checkins.poi_T[past.row_H], torch.ones(len(past.row_H)))
        .view(size, -1)
    )
    for km in (0.3, 2.0):
        kernel_BP = sparse_times(torch.log1p(weight_BP), _kernel(world, km))
        found[f"near_own_{km:g}km"] = torch.log1p(kernel_BP[case_C, poi_C])
    category_C = world.category_P[poi_C]
    source_category_B = world.category_P[batch.source_B]
    found["category_after_category"] = world.next_category_KK[source_category_B[case_C], category_C]
    local_B = checkins.local_seconds_T[row_B]
    hour_B = (local_hour_fraction(local_B) * 24).long().clamp(0, 23)
    slot_B = (local_weekday(local_B) >= 5).long() * 24 + hour_B
    found["category_at_hour"] = world.category_at_HK[slot_B[case_C], category_C]
    # Everyone's check-ins here near this hour, without the user's own of training.
    key_C = batch.user_B[case_C] * num_pois + poi_C
    at_C = torch.searchsorted(world.own_key_K, key_C).clamp_max(len(world.own_key_K) - 1)
    own_C = torch.where(world.own_key_K[at_C] == key_C, world.own_by_hour_KH[at_C, hour_B[case_C]], 0.0)
    count_C = torch.where(world.own_key_K[at_C] == key_C, world.own_count_K[at_C], 0)
    popularity_C = world.ranker.features.places.popularity_P[poi_C]
    found["others_popularity"] = torch.log1p(popularity_C - count_C)
    found["others_visitors"] = torch.log1p(world.visitors_P[poi_C] - (count_C > 0).float())
    found["place_at_hour"] = torch.log1p((world.by_hour_PH[poi_C, hour_B[case_C]] - own_C).clamp_min(0.0))
    return found


def sparse_times(left_BP: Tensor, right_PK: Tensor) -> Tensor:
    """A product whose left side is mostly zero."""
    return torch.from_numpy(sparse.csr_array(left_BP.numpy()) @ right_PK.numpy())


_KERNELS: dict[float, Tensor] = {}


def _kernel(world: World, km: float) -> Tensor:
    if km not in _KERNELS:
        _KERNELS[km] = torch.exp(-world.distance_PP / km)
    return _KERNELS[km]


def step_context(world: World, batch: CaseBatch, past: PastRows, profile_BP: Tensor) -> dict[str, Tensor]:
    checkins, row_B = batch.checkins, batch.row_B
    previous_B = torch.maximum(row_B - 1, checkins.first_T[row_B])
    gap_B = (checkins.seconds_T[row_B] - checkins.seconds_T[previous_B]).float() / 60
    local_B = checkins.local_seconds_T[row_B]
    angle_B = 2 * torch.pi * local_hour_fraction(local_B).float()
    size = len(batch)
    length_B = (row_B - checkins.first_T[row_B] + 1).float()
    is_new_T = (checkins.visit_number_T == 1).float()

    def new_share(last: int) -> Tensor:
        recent_H = (past.row_H > row_B[past.case_H] - last).float()
        new_B = torch.zeros(size).index_add_(0, past.case_H, recent_H * is_new_T[past.row_H])
        return (new_B + 1) / (torch.zeros(size).index_add_(0, past.case_H, recent_H) + 4)

    same_trajectory_H = (checkins.trajectory_T[past.row_H] == checkins.trajectory_T[row_B][past.case_H]).float()
    in_trajectory_B = torch.zeros(size).index_add_(0, past.case_H, same_trajectory_H)
    others = world.ranker.features.others
    case_N, _, count_N = others.transitions_from(batch.user_B, batch.source_B)
    return {
        "hour_sin": angle_B.sin(),
        "hour_cos": angle_B.cos(),
        "hour_sin2": (2 * angle_B).sin(),
        "hour_cos2": (2 * angle_B).cos(),
        "weekend": (local_weekday(local_B) >= 5).float(),
        "log_gap": torch.log1p(gap_B.clamp_max(10000)),
        "burst": (gap_B < 10).float(),
        "in_trajectory_steps": torch.log1p(in_trajectory_B),
        "log_history": torch.log1p(length_B),
        "log_places": torch.log1p(profile_BP.sum(1)),
        "new_of_10": new_share(10),
        "new_of_50": new_share(50),
        "source_visits": torch.log1p(checkins.visit_number_T[row_B].float()),
        "source_popularity": torch.log1p(world.ranker.features.places.popularity_P[batch.source_B].float()),
        "others_from_source": torch.log1p(torch.zeros(size).index_add_(0, case_N, count_N.float())),
        "source_is_new": is_new_T[row_B],
    }
