"""Which (source, target) pairs are predicted, by protocol."""

from typing import Final, Literal, get_args

import numpy as np
import pandas as pd

from recap import columns as c
from recap.errors import ConfigError

Protocol = Literal["every_step", "trajectory_last", "user_last", "every_next"]
PROTOCOLS: Final = get_args(Protocol)


def history_only(checkins: pd.DataFrame) -> np.ndarray:
    """Which check-ins only count as history: no case has them as source or target. Returns bool, one per row; all False
    without the column.
    """
    if c.HISTORY_ONLY not in checkins:
        return np.zeros(len(checkins), dtype=bool)
    return checkins[c.HISTORY_ONLY].to_numpy(bool)


def build_cases(checkins: pd.DataFrame, split: int, protocol: Protocol = "every_step") -> np.ndarray:
    """Source rows (int64) of all cases of a split, in table order (user, time).

    A case is a pair of consecutive check-ins of one user and belongs to the split of its target. ``every_next`` takes
    every pair, after any gap. The paper's protocols stay inside a trajectory and leave out `history_only` check-ins:
    ``every_step`` takes all such pairs, ``trajectory_last`` each trajectory's last of the split, ``user_last`` each
    user's.
    """
    if protocol not in PROTOCOLS:
        raise ConfigError(f"unknown protocol {protocol!r}; choose one of {', '.join(PROTOCOLS)}")
    sequence = checkins[c.USER if protocol == "every_next" else c.TRAJECTORY].to_numpy()
    is_pair = sequence[1:] == sequence[:-1]
    if protocol != "every_next":
        aside = history_only(checkins)
        is_pair &= ~(aside[1:] | aside[:-1])
    rows = np.flatnonzero(is_pair & (checkins[c.SPLIT].to_numpy()[1:] == split)).astype(np.int64)
    if protocol in ("every_step", "every_next"):
        return rows
    group = checkins[c.TRAJECTORY if protocol == "trajectory_last" else c.USER].to_numpy()[rows]
    is_last = np.append(group[1:] != group[:-1], True)[: len(rows)]
    return rows[is_last]


def latest_cases(checkins: pd.DataFrame, row_N: np.ndarray, share: float) -> np.ndarray:
    """The latest share of cases by time of the target (at least one), in table order."""
    order = np.argsort(checkins[c.TIME].to_numpy()[row_N + 1], kind="stable")
    return np.sort(row_N[order[-max(1, round(share * len(row_N))) :]])
