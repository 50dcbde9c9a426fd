"""Features of the places in a user's past: visits, times of day and week, own transitions.

Only check-ins up to and including the source count.

Shape suffixes: B cases, H past check-ins of all cases, C places of the past of all cases.
"""

from typing import Final

import torch
from torch import Tensor

from recap.features.catalogue import BURST_MINUTES, HABIT_DAYS
from recap.features.past import PastRows, days_between, is_weekend, same_hour
from recap.history import Histories

_SHORTEST_DAYS: Final = 0.02
"""About half an hour, the resolution of waits."""
_LARGEST_RATIO: Final = 5.0
_NEXT_HOUR_WIDTH: Final = 2.0


def visit_features(histories: Histories, past: PastRows, slot_H: Tensor, case_C: Tensor) -> dict[str, Tensor]:
    """Features by name, (C,) float64 each. ``slot_H``: each past check-in's place among C."""
    checkins, row_B = histories.checkins, histories.row_B
    q_H, row_H = past.row_H, row_B[past.case_H]

    def total(value_H: Tensor) -> Tensor:
        return torch.zeros(len(case_C), dtype=torch.float64, device=row_B.device).index_add_(0, slot_H, value_H)

    last_C = torch.full_like(case_C, -1).scatter_reduce_(0, slot_H, q_H, "amax")  # rows are in time order
    hours_C = 24.0 * days_between(checkins, last_C, row_B[case_C])
    days_H = days_between(checkins, q_H, row_H)
    return {
        **{name: torch.log1p(total(value_H)) for name, value_H in _weights(histories, past, days_H).items()},
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
    count_C = zero_C.index_add(0, slot_H, torch.ones_like(days_H))
    first_C = zero_C.scatter_reduce(0, slot_H, days_H, "amax")
    last_C = zero_C.scatter_reduce(0, slot_H, days_H, "amin", include_self=False)
    between_C = (first_C - last_C) / (count_C - 1).clamp_min(1)
    ratio_C = torch.log((last_C + _SHORTEST_DAYS) / (between_C + _SHORTEST_DAYS)).clamp(-_LARGEST_RATIO, _LARGEST_RATIO)
    ratio_C = torch.where(count_C >= 2, ratio_C, 0.0)
    return {"overdue": ratio_C.clamp_min(0.0), "early": (-ratio_C).clamp_min(0.0)}
