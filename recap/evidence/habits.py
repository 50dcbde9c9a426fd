"""More of a user's habits: visits over many spans and hours of the day, and how regular they are.

Each place of the user's past has them; nothing after the source is read. Shape suffixes: H past check-ins of all
cases, C packed candidates.
"""

from typing import Final

import torch
from torch import Tensor

from recap.evidence.config import HOUR_FEATURES, LATER_HOURS, HabitsConfig
from recap.evidence.past import PastRows, same_hour
from recap.history import SECONDS_PER_DAY, CheckinTensors, local_hour_fraction, local_weekday

_SHORTEST_DAYS: Final = 0.02
"""About half an hour: waits are compared no finer."""
_LONGEST_RATIO: Final = 5.0
_HOUR_WIDTHS: Final = (0.5, 3.0)


def habit_counts(days_H: Tensor, config: HabitsConfig) -> dict[str, Tensor]:
    """What each past check-in, so many days old, adds to the counts of its POI, see `HabitsConfig.counts`."""
    found = [torch.exp(-days_H / days) for days in config.decay_days]
    return dict(zip(config.counts, [*found, torch.ones_like(days_H)], strict=True))


def hour_counts(checkins: CheckinTensors, past: PastRows, source_H: Tensor, habit_H: Tensor) -> dict[str, Tensor]:
    """What each past check-in adds to the `HOUR_FEATURES` of its POI.

    Args:
        source_H: row of the case's source.
        habit_H: how much a check-in of its age counts.
    """
    local_T, q_H = checkins.local_seconds_T, past.row_H
    hour_T = local_hour_fraction(local_T).double() * 24.0
    later_H = torch.remainder(hour_T[q_H] - hour_T[source_H], 24.0)
    days_T = torch.div(local_T, SECONDS_PER_DAY, rounding_mode="floor")
    found = [
        *(same_hour(checkins, q_H, source_H, width) for width in _HOUR_WIDTHS),
        *((later_H > first) & (later_H <= last) for first, last in LATER_HOURS),
        local_weekday(local_T[q_H]) == local_weekday(local_T[source_H]),
        ~past.has_previous_H | (days_T[q_H] != days_T[past.previous_H]),
    ]
    return {name: habit_H * counted_H for name, counted_H in zip(HOUR_FEATURES, found, strict=True)}


def regularity(days_H: Tensor, slot_H: Tensor, num_candidates: int) -> dict[str, Tensor]:
    """Time since the last visit against the mean time between visits, as a log ratio: ``overdue`` or ``underdue``.

    0 where the user was fewer than two times.

    Args:
        days_H: how many days before the source each past check-in was.
        slot_H: its candidate.
    """
    zero_C = torch.zeros(num_candidates, dtype=torch.float64, device=days_H.device)
    count_C = zero_C.index_add(0, slot_H, torch.ones_like(days_H))
    first_C = zero_C.scatter_reduce(0, slot_H, days_H, "amax")
    last_C = zero_C.scatter_reduce(0, slot_H, days_H, "amin", include_self=False)
    between_C = (first_C - last_C) / (count_C - 1).clamp_min(1)
    ratio_C = torch.log((last_C + _SHORTEST_DAYS) / (between_C + _SHORTEST_DAYS)).clamp(-_LONGEST_RATIO, _LONGEST_RATIO)
    ratio_C = torch.where(count_C >= 2, ratio_C, 0.0)
    return {"overdue": ratio_C.clamp_min(0.0), "underdue": (-ratio_C).clamp_min(0.0)}
