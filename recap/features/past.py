"""The user's past at each case.

Shape suffixes: B cases, H past check-ins of all cases.
"""

from dataclasses import dataclass
from math import pi

import torch
from torch import Tensor

from recap.features.catalogue import LATELY
from recap.history import SECONDS_PER_DAY, CheckinTensors, Histories


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
    back_BL = row_B[:, None] - torch.arange(LATELY, device=row_B.device)
    is_own_BL = back_BL >= checkins.first_T[row_B][:, None]
    is_new_BL = is_own_BL & (checkins.visit_number_T[back_BL.clamp_min(0)] == 1)
    return (is_new_BL.sum(1) + 1.0).double() / (is_own_BL.sum(1) + 2.0)


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
