"""Accuracy at the paper's share of frequent cases, which makes splits comparable."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.records.bootstrap import MeanInterval, UserBootstrap, mean_intervals
from recap import columns as c
from recap.errors import ConfigError
from recap.history.graph import TAIL_MAX_COUNT

PAPER_HEAD_SHARE: Final = 313 / 958
"""Head cases among the paper's New York cases."""
HEAD_AND_TAIL: Final = np.array([PAPER_HEAD_SHARE, 1.0 - PAPER_HEAD_SHARE])


def is_tail(cases: pd.DataFrame) -> np.ndarray:
    """1 for a rare case, 0 for a frequent one."""
    return (cases[c.TRANSITION_COUNT].to_numpy(np.int64) <= TAIL_MAX_COUNT).astype(np.int64)


def head_weights(tail_N: np.ndarray) -> np.ndarray:
    """The weight of each case that gives the paper's share of frequent ones; raises ConfigError if a kind is absent."""
    count_2 = np.bincount(tail_N, minlength=2)
    if not count_2.all():
        raise ConfigError(f"the paper's share needs frequent and rare cases, got {count_2[0]:,} and {count_2[1]:,}")
    return (HEAD_AND_TAIL * len(tail_N) / count_2)[tail_N]


def reweight(value_N: np.ndarray, tail_N: np.ndarray, bootstrap: UserBootstrap) -> MeanInterval:
    """``share * mean over head cases + (1 - share) * mean over tail cases``; NaN where a group is empty."""
    measured = bootstrap.measure(value_N, tail_N, 2)
    return mean_intervals(measured.value_G @ HEAD_AND_TAIL[:, None], measured.drawn_BG @ HEAD_AND_TAIL[:, None])[0]
