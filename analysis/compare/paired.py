"""Paired differences by group with bootstrap intervals over users.

Shape suffixes: N cases.
"""

from collections.abc import Sequence
from typing import TypedDict, cast

import numpy as np
import pandas as pd

from analysis.compare.side import check_same_cases
from analysis.records.accuracy import metric_values
from analysis.records.bootstrap import UserBootstrap, group_means, interval
from recap import columns as c
from recap.evaluation.metrics import CASE_GROUPS, METRICS, group_masks


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
    groups: Sequence[str] = CASE_GROUPS,
) -> pd.DataFrame:
    """Paired differences of two models, each case's value averaged over the model's seeds.

    Args:
        records, baseline: one table for each seed, all of the same cases in the same order.

    Returns:
        A `ComparisonRow` for each group and metric, with the difference's 95 % interval over users; NaN where empty.
    """
    first = records[0]
    check_same_cases(*records, *baseline)
    bootstrap = UserBootstrap(first[c.USER].to_numpy())
    masks = group_masks(first[c.TRANSITION_COUNT])
    rows: list[ComparisonRow] = []
    for metric in metrics:
        value_N, baseline_N = (_mean_values(side, metric) for side in (records, baseline))
        for group in groups:
            group_N = np.where(masks[group].to_numpy(), 0, -1)
            (n,), (value,) = group_means(value_N, group_N, 1)
            _, (other,) = group_means(baseline_N, group_N, 1)
            (low,), (high,) = interval(bootstrap.means(value_N - baseline_N, group_N, 1))
            numbers = {"value": value, "baseline": other, "difference": value - other, "low": low, "high": high}
            rows.append({"group": group, "metric": metric, "n": int(n), **numbers})  # type: ignore[typeddict-item]
    return pd.DataFrame(rows)


def comparison_rows(table: pd.DataFrame) -> list[ComparisonRow]:
    """Rows of `compare_means` for JSON."""
    return cast(list[ComparisonRow], table.to_dict(orient="records"))


def _mean_values(tables: Sequence[pd.DataFrame], metric: str) -> np.ndarray:
    return np.mean([metric_values(table, metric) for table in tables], axis=0)
