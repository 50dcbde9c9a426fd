"""Turn a sequence of check-ins into splits and trajectories: merge, cut at gaps, split 8:1:1.

All functions take aligned arrays of rows sorted by (user, time, source row). Shape suffix: T check-ins.
"""

from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from recap.config import Config

SplitBy = Literal["checkins", "trajectory_start", "trajectory_end"]
MergeBy = Literal["gap", "clock"]

_SHARE_WITHIN = 0.9


class SplitConfig(Config):
    """How check-ins are cut into trajectories and split by time."""

    merge_seconds: int = Field(
        0, ge=0, description="A user's check-in this near in time to an earlier one is merged into it; 0 merges none."
    )
    merge_by: MergeBy = Field(
        "gap",
        description="gap: at most so many seconds after the last one kept; clock: in the same slice of that length.",
    )
    trajectory_gap_hours: float = Field(24, gt=0, description="A longer gap starts a new trajectory.")
    split_by: SplitBy = Field(
        "checkins", description="What is put in time order and shared out: check-ins, or trajectories by start or end."
    )
    train_end: float = Field(0.8, gt=0, lt=1, description="Share of them, in time order, that are training.")
    val_end: float = Field(0.9, gt=0, le=1, description="Share of them where validation ends and test begins.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.val_end < self.train_end:
            raise ValueError(f"val_end {self.val_end} must not be below train_end {self.train_end}")
        return self


def find_merged(user_T: np.ndarray, seconds_T: np.ndarray, config: SplitConfig) -> np.ndarray:
    """Which check-ins are merged into an earlier one of their user, at any place; bool, one per row."""
    limit = config.merge_seconds
    merged = np.zeros(len(user_T), dtype=bool)
    if limit == 0:
        return merged
    same_user = user_T[1:] == user_T[:-1]
    if config.merge_by == "clock":
        merged[1:] = same_user & (seconds_T[1:] // limit == seconds_T[:-1] // limit)
        return merged
    # Only check-ins near the one before them can be near the last one kept.
    near = np.flatnonzero(same_user & (np.diff(seconds_T) <= limit)) + 1
    before, kept = -1, 0
    for row in near.tolist():
        if row - 1 != before:
            kept = int(seconds_T[row - 1])
        merged[row] = int(seconds_T[row]) - kept <= limit
        if not merged[row]:
            kept = int(seconds_T[row])
        before = row
    return merged


def cut_trajectories(user_T: np.ndarray, seconds_T: np.ndarray, config: SplitConfig) -> np.ndarray:
    """Trajectory of each check-in, numbered from 0; a new user and a gap longer than the limit start one."""
    is_new = (np.diff(user_T) != 0) | (np.diff(seconds_T) > config.trajectory_gap_hours * 3600)
    trajectory_T: np.ndarray = np.cumsum(np.append(True, is_new)) - 1
    return trajectory_T


def advise_gap(user_T: np.ndarray, seconds_T: np.ndarray) -> str:
    """What gives cases where no next check-in comes within the limit; rows are in order of (user, time)."""
    gaps = np.diff(seconds_T)[np.diff(user_T) == 0] / 3600
    if not len(gaps):
        return "no user has two check-ins: bring more data, or lower the minimum counts"
    hours = int(np.ceil(np.quantile(gaps, _SHARE_WITHIN)))
    return (
        f"nine in ten next check-ins come within {hours:,} h, so prepare with --set trajectory_gap_hours={hours}; "
        "--protocol every_next then ranks the next check-in after any gap"
    )


def split_by_time(
    seconds_T: np.ndarray, source_row_T: np.ndarray, trajectory_T: np.ndarray, config: SplitConfig
) -> np.ndarray:
    """Split codes (int8) of check-ins: the first ``int(train_end n)`` of n in time order are training, and so on. Ties
    go by source row, or by trajectory number.
    """
    if config.split_by == "checkins":
        return _shares(np.lexsort((source_row_T, seconds_T)), config)
    first = np.flatnonzero(np.append(True, np.diff(trajectory_T) != 0))
    last = np.append(first[1:], len(trajectory_T)) - 1
    moment = seconds_T[first if config.split_by == "trajectory_start" else last]
    return _shares(np.argsort(moment, kind="stable"), config)[trajectory_T]


def _shares(order: np.ndarray, config: SplitConfig) -> np.ndarray:
    count = len(order)
    rank = np.empty(count, dtype=np.int64)
    rank[order] = np.arange(count)
    ends = int(config.train_end * count), int(config.val_end * count)
    return (rank >= ends[0]).astype(np.int8) + (rank >= ends[1])
