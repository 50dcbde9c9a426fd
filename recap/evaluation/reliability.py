"""How far probabilities can be believed: calibration, likelihood, and lists that hold 90 %."""

from typing import Any, Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.evaluation.metrics import hit_rate

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
