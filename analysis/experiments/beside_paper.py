"""Every column of the paper's accuracies beside ours, overall, head and tail, with an interval on both sides.

Ours are drawn over users. The paper prints means alone: a hit rate's interval follows from its value and the number of
cases, one of NDCG and MRR from the spread of our own cases, as if the paper's cases were independent.
"""

from math import sqrt
from typing import Final, NamedTuple

from analysis.experiments.references import PAPER_CASES
from analysis.experiments.results import ExperimentResult, mean_at, value_at
from analysis.records.accuracy import METRIC_LABELS
from recap.evaluation.metrics import SHOWN_METRICS

_Z: Final = 1.959964


class Beside(NamedTuple):
    """One column of one arm, in words."""

    arm: str
    column: str
    ours: str
    paper: str


def twelve_columns(result: ExperimentResult) -> list[Beside]:
    """The paper's twelve columns of every arm that has its numbers and was measured with intervals."""
    rows = []
    for name in dict.fromkeys(arm.arm for arm in result.arms if arm.paper):
        runs = result.runs_of(name)
        for group, cases in PAPER_CASES.items():
            for metric in SHOWN_METRICS:
                key = f"trajectory_last.{group}.{metric}"
                value, low, high, deviation = (
                    mean_at(runs, path)
                    for path in (
                        key,
                        f"spread.{group}.{metric}.low",
                        f"spread.{group}.{metric}.high",
                        f"deviation.{group}.{metric}",
                    )
                )
                if value is None or low is None or high is None or deviation is None:
                    continue
                n = value_at(runs[0].values, f"trajectory_last.{group}.n") or 0
                label = ("" if group == "all" else f"{group} ") + METRIC_LABELS[metric]
                paper = _paper(runs[0].paper.get(key), metric, deviation, cases)
                rows.append(Beside(runs[0].label, label, f"{_told(value, low, high)}, n = {n:,.0f}", paper))
    return rows


def _paper(value: float | None, metric: str, deviation: float, cases: int) -> str:
    """The paper's value with the interval that so many cases give it.

    >>> _paper(0.5, "hr1", 0.3, 100)
    '.5000 [.4020, .5980], n = 100'
    """
    if value is None:
        return "not printed"
    spread = sqrt(value * (1.0 - value)) if metric.startswith("hr") else deviation
    half = _Z * spread / sqrt(cases)
    return f"{_told(value, value - half, value + half)}, n = {cases}"


def _told(value: float, low: float, high: float) -> str:
    return f"{value:.4f} [{low:.4f}, {high:.4f}]".replace("0.", ".")
