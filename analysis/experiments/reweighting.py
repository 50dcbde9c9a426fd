"""Accuracy at another share of head cases, so that two splits with different mixes can stand side by side.

Our trajectory-last cases are head less often than the paper's. A mean over all cases mixes the two groups by each
split's own share; reweighted, both are mixed by one share and only the groups' accuracies differ.
"""

from typing import Final, TypedDict

import numpy as np
import pandas as pd

from analysis.records.accuracy import metric_values
from analysis.records.bootstrap import UserBootstrap, group_means, interval
from recap import columns as c
from recap.graph import TAIL_MAX_COUNT

PAPER_HEAD_SHARE: Final = 313 / 958
"""Of the paper's New York cases, read from the digits of its tables (`grim`)."""


class Reweighted(TypedDict):
    """One metric at another head share, with its 95 % interval over users."""

    value: float
    low: float
    high: float


def reweight(records: pd.DataFrame, metric: str, head_share: float = PAPER_HEAD_SHARE, seed: int = 0) -> Reweighted:
    """``share * mean over head cases + (1 - share) * mean over tail cases``.

    Args:
        records: one row per case, see `describe_cases`; a case is tail where its transition count is at most eta.
        metric: a key of `metric_values`.
        head_share: between 0 and 1.
        seed: of the draws of users.

    Returns:
        NaN where a group is empty.
    """
    value_N = metric_values(records, metric)
    group_N = (records[c.TRANSITION_COUNT].to_numpy(np.int64) <= TAIL_MAX_COUNT).astype(np.int64)
    share_2 = np.array([head_share, 1.0 - head_share])
    _, mean_2 = group_means(value_N, group_N, 2)
    draws_B = UserBootstrap(records[c.USER].to_numpy(), seed=seed).means(value_N, group_N, 2) @ share_2
    low, high = interval(draws_B[:, None])
    return Reweighted(value=float(mean_2 @ share_2), low=float(low[0]), high=float(high[0]))
