"""What is known of a step before any place: its pace and the user's habit of going to new places.

Evidence counts more at some steps than at others: in the middle of a burst of check-ins a habit says little, for a user
who keeps exploring distance says more. Weights of evidence that depend on these numbers say how much.

Shape suffixes: B cases, H past check-ins, Z numbers of a step.
"""

from typing import Final

import torch
from torch import Tensor

from recap.history import CheckinTensors
from recap.scores import CaseBatch, past_rows

STEP_NUMBERS: Final = (
    "gap",
    "in_burst",
    "trajectory_length",
    "history_length",
    "known_places",
    "new_of_last_10",
    "new_of_last_50",
)
"""log(1 + minutes since the check-in before), 1 where they are fewer than the burst's gap, log(1 + check-ins) of the
trajectory so far and of the history, log(1 + distinct places), and shares of first visits among the last check-ins,
(first visits + 1) / (check-ins + 4)."""

_CENTRE: Final = (5.5, 0.16, 1.6, 5.0, 3.3, 0.2, 0.2)
_SPREAD: Final = (2.7, 0.37, 0.9, 1.2, 0.7, 0.16, 0.19)
"""About their mean and deviation over New York's steps: a step in the middle keeps the weights as they are."""

_LONGEST_GAP_MINUTES: Final = 10_000.0


def step_numbers(batch: CaseBatch, burst_minutes: float) -> Tensor:
    """`STEP_NUMBERS` of each case, centred and scaled: (B, Z), float64. Nothing after the source is read."""
    checkins, row_B = batch.checkins, batch.row_B
    before_B = torch.maximum(row_B - 1, checkins.first_T[row_B])
    minutes_B = (checkins.seconds_T[row_B] - checkins.seconds_T[before_B]).double() / 60.0
    case_H, row_H = past_rows(batch)
    is_first_H = (checkins.visit_number_T[row_H] == 1).double()
    walk_H = checkins.trajectory_T[row_H] == checkins.trajectory_T[row_B][case_H]
    found = (
        torch.log1p(minutes_B.clamp_max(_LONGEST_GAP_MINUTES)),
        (minutes_B < burst_minutes).double(),
        torch.log1p(_total(case_H, walk_H.double(), len(row_B))),
        torch.log1p((row_B - checkins.first_T[row_B] + 1).double()),
        torch.log1p(_total(case_H, is_first_H, len(row_B))),
        _new_share(checkins, case_H, row_H, row_B, is_first_H, 10),
        _new_share(checkins, case_H, row_H, row_B, is_first_H, 50),
    )
    number_BZ = torch.stack(found, dim=1)
    centre_Z, spread_Z = (
        torch.tensor(values, dtype=torch.float64, device=row_B.device) for values in (_CENTRE, _SPREAD)
    )
    return (number_BZ - centre_Z) / spread_Z


def _new_share(
    checkins: CheckinTensors, case_H: Tensor, row_H: Tensor, row_B: Tensor, is_first_H: Tensor, last: int
) -> Tensor:
    recent_H = (row_H > row_B[case_H] - last).double()
    length_B = (row_B - checkins.first_T[row_B] + 1).clamp_max(last)
    return (_total(case_H, recent_H * is_first_H, len(row_B)) + 1.0) / (length_B + 4.0)


def _total(case_H: Tensor, value_H: Tensor, size: int) -> Tensor:
    return torch.zeros(size, dtype=torch.float64, device=value_H.device).index_add_(0, case_H, value_H)
