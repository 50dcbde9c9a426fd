"""Metrics of ranks as exact expectations over the random order of ties, and how far probabilities can be believed.

A target with ``better`` POIs above it and ``tied`` POIs it ties with (itself included) has each of the ranks
better + 1, ..., better + tied with equal probability.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
from scipy.special import digamma

from recap import columns as c
from recap.features.catalogue import LONG_GAP_HOURS
from recap.history.graph import TAIL_MAX_COUNT

METRICS: Final = ("hr1", "hr5", "hr10", "hr20", "ndcg20", "mrr")
SHOWN_METRICS: Final = ("hr1", "hr20", "ndcg20", "mrr")
"""Metrics in tables with little space."""
CASE_GROUPS: Final = ("all", "head", "tail", "unseen")
GAP_GROUPS: Final = ("gap_up_to_24h", "gap_over_24h")
"""Groups of every_next: the next check-in comes within a day, or later."""

Metrics = dict[str, float | int | None]
"""``n`` and every metric in `METRICS`; a metric is None where n is 0."""
MetricsByGroup = dict[str, Metrics]
"""`Metrics` of every group in `CASE_GROUPS`, and in `GAP_GROUPS` for every_next."""


def hit_rate(better: np.ndarray, tied: np.ndarray, k: int) -> np.ndarray:
    """Probability that the target is among the first k.

    >>> hit_rate(np.array([0, 0, 3]), np.array([1, 4, 1]), 2).tolist()
    [1.0, 0.5, 0.0]
    """
    return np.clip((k - better) / tied, 0.0, 1.0)


def ndcg(better: np.ndarray, tied: np.ndarray, k: int) -> np.ndarray:
    """Expected 1 / log2(1 + rank) if rank <= k, else 0 (the ideal DCG is 1).

    >>> ndcg(np.array([0, 2]), np.array([1, 1]), 20).round(9).tolist()
    [1.0, 0.5]
    """
    gains = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2, k + 2)))])
    low, high = np.minimum(better, k), np.minimum(better + tied, k)
    return (gains[high] - gains[low]) / tied


def reciprocal_rank(better: np.ndarray, tied: np.ndarray) -> np.ndarray:
    """Expected 1 / rank.

    >>> reciprocal_rank(np.array([0, 1]), np.array([2, 1])).tolist()
    [0.75, 0.5]
    """
    exact = 1.0 / (better + 1.0)
    # H(better + tied) - H(better) through digamma; exact division where nothing is tied.
    averaged = (digamma(better + tied + 1.0) - digamma(better + 1.0)) / tied
    return np.where(tied == 1, exact, averaged)


def metrics_of(records: pd.DataFrame) -> Metrics:
    """``n`` and every metric; metrics are None if n is 0."""
    if records.empty:
        return {"n": 0, **dict.fromkeys(METRICS)}
    better, tied = records[c.NUM_BETTER].to_numpy(np.int64), records[c.NUM_TIED].to_numpy(np.int64)
    values: Metrics = {"n": len(records)}
    for k in (1, 5, 10, 20):
        values[f"hr{k}"] = float(hit_rate(better, tied, k).mean())
    values["ndcg20"] = float(ndcg(better, tied, 20).mean())
    values["mrr"] = float(records[c.RECIPROCAL_RANK].mean())
    return values


def group_masks(transition_count: pd.Series, tail_max_count: int = TAIL_MAX_COUNT) -> Mapping[str, pd.Series]:
    """Boolean masks of all, head, tail and unseen cases; unseen is part of tail."""
    return {
        "all": transition_count >= 0,
        "head": transition_count > tail_max_count,
        "tail": transition_count <= tail_max_count,
        "unseen": transition_count == 0,
    }


def metrics_by_group(records: pd.DataFrame) -> MetricsByGroup:
    """Metrics of all, head, tail and unseen cases (cases, not unique pairs), and by gap where records have one."""
    masks = dict(group_masks(records[c.TRANSITION_COUNT]))
    if c.GAP_HOURS in records:
        is_long = records[c.GAP_HOURS] > LONG_GAP_HOURS
        masks |= zip(GAP_GROUPS, (~is_long, is_long), strict=True)
    return {name: metrics_of(records[mask]) for name, mask in masks.items()}


BINS: Final = 10


def has_probabilities(records: pd.DataFrame) -> bool:
    """Whether there are cases with probabilities; records of earlier versions and of some models have none."""
    return c.FIRST_PROBABILITY in records and len(records) > 0


def reliability_curve(records: pd.DataFrame) -> pd.DataFrame:
    """Cases by the probability of their first choice, in 10 equal-width bins. Returns ``low`` (the bin's lower end),
    ``n``, ``probability`` (mean) and ``right`` (share of first choices that came true), of the bins with cases.
    """
    probability = records[c.FIRST_PROBABILITY].to_numpy(np.float64)
    right = hit_rate(records[c.NUM_BETTER].to_numpy(np.int64), records[c.NUM_TIED].to_numpy(np.int64), 1)
    low = np.minimum(np.floor(probability * BINS), BINS - 1) / BINS
    table = pd.DataFrame({"low": low, "n": 1, "probability": probability, "right": right})
    return table.groupby("low", as_index=False).agg({"n": "sum", "probability": "mean", "right": "mean"})


def calibration_error(curve: pd.DataFrame) -> float:
    """Mean over cases of the distance between a bin's probability and how often it was right.

    >>> calibration_error(pd.DataFrame({"n": [3, 1], "probability": [0.2, 0.9], "right": [0.2, 0.5]}))
    0.1
    """
    away = (curve["probability"] - curve["right"]).abs()
    return float((away * curve["n"]).sum() / curve["n"].sum())


def summarise_probabilities(records: pd.DataFrame) -> dict[str, Any] | None:
    """``calibration_error``, ``log_likelihood`` (mean, nats), ``inside_90`` (share of truths inside the shortest list
    of first places that holds 90 % of the probability), ``list_90`` (its median length) and ``curve`` (rows of
    `reliability_curve`); None without probabilities.
    """
    if not has_probabilities(records):
        return None
    curve = reliability_curve(records)
    better, tied = records[c.NUM_BETTER].to_numpy(np.int64), records[c.NUM_TIED].to_numpy(np.int64)
    length = records[c.LIST_90].to_numpy(np.int64)
    return {
        "calibration_error": calibration_error(curve),
        "log_likelihood": float(records[c.LOG_LIKELIHOOD].mean()),
        "inside_90": float(np.clip((length - better) / tied, 0.0, 1.0).mean()),
        "list_90": float(np.median(length)),
        "curve": curve.to_dict(orient="records"),
    }
