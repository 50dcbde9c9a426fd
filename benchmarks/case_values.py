"""Each case's values under rankers, and their differences with intervals over users; what several benchmarks share."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.records.accuracy import metric_values
from analysis.records.bootstrap import UserBootstrap, interval
from recap.evaluation.scoring import rank_cases
from recap.history import CheckinTensors
from recap.scores import Scorer

METRICS: Final = ("hr1", "hr20", "ndcg20", "mrr")
Values = dict[str, np.ndarray]


def values_of(scorer: Scorer, cases: pd.DataFrame, checkins: CheckinTensors) -> Values:
    """Each case's values under a scorer, by metric."""
    ranked = rank_cases(scorer, cases, checkins)
    return {metric: metric_values(ranked, metric) for metric in METRICS}


def mean(found: list[Values]) -> Values:
    """Each case's values averaged over seeds."""
    return {metric: np.mean([one[metric] for one in found], axis=0) for metric in METRICS}


def difference(bootstrap: UserBootstrap, change_N: np.ndarray, mask_N: np.ndarray) -> tuple[float, float, float]:
    """Mean of a change over a group's cases, and the ends of its 95 % interval over users."""
    low, high = interval(bootstrap.means(change_N, np.where(mask_N, 0, -1), 1))
    return float(change_N[mask_N].mean()), float(low[0]), float(high[0])
