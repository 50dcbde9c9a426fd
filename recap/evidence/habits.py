"""More of a user's habits: visits over many spans, and how regular they are.

Each place of the user's past has them; nothing after the source is read. Shape suffixes: H past check-ins of all
cases, C packed candidates.
"""

from typing import Final

import torch
from torch import Tensor

from recap.evidence.config import HabitsConfig

_SHORTEST_DAYS: Final = 0.02
"""About half an hour: waits are compared no finer."""
_LONGEST_RATIO: Final = 5.0


def habit_counts(days_H: Tensor, config: HabitsConfig) -> dict[str, Tensor]:
    """What each past check-in, so many days old, adds to the counts of its POI, see `HabitsConfig.counts`."""
    found = [torch.exp(-days_H / days) for days in config.decay_days]
    return dict(zip(config.counts, [*found, torch.ones_like(days_H)], strict=True))


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
