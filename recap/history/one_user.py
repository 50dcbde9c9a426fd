"""What is known of one user at a moment, as recorded or changed.

Shape suffixes: H check-ins of the history, B copies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor

from recap.data.dataset import Dataset
from recap.history.moments import Moment
from recap.history.tensors import SECONDS_PER_DAY, CheckinTensors, Histories

NEW_GAP_MINUTES: Final = 30
"""Minutes between two stops of a user who has no recorded gap."""
_FEWEST_PAUSES: Final = 5
_NOON: Final = SECONDS_PER_DAY // 2


@dataclass(frozen=True, eq=False)
class History:
    """One user's check-ins in order, up to a moment; the last one is the source. ``poi_H``, ``seconds_H``,
    ``local_seconds_H``, ``trajectory_H``: int64, see `CheckinTensors`. ``next_local_seconds``: the time of the check-in
    to predict, where it is given.
    """

    user: int
    poi_H: np.ndarray
    seconds_H: np.ndarray
    local_seconds_H: np.ndarray
    trajectory_H: np.ndarray
    next_local_seconds: int | None = None

    @classmethod
    def until(cls, checkins: CheckinTensors, row: int) -> "History":
        rows = slice(int(checkins.first_T[row]), row + 1)
        poi_T, seconds_T, local_T, trajectory_T = (column[rows].numpy() for column in _columns(checkins))
        return cls(int(checkins.user_T[row]), poi_T, seconds_T, local_T, trajectory_T)

    @classmethod
    def at(cls, moment: Moment, dataset: Dataset, checkins: CheckinTensors) -> "History":
        """The check-ins to predict from; a moved one never passes another. A long gap begins a new trajectory."""
        if not moment.is_changed and not moment.is_new_user:
            return cls.until(checkins, moment.row)
        numbers = moment.numbers(checkins)
        back_H, moved = numbers[numbers >= 0], dict(moment.moved)
        row_H = torch.from_numpy(moment.row - back_H)
        poi_H, second_H, local_H, trajectory_H = (column[row_H].numpy() for column in _columns(checkins))
        offset_H = local_H - second_H
        later_H = np.array([60 * moved.get(back, 0) for back in back_H.tolist()], dtype=np.int64)
        second_H = np.maximum.accumulate(second_H + later_H)
        last, offset = (second_H[-1], offset_H[-1]) if len(back_H) else last_noon(checkins)
        added = np.array(moment.added, dtype=np.int64).reshape(-1, 2)
        second_H = np.append(second_H, last + 60 * added[:, 1].cumsum())
        begins = 60 * added[:, 1] > 3600 * dataset.manifest.config.trajectory_gap_hours
        begins[:1] &= len(back_H) > 0  # the first stop of a new user is in the first trajectory
        trajectory = trajectory_H[-1] if len(back_H) else 0
        return cls(
            dataset.num_users if moment.is_new_user else moment.user,
            poi_H=np.append(poi_H, added[:, 0]),
            seconds_H=second_H,
            local_seconds_H=second_H + np.append(offset_H, np.full(len(added), offset)),
            trajectory_H=np.append(trajectory_H, trajectory + begins.cumsum()),
        )

    def __len__(self) -> int:
        return len(self.poi_H)

    @property
    def source(self) -> int:
        return int(self.poi_H[-1])


def _columns(checkins: CheckinTensors) -> tuple[Tensor, ...]:
    return checkins.poi_T, checkins.seconds_T, checkins.local_seconds_T, checkins.trajectory_T


def pack_histories(wanted: Sequence[History]) -> Histories:
    """A batch of histories; each distinct one is stored once."""
    histories = list({id(history): history for history in wanted}.values())
    sizes = [len(history) for history in histories]
    ends = np.cumsum(sizes)
    last_row = {id(history): int(end) - 1 for history, end in zip(histories, ends, strict=True)}
    checkins = CheckinTensors.from_arrays(
        user=np.repeat([history.user for history in histories], sizes),
        poi=np.concatenate([history.poi_H for history in histories]),
        seconds=np.concatenate([history.seconds_H for history in histories]),
        local_seconds=np.concatenate([history.local_seconds_H for history in histories]),
        trajectory=np.concatenate([history.trajectory_H for history in histories]),
        segment=np.repeat(np.arange(len(histories)), sizes),
    )
    row_B = torch.tensor([last_row[id(history)] for history in wanted])
    times = [history.next_local_seconds for history in wanted if history.next_local_seconds is not None]
    return Histories(checkins, row_B, torch.tensor(times) if times else None)


def last_noon(checkins: CheckinTensors) -> tuple[int, int]:
    """Noon of the data's last day in UTC seconds, and the local offset there in seconds."""
    last = int(torch.argmax(checkins.seconds_T))
    local = int(checkins.local_seconds_T[last])
    offset = local - int(checkins.seconds_T[last])
    return local // SECONDS_PER_DAY * SECONDS_PER_DAY + _NOON - offset, offset


def usual_pause(known: History) -> tuple[int, int, int] | None:
    """Lower quartile, median and upper quartile of the user's pauses after a check-in within an hour of the last one's
    time of day, in minutes; after any check-in where those are too few. None for a user with a single check-in.
    """
    if len(known) < 2:
        return None
    pause, clock = np.diff(known.seconds_H), known.local_seconds_H % SECONDS_PER_DAY
    apart = np.abs(clock[:-1] - clock[-1])
    near = pause[np.minimum(apart, SECONDS_PER_DAY - apart) <= 3600]
    low, middle, high = np.quantile(near if len(near) >= _FEWEST_PAUSES else pause, [0.25, 0.5, 0.75]) / 60
    return round(low), round(middle), round(high)


def median_gap(checkins: CheckinTensors, moment: Moment) -> int | None:
    """The median gap inside the user's trajectories up to the moment, in minutes; None without one."""
    if moment.is_new_user:
        return None
    known = History.until(checkins, moment.row)
    gaps = np.diff(known.seconds_H)[np.diff(known.trajectory_H) == 0]
    return max(1, round(float(np.median(gaps)) / 60)) if len(gaps) else None
