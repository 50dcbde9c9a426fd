"""Single past check-ins for tries that point at them, and where the user went next from the source; see `tries.py`.

Shape suffixes: N cases, K past check-ins of a case, C candidates, F features of a past check-in.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor

from benchmarks.tries_cases import TryCases
from recap import columns as c
from recap.data.dataset import Dataset
from recap.history import CheckinTensors, local_hour_fraction, local_weekday

LAST: Final = 64
"""How many of a user's last check-ins are pointed at, the source among them."""
FEATURES: Final = 9


@dataclass(eq=False)
class Pointer:
    """Past check-ins of each case.

    Attributes:
        feature_NKF: how old each is, in days and steps; its hour, day and weekday against the source's; whether it came
            right after the source's place, or after one of its category, in one trajectory; whether it is in the
            source's trajectory; whether it is the source.
        slot_NK: the candidate at its place, counted over all cases; -1 where there is no check-in.
    """

    feature_NKF: Tensor
    slot_NK: Tensor


def pointer_of(dataset: Dataset, cases: TryCases) -> Pointer:
    """The last check-ins of each case."""
    checkins = CheckinTensors.from_dataset(dataset)
    row_N = torch.from_numpy(cases.row_N)
    back_K = torch.arange(LAST)
    there_NK = row_N[:, None] - back_K >= checkins.first_T[row_N][:, None]
    row_NK = torch.maximum(row_N[:, None] - back_K, checkins.first_T[row_N][:, None])
    before_NK = torch.maximum(row_NK - 1, checkins.first_T[row_N][:, None])
    category_P = torch.from_numpy(dataset.pois[c.CATEGORY_INDEX].to_numpy(np.int64))
    poi_T, trajectory_T = checkins.poi_T, checkins.trajectory_T
    source_N1 = poi_T[row_N][:, None]
    follows_NK = (before_NK < row_NK) & (trajectory_T[before_NK] == trajectory_T[row_NK])
    day_T = local_weekday(checkins.local_seconds_T)
    apart_NK = (
        local_hour_fraction(checkins.local_seconds_T[row_NK])
        - local_hour_fraction(checkins.local_seconds_T[row_N])[:, None]
    ).float()
    days_NK = (checkins.seconds_T[row_N][:, None] - checkins.seconds_T[row_NK]).float() / 86400
    found = (
        torch.log1p(days_NK) / 2,
        torch.log1p(back_K.float()).expand_as(days_NK) / 2,
        torch.cos(2 * torch.pi * apart_NK),
        ((day_T[row_NK] >= 5) == (day_T[row_N] >= 5)[:, None]).float(),
        (day_T[row_NK] == day_T[row_N][:, None]).float(),
        (follows_NK & (poi_T[before_NK] == source_N1)).float(),
        (follows_NK & (category_P[poi_T[before_NK]] == category_P[source_N1])).float(),
        (trajectory_T[row_NK] == trajectory_T[row_N][:, None]).float(),
        (back_K == 0).float().expand_as(days_NK),
    )
    key_C = torch.from_numpy(cases.case_C * dataset.num_pois + cases.poi_C)
    key_NK = torch.arange(len(row_N))[:, None] * dataset.num_pois + poi_T[row_NK]
    slot_NK = torch.where(there_NK, torch.searchsorted(key_C, key_NK), -1)
    return Pointer(torch.stack(found, 2), slot_NK)


def own_next(cases: TryCases) -> Tensor:
    """Each candidate's share of where its user went next from the source, with decay: the user's own transitions."""
    weight_C = np.expm1(cases.features["own_transitions"])
    total_N = np.bincount(cases.case_C, weight_C, minlength=len(cases.row_N))
    return torch.from_numpy((weight_C / np.maximum(total_N, 1e-9)[cases.case_C]).astype(np.float32))
