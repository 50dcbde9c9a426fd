"""The user's past at each case, and features of the places in it: visits, times of day and week, own transitions.

Only check-ins up to and including the source count.

Shape suffixes: B cases, H past check-ins of all cases, C places of the past of all cases.
"""

from dataclasses import dataclass
from math import pi
from typing import Final

import torch
from torch import Tensor

from recap.features.catalogue import BURST_MINUTES, HABIT_DAYS, LATELY, LONG_GAP_HOURS
from recap.history import SECONDS_PER_DAY, CheckinTensors, Histories
from recap.ragged import sum_within

_SHORTEST_DAYS: Final = 0.02
"""About half an hour, the resolution of waits."""
_LARGEST_RATIO: Final = 5.0
_NEXT_HOUR_WIDTH: Final = 2.0


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


def days_between(checkins: CheckinTensors, earlier: Tensor, later: Tensor) -> Tensor:
    """Days from one row to another, float64."""
    return (checkins.seconds_T[later] - checkins.seconds_T[earlier]).double() / SECONDS_PER_DAY


def same_hour(checkins: CheckinTensors, one: Tensor, other: Tensor, width_hours: float) -> Tensor:
    """1 at the same local time, falling like a Gaussian of this width around the clock; 0 beyond 3 widths."""
    angle = 2.0 * pi * (checkins.hour_T.index_select(0, one) - checkins.hour_T.index_select(0, other)) / 24.0
    close = torch.exp((torch.cos(angle) - 1.0) / (2.0 * pi * width_hours / 24.0) ** 2)
    return torch.where(close > 0.01, close, 0.0)


def is_weekend(checkins: CheckinTensors, row: Tensor) -> Tensor:
    return checkins.weekday_T[row] >= 5


def visit_features(histories: Histories, past: PastRows, slot_H: Tensor, case_C: Tensor) -> dict[str, Tensor]:
    """Features by name, (C,) float64 each. ``slot_H``: each past check-in's place among C."""
    checkins, row_B = histories.checkins, histories.row_B
    q_H, row_H = past.row_H, row_B[past.case_H]
    last_C = torch.full_like(case_C, -1).scatter_reduce_(0, slot_H, q_H, "amax")  # rows are in time order
    hours_C = 24.0 * days_between(checkins, last_C, row_B[case_C])
    days_H = days_between(checkins, q_H, row_H)
    weights = _weights(histories, past, days_H)
    return {
        **{name: torch.log1p(sum_within(weight_H, slot_H, len(case_C))) for name, weight_H in weights.items()},
        "time_since_visit": 1.0 + torch.log1p(hours_C),
        **_regularity(days_H, slot_H, len(case_C)),
    }


def _weights(histories: Histories, past: PastRows, days_H: Tensor) -> dict[str, Tensor]:
    """Weight of each past check-in in its place's counts."""
    checkins, row_B, q_H, before_H = histories.checkins, histories.row_B, past.row_H, past.previous_H
    row_H = row_B[past.case_H]
    habit_H = torch.exp(-days_H / HABIT_DAYS)
    follows_H = past.is_after_source_H * habit_H
    hour_T, day_T, weekday_T = checkins.hour_T, checkins.day_T, checkins.weekday_T
    later_H = torch.remainder(hour_T[q_H] - hour_T[row_H], 24.0)
    same_weekday_H = weekday_T[q_H] == weekday_T[row_H]
    came_at_hour_H = same_hour(checkins, before_H, row_H, _NEXT_HOUR_WIDTH)
    next_at_hour_H = habit_H * past.has_previous_H * came_at_hour_H
    such_day_B = is_weekend(checkins, row_B)[past.case_H]
    pause_H = (checkins.seconds_T[q_H] - checkins.seconds_T[before_H]) > 60.0 * BURST_MINUTES
    return {
        "visits": torch.ones_like(days_H),
        "visits_50_checkins": torch.exp((q_H - row_H).double() / 50.0),
        "visits_first_of_day": habit_H * (~past.has_previous_H | (day_T[q_H] != day_T[before_H])),
        "visits_0_to_2_hours_later": habit_H * ((later_H > 0) & (later_H <= 2)),
        "visits_on_such_days": habit_H * (is_weekend(checkins, q_H) == such_day_B),
        "visits_on_weekday": habit_H * same_weekday_H,
        "next_at_hour_on_such_days": next_at_hour_H * (is_weekend(checkins, before_H) == such_day_B),
        "own_transitions": follows_H,
        "own_transition_pairs": follows_H * past.is_after_same_pair_H,
        "own_transitions_at_hour": follows_H * came_at_hour_H,
        "own_slow_transitions": follows_H * pause_H,
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
