"""Paired differences by group with bootstrap intervals over users.

Shape suffixes: N cases.
"""

from collections.abc import Sequence
from typing import TypedDict, cast

import numpy as np
import pandas as pd

from analysis.compare.side import check_same_cases
from analysis.records.accuracy import metric_values
from analysis.records.bootstrap import UserBootstrap, interval
from recap import columns as c
from recap.evaluation.metrics import GROUPS, METRICS, group_masks


class ComparisonRow(TypedDict):
    """A row of `compare_means`; ``baseline`` is the other side's value."""

    group: str
    metric: str
    n: int
    value: float
    baseline: float
    difference: float
    low: float
    high: float


def compare_means(
    records: Sequence[pd.DataFrame],
    baseline: Sequence[pd.DataFrame],
    *,
    metrics: Sequence[str] = METRICS,
    groups: Sequence[str] = GROUPS,
) -> pd.DataFrame:
    """Paired differences of two models, each case's value averaged over the model's seeds.

    Users are resampled with all their cases; both models share every sample.

    Args:
        records, baseline: one table for each seed, all of the same cases in the same order.

    Returns:
        One row for each group and metric: ``group, metric, n, value, baseline, difference`` (value minus baseline),
        ``low, high`` (95 % interval of the difference). NaN for an empty group.

    Raises:
        RecapError: the records are not of the same cases.
    """
    first = records[0]
    check_same_cases(*records, *baseline)
    bootstrap = UserBootstrap(first[c.USER].to_numpy())
    masks = group_masks(first[c.TRANSITION_COUNT])
    rows = []
    for metric in metrics:
        value_N, baseline_N = (_mean_values(side, metric) for side in (records, baseline))
        for group in groups:
            mask_N = masks[group].to_numpy()
            group_N = np.where(mask_N, 0, -1)
            low, high = interval(bootstrap.means(value_N - baseline_N, group_N, 1))
            value = float(value_N[mask_N].mean()) if mask_N.any() else np.nan
            baseline_value = float(baseline_N[mask_N].mean()) if mask_N.any() else np.nan
            rows.append(
                {
                    "group": group,
                    "metric": metric,
                    "n": int(mask_N.sum()),
                    "value": value,
                    "baseline": baseline_value,
                    "difference": value - baseline_value,
                    "low": float(low[0]),
                    "high": float(high[0]),
                }
            )
    return pd.DataFrame(rows)


def comparison_rows(table: pd.DataFrame) -> list[ComparisonRow]:
    """Rows of `compare_means` for JSON."""
    return cast(list[ComparisonRow], table.to_dict(orient="records"))


def _mean_values(tables: Sequence[pd.DataFrame], metric: str) -> np.ndarray:
    return np.mean([metric_values(table, metric) for table in tables], axis=0)
