"""The user's past at each case, and features of the places in it: visits, times of day and week, own transitions.

Only check-ins up to and including the source count. "Now" is the source's time or, where one is given, the time asked
for (`Histories.now_seconds_B`).

Shape suffixes: B cases, H past check-ins of all cases, C places of the past of all cases.
"""

from dataclasses import dataclass
from math import pi
from typing import Final

import torch
from torch import Tensor

from recap.arithmetic.ragged import sum_within
from recap.features.catalogue import BURST_MINUTES, HABIT_DAYS, LATELY, LONG_GAP_HOURS, LONG_HABIT_DAYS
from recap.history.tensors import (
    SECONDS_PER_DAY,
    CheckinTensors,
    Histories,
    local_hour_fraction,
    local_weekday,
)

_SHORTEST_DAYS: Final = 0.02
"""About half an hour, the resolution of waits."""
_LARGEST_RATIO: Final = 5.0
_NEAR_HOURS: Final = 0.5
_AROUND_HOURS: Final = 2.0
"""Widths of Gaussians around the clock."""
_SIMILAR_PAUSE: Final = 0.35
"""Width of a Gaussian over log(1 + hours)."""


@dataclass(frozen=True, eq=False)
class PastRows:
    """Every check-in of each case's user up to and including the source, packed.

    Attributes:
        case_H: position in the batch.
        previous_H: the row before, or the row itself where it is the user's first.
        is_after_source_H: the row before is at the source and in the same trajectory.
        is_after_same_pair_H: the two rows before share a trajectory, so do the source and the row before it, and the
            first rows of both pairs have the same POI.
    """

    case_H: Tensor
    row_H: Tensor
    previous_H: Tensor
    has_previous_H: Tensor
    is_after_source_H: Tensor
    is_after_same_pair_H: Tensor

    @classmethod
    def of(cls, histories: Histories) -> "PastRows":
        checkins, row_B = histories.checkins, histories.row_B
        case_H, row_H = histories.past_rows()
        previous_H, goes_on_H = step_back(checkins, row_H)
        earlier_H, went_on_H = step_back(checkins, previous_H)
        before_B, walked_B = step_back(checkins, row_B)
        return cls(
            case_H=case_H,
            row_H=row_H,
            previous_H=previous_H,
            has_previous_H=previous_H < row_H,
            is_after_source_H=goes_on_H & (checkins.poi_T[previous_H] == histories.source_B[case_H]),
            is_after_same_pair_H=(went_on_H & walked_B[case_H])
            & (checkins.poi_T[earlier_H] == checkins.poi_T[before_B][case_H]),
        )


def step_back(checkins: CheckinTensors, row: Tensor) -> tuple[Tensor, Tensor]:
    """The user's row before (the row itself if it is the first), and whether it belongs to the same trajectory."""
    previous = torch.maximum(row - 1, checkins.first_T[row])
    return previous, (previous < row) & (checkins.trajectory_T[previous] == checkins.trajectory_T[row])


def new_lately(checkins: CheckinTensors, row_B: Tensor) -> Tensor:
    """Share of first visits among each user's last 20 check-ins, float64; (new + 1) / (all + 2) with few of them."""
    back_BL = _latest_rows(row_B)
    is_own_BL = back_BL >= checkins.first_T[row_B][:, None]
    return _share(is_own_BL, checkins.visit_number_T[back_BL.clamp_min(0)] == 1)


def long_gaps_lately(checkins: CheckinTensors, row_B: Tensor) -> Tensor:
    """Share of each user's last 20 check-ins that came after a long gap, smoothed likewise, float64; the very first has
    nothing before it.
    """
    back_BL = _latest_rows(row_B)
    has_previous_BL = back_BL > checkins.first_T[row_B][:, None]
    seconds_BL = checkins.seconds_T[back_BL.clamp_min(0)] - checkins.seconds_T[(back_BL - 1).clamp_min(0)]
    return _share(has_previous_BL, seconds_BL > 3600.0 * LONG_GAP_HOURS)


def _latest_rows(row_B: Tensor) -> Tensor:
    """The last 20 rows up to each, (B, 20); those before the user's first are not the user's."""
    return row_B[:, None] - torch.arange(LATELY, device=row_B.device)


def _share(counts_BL: Tensor, is_true_BL: Tensor) -> Tensor:
    """Share of true ones among those that count, (true + 1) / (all + 2), float64."""
    return ((counts_BL & is_true_BL).sum(1) + 1.0).double() / (counts_BL.sum(1) + 2.0)


def pause_hours(histories: Histories) -> Tensor:
    """Hours from the last check-in to now, float64 (B,)."""
    return (histories.now_seconds_B - histories.checkins.seconds_T[histories.row_B]).double() / 3600.0


def same_hour(hour_N: Tensor, other_N: Tensor, width_hours: float) -> Tensor:
    """1 at the same local time, falling like a Gaussian of this width around the clock; 0 beyond 3 widths."""
    angle = 2.0 * pi * (hour_N - other_N) / 24.0
    close = torch.exp((torch.cos(angle) - 1.0) / (2.0 * pi * width_hours / 24.0) ** 2)
    return torch.where(close > 0.01, close, 0.0)


def visit_features(histories: Histories, past: PastRows, slot_H: Tensor, case_C: Tensor) -> dict[str, Tensor]:
    """Features by name, (C,) float64 each. ``slot_H``: each past check-in's place among C."""
    checkins, q_H, case_H = histories.checkins, past.row_H, past.case_H
    last_C = torch.full_like(case_C, -1).scatter_reduce_(0, slot_H, q_H, "amax")  # rows are in time order
    now_B, seconds_T = histories.now_seconds_B, checkins.seconds_T
    hours_C = 24.0 * ((now_B[case_C] - seconds_T[last_C]).double() / SECONDS_PER_DAY)
    days_H = (now_B[case_H] - seconds_T[q_H]).double() / SECONDS_PER_DAY
    weights = _weights(histories, past, days_H)
    features = {name: torch.log1p(sum_within(weight_H, slot_H, len(case_C))) for name, weight_H in weights.items()}
    return features | {"time_since_visit": 1.0 + torch.log1p(hours_C), **_regularity(days_H, slot_H, len(case_C))}


def _weights(histories: Histories, past: PastRows, days_H: Tensor) -> dict[str, Tensor]:
    """Weight of each past check-in in its place's counts."""
    checkins, q_H, before_H, case_H = histories.checkins, past.row_H, past.previous_H, past.case_H
    habit_H = torch.exp(-days_H / HABIT_DAYS)
    follows_H = past.is_after_source_H * habit_H
    weekday_B = local_weekday(histories.now_local_seconds_B)
    on_weekday_H = checkins.weekday_T[q_H] == weekday_B[case_H]
    on_such_days_H = (checkins.weekday_T[q_H] >= 5) == (weekday_B >= 5)[case_H]
    pause_H = checkins.seconds_T[q_H] - checkins.seconds_T[before_H]
    weights = {
        "visits": torch.ones_like(days_H),
        "visits_50_checkins": torch.exp((q_H - histories.row_B[case_H]).double() / 50.0),
        "visits_first_of_day": habit_H * (~past.has_previous_H | (checkins.day_T[q_H] != checkins.day_T[before_H])),
        "visits_on_such_days": habit_H * on_such_days_H,
        "visits_on_weekday": habit_H * on_weekday_H,
        "own_transitions": follows_H,
        "own_transition_pairs": follows_H * past.is_after_same_pair_H,
        "own_slow_transitions": follows_H * (pause_H > 60.0 * BURST_MINUTES),
    }
    hour_H = 24.0 * local_hour_fraction(histories.now_local_seconds_B)[case_H]
    if histories.next_local_seconds_B is None:
        later_H = torch.remainder(checkins.hour_T[q_H] - hour_H, 24.0)
        came_at_hour_H = same_hour(checkins.hour_T[before_H], hour_H, _AROUND_HOURS)
        came_on_such_days_H = (checkins.weekday_T[before_H] >= 5) == (weekday_B >= 5)[case_H]
        return weights | {
            "visits_0_to_2_hours_later": habit_H * ((later_H > 0) & (later_H <= 2)),
            "next_at_hour_on_such_days": habit_H * past.has_previous_H * came_at_hour_H * came_on_such_days_H,
            "own_transitions_at_hour": follows_H * came_at_hour_H,
        }
    near_H, around_H = (same_hour(checkins.hour_T[q_H], hour_H, width) for width in (_NEAR_HOURS, _AROUND_HOURS))
    apart_H = torch.log1p(pause_H.double() / 3600.0) - torch.log1p(pause_hours(histories))[case_H]
    similar_H = torch.exp(-0.5 * (apart_H / _SIMILAR_PAUSE).square()) * past.has_previous_H
    return weights | {
        "visits_near_time": habit_H * near_H,
        "visits_around_time": habit_H * around_H,
        "visits_near_time_on_such_days": habit_H * near_H * on_such_days_H,
        "visits_near_time_on_weekday": habit_H * near_H * on_weekday_H,
        "visits_near_time_200_days": torch.exp(-days_H / LONG_HABIT_DAYS) * near_H * on_such_days_H,
        "visits_around_time_on_weekday": habit_H * around_H * on_weekday_H,
        "visits_after_similar_pause": habit_H * similar_H,
        "own_transitions_at_time": follows_H * around_H,
        "own_transitions_after_similar_pause": follows_H * similar_H,
    }


def _regularity(days_H: Tensor, slot_H: Tensor, num_places: int) -> dict[str, Tensor]:
    """Log ratio of the time since the last visit to the mean time between visits; 0 with fewer than two visits."""
    zero_C = torch.zeros(num_places, dtype=torch.float64, device=days_H.device)
    count_C = torch.bincount(slot_H, minlength=num_places)
    first_C = zero_C.scatter_reduce(0, slot_H, days_H, "amax")
    last_C = zero_C.scatter_reduce(0, slot_H, days_H, "amin", include_self=False)
    between_C = (first_C - last_C) / (count_C - 1).clamp_min(1)
    ratio_C = torch.log((last_C + _SHORTEST_DAYS) / (between_C + _SHORTEST_DAYS)).clamp(-_LARGEST_RATIO, _LARGEST_RATIO)
    ratio_C = torch.where(count_C >= 2, ratio_C, 0.0)
    return {"overdue": ratio_C.clamp_min(0.0), "early": (-ratio_C).clamp_min(0.0)}
