"""Fit a model's temperature to validation cases, so that its probabilities can be believed.

Shape suffixes: N cases, B cases of a batch, K temperatures.
"""

from typing import Final

import numpy as np
import pandas as pd
import torch
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize

from recap.evaluation.scoring import scored_batches
from recap.history.tensors import CheckinTensors
from recap.probabilities import Temperature, entropy
from recap.scores import Scorer

FEWEST: Final = 50
_MOST_CASES: Final = 4_000
_MOST_SCORES: Final = 1 << 28
_LEVEL_K: Final = np.linspace(-1.0, 1.0, 9)
"""Log temperatures at which each case's normaliser is computed; between them a cubic spline is exact to 1e-4."""
_START: Final = [[0.0, 0.0], [0.2, 0.0], [0.0, 0.1]]


def most_cases(num_pois: int) -> int:
    """How many validation cases are read, so that time does not grow with places."""
    return max(FEWEST, min(_MOST_CASES, _MOST_SCORES // num_pois))


def fit_temperature(scorer: Scorer, cases: pd.DataFrame, checkins: CheckinTensors) -> Temperature | None:
    """The temperature with the highest likelihood of the cases' targets; None for fewer than 50 cases. ``cases``:
    validation cases of protocol ``every_next``; ``checkins``: the dataset's tensors, on the scorer's device.
    """
    if len(cases) < FEWEST:
        return None
    pieces = []
    for batch, scores, _ in scored_batches(scorer, cases, checkins):
        log_BP = torch.log_softmax(scores.total.double(), 1)
        small_BP = log_BP.float()
        normaliser_BK = [torch.logsumexp(small_BP * float(np.exp(-level)), 1) for level in _LEVEL_K]
        target_B = log_BP.gather(1, batch.target_B[:, None])[:, 0]
        columns = [entropy(log_BP), target_B, *(column_B.double() for column_B in normaliser_BK)]
        pieces.append(torch.stack(columns, 1).cpu().numpy())
        del scores, log_BP, small_BP
    entropy_N, target_N, *normaliser_KN = np.concatenate(pieces).T
    cubic_4KN = CubicSpline(_LEVEL_K, np.stack(normaliser_KN)).c
    case_N = np.arange(len(cases))

    def surprise(numbers: np.ndarray) -> float:
        level_N = np.clip(numbers[0] + numbers[1] * entropy_N, -1, 1)
        at_N = np.clip(np.searchsorted(_LEVEL_K, level_N) - 1, 0, len(_LEVEL_K) - 2)
        normaliser_N = np.polyval(cubic_4KN[:, at_N, case_N], level_N - _LEVEL_K[at_N])
        return float((normaliser_N - np.exp(-level_N) * target_N).mean())

    options = {"initial_simplex": _START, "xatol": 1e-4}
    minimum = minimize(surprise, _START[0], method="Nelder-Mead", bounds=[(-1, 1)] * 2, options=options)
    a, b = minimum.x.tolist()
    return Temperature(a=a, b=b)
