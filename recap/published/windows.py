"""Windows of a user's consecutive check-ins, oldest first, for sequence models.

Windows are padded on the right: a causal network never sees the padding.

Shape suffixes: T check-ins, W windows of a training, B windows of a batch, K positions, N learned steps, D features.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from recap import columns as c
from recap.arithmetic.geodesy import EARTH_RADIUS_KM
from recap.data.cases import history_only
from recap.data.dataset import Dataset
from recap.history.tensors import CheckinTensors, Histories


@dataclass(frozen=True, eq=False)
class Windows:
    """Windows over a check-in table. ``row_BK``: int64 rows; positions past a window's end repeat its last row;
    ``length_B``: check-ins of each window, at least 1.
    """

    checkins: CheckinTensors
    row_BK: Tensor
    length_B: Tensor

    @classmethod
    def of(cls, checkins: CheckinTensors, first_B: Tensor, length_B: Tensor) -> "Windows":
        offset_K = torch.arange(int(length_B.max()), device=first_B.device)
        row_BK = first_B[:, None] + torch.minimum(offset_K, length_B[:, None] - 1)
        return cls(checkins, row_BK, length_B)

    @classmethod
    def of_histories(cls, histories: Histories, length: int, *, within_trajectory: bool = False) -> "Windows":
        """The last ``length`` or fewer check-ins of each history."""
        checkins, last_B = histories.checkins, histories.row_B
        first_B = torch.maximum(histories.first_B, last_B - length + 1)
        if within_trajectory:
            first_B = torch.maximum(first_B, checkins.trajectory_rows(checkins.trajectory_number_T[last_B])[0])
        return cls.of(checkins, first_B, last_B - first_B + 1)

    @property
    def present_BK(self) -> Tensor:
        return torch.arange(self.row_BK.shape[1], device=self.row_BK.device) < self.length_B[:, None]

    @property
    def poi_BK(self) -> Tensor:
        return self.checkins.poi_T[self.row_BK]

    @property
    def user_B(self) -> Tensor:
        return self.checkins.user_T[self.row_BK[:, 0]]

    @property
    def seconds_BK(self) -> Tensor:
        """UTC seconds."""
        return self.checkins.seconds_T[self.row_BK]

    @property
    def local_seconds_BK(self) -> Tensor:
        return self.checkins.local_seconds_T[self.row_BK]

    def __len__(self) -> int:
        return len(self.row_BK)


@dataclass(frozen=True, eq=False)
class TrainingWindows:
    """The training split cut into windows; every training step is learned once.

    Attributes:
        first_W, length_W: each window's first row and number of sources.
        skip_W: leading steps that an earlier window learns; they are context.
        learned_T: whether the step from row t to row t + 1 is learned.
    """

    checkins: CheckinTensors
    first_W: Tensor
    length_W: Tensor
    skip_W: Tensor
    learned_T: Tensor

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        checkins: CheckinTensors,
        length: int,
        *,
        within_trajectory: bool = False,
        learn_across: bool = True,
    ) -> "TrainingWindows":
        """Cut every run of consecutive training check-ins into windows.

        A run longer than ``length`` makes several windows; the last one overlaps and ends with the run.

        Args:
            learn_across: steps from one trajectory to the next are learned too.
        """
        table = dataset.checkins
        joined = (table[c.USER].to_numpy()[1:] == table[c.USER].to_numpy()[:-1]) & (
            (table[c.SPLIT].to_numpy() == c.TRAIN)[1:] & (table[c.SPLIT].to_numpy() == c.TRAIN)[:-1]
        )
        inside = table[c.TRAJECTORY].to_numpy()[1:] == table[c.TRAJECTORY].to_numpy()[:-1]
        joined &= inside | (not within_trajectory)
        aside = history_only(table)
        learned = np.append(joined & (inside | learn_across) & ~(aside[1:] | aside[:-1]), False)

        edges = np.diff(np.concatenate([[0], joined.astype(np.int8), [0]]))
        start, steps = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
        pieces = -(-steps // length)
        run = np.repeat(np.arange(len(start)), pieces)
        number = np.arange(len(run)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        usual = number * length
        begin = np.minimum(usual, np.maximum(steps[run] - length, 0))
        first, size, skip = start[run] + begin, np.minimum(length, steps[run]), usual - begin
        before = np.append(0, np.cumsum(learned))
        teaches = before[first + size] > before[first + skip]
        tensors = (first[teaches], size[teaches], skip[teaches], learned)
        return cls(checkins, *(torch.from_numpy(array).to(checkins.device) for array in tensors))

    def __len__(self) -> int:
        return len(self.first_W)

    def batch(self, index_B: Tensor) -> tuple[Windows, Tensor]:
        """Windows, and which of their steps to learn, (B, K)."""
        windows = Windows.of(self.checkins, self.first_W[index_B], self.length_W[index_B])
        position_K = torch.arange(windows.row_BK.shape[1], device=index_B.device)
        new_BK = windows.present_BK & (position_K >= self.skip_W[index_B][:, None])
        return windows, new_BK & self.learned_T[windows.row_BK]


_LEAST_WEIGHT: Final = 1e-10
LENGTHS: Final = (2, 4, 8, 16, 32)
"""Windows of at most so many check-ins make a group, but for those of the group before."""


def by_length(windows: Windows, states: Callable[[Windows], Tensor]) -> Tensor:
    """``states`` of windows, (B, K, D), computed in groups of similar length to avoid padding; 0 after a window's end.
    ``states``: windows to (N, their own K, D); each window's states must not depend on the others.
    """
    whole, done, pieces, index = windows.row_BK.shape[1], 0, [], []
    for longest in (*(length for length in LENGTHS if length < whole), whole):
        index_N = ((windows.length_B > done) & (windows.length_B <= longest)).nonzero()[:, 0]
        done = longest
        if len(index_N):
            length_N = windows.length_B[index_N]
            size = int(length_N.max())
            group = Windows(windows.checkins, windows.row_BK[index_N, :size], length_N)
            pieces.append(F.pad(states(group), (0, 0, 0, whole - size)))
            index.append(index_N)
    return torch.cat(pieces)[torch.argsort(torch.cat(index))]


def causal_mask(length: int, device: torch.device) -> Tensor:
    """Bool (K, K): position i may look at positions j <= i."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def kilometres_apart(coordinates_BK2: Tensor) -> Tensor:
    """Great-circle distance, (B, K, K) (haversine).

    >>> kilometres_apart(torch.tensor([[[0.0, 0.0], [0.0, 1.0]]], dtype=torch.float64))[0, 0].round(decimals=1).tolist()
    [0.0, 111.2]
    """
    radians_BK2 = torch.deg2rad(coordinates_BK2)
    latitude_BK, longitude_BK = radians_BK2.unbind(-1)
    half = torch.sin((latitude_BK[:, :, None] - latitude_BK[:, None, :]) / 2) ** 2
    across = torch.sin((longitude_BK[:, :, None] - longitude_BK[:, None, :]) / 2) ** 2
    cosines = torch.cos(latitude_BK)[:, :, None] * torch.cos(latitude_BK)[:, None, :]
    return 2 * EARTH_RADIUS_KM * torch.asin(torch.sqrt((half + cosines * across).clamp(0, 1)))


def average_past(states_BKD: Tensor, weight_BKK: Tensor) -> Tensor:
    """sum_j<=i w_ij h_j / sum_j<=i w_ij over past states, (B, K, D), as in Flashback."""
    mask_KK = causal_mask(weight_BKK.shape[1], weight_BKK.device)
    weight_BKK = (weight_BKK + _LEAST_WEIGHT) * mask_KK
    return (weight_BKK @ states_BKD) / weight_BKK.sum(-1, keepdim=True)
