"""What `pretrained` learns of a dataset in seconds: a factor on each curve, points of new places, a temperature.

Shape suffixes: N cases, B cases of a batch, C pairs of a case and a place, P POIs, F features.
"""

from typing import Annotated, Final

import numpy as np
import pandas as pd
import torch
from pydantic import Field
from scipy.optimize import minimize
from torch import Tensor

from recap import columns as c
from recap.config import Config
from recap.data.cases import latest_cases
from recap.data.dataset import Dataset
from recap.evaluation.cases import describe_cases
from recap.evaluation.scoring import bounded_batches, scored_batches
from recap.evaluation.temperature import fit_temperature, most_cases
from recap.features.catalogue import GIVEN_TIME
from recap.history.graph import TransitionGraph
from recap.history.tensors import CaseBatch, CheckinTensors
from recap.history.visits import Visits
from recap.machine.device import one_thread
from recap.model.config import Stage
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.presets import feature_curves
from recap.probabilities import Temperature

LEAST_CASES: Final = 50
"""With fewer validation cases nothing is fitted."""
_MOST_CASES: Final = 1_000
"""Validation cases that are read; fewer where there are many places (`most_cases`) or long pasts."""
_MOST_PAIRS: Final = 1 << 18
"""Of a training case and a place of the user's past: twice as many validate no better and take twice as long."""
_MOST_CHECKINS: Final = 1 << 22
"""In the pasts of these cases, each counted with every case that has it."""
_FURTHEST: Final = 6.0
"""Points by which new places move at most."""
_LARGEST: Final = 100.0
"""Of the factors."""
_Factor = Annotated[float, Field(ge=0.0, le=_LARGEST)]


class Adaptation(Config):
    """The fitted numbers."""

    factors: list[_Factor] = Field(min_length=1, max_length=len(GIVEN_TIME), description="On each curve.")
    new_places: float = Field(ge=-_FURTHEST, le=_FURTHEST, description="Points of all places new to the user.")
    temperature: Temperature = Field(description="Turns scores into probabilities.")

    @classmethod
    def fit(cls, model: Recap, dataset: Dataset, graph: TransitionGraph) -> "Adaptation | None":
        """Fit one number after the other, each put into the model before the next; None, and the model as it was, with
        fewer than `LEAST_CASES` validation cases.
        """
        assert model.curves is not None
        if not can_fit(dataset):
            return None
        rows = dataset.cases(c.VAL, "every_next")
        factors = fit_factors(model, dataset)
        model.curves.curves.scale(factors)
        mean_past = float((rows - Visits.of(dataset).first_T[rows] + 1).mean())
        most = max(LEAST_CASES, min(_MOST_CASES, most_cases(dataset.num_pois), int(_MOST_CHECKINS / mean_past)))
        cases = describe_cases(dataset, graph, c.VAL, "every_next", most=most)
        of_cases = RecapScorer(model, Stage()), cases, CheckinTensors.from_dataset(dataset)
        model.curves.new_places = fit_new_places(*of_cases)
        temperature = fit_temperature(*of_cases)
        assert temperature is not None
        return cls(factors=factors, new_places=model.curves.new_places, temperature=temperature)

    def put_into(self, model: Recap) -> None:
        """Give factors and points of new places to a model with the file's curves."""
        assert model.curves is not None
        model.curves.curves.scale(self.factors)
        model.curves.new_places = self.new_places


def can_fit(dataset: Dataset) -> bool:
    """Whether a dataset has enough validation cases to fit anything to."""
    return len(dataset.cases(c.VAL, "every_next")) >= LEAST_CASES


@one_thread()
def fit_factors(model: Recap, dataset: Dataset) -> list[float]:
    """Factor on each curve, at least 0: at the highest likelihood of training targets among the places of the user's
    past, times a standard Gaussian around 1. A conditional logit (McFadden 1974) whose regressors are the points of
    each curve. Read are the latest training cases, as in trainings, up to `_MOST_PAIRS` and `_MOST_CHECKINS`.
    """
    assert model.curves is not None
    row_N = _latest_returns(dataset)
    if not len(row_N):
        return [1.0] * len(model.curves.of)
    point_CF, size_N, target_N = _points_of_past_places(model, dataset, row_N)
    first_N = np.cumsum(size_N) - size_N
    of_targets_F = point_CF[first_N + target_N].sum(0).numpy()

    def surprise(factor_F: np.ndarray) -> tuple[float, np.ndarray]:
        score_C = (point_CF @ torch.from_numpy(factor_F)).numpy()
        high_N = np.maximum.reduceat(score_C, first_N)
        share_C = np.exp(score_C - np.repeat(high_N, size_N))
        total_N = np.add.reduceat(share_C, first_N)
        share_C /= np.repeat(total_N, size_N)
        away_F = factor_F - 1.0
        value = (high_N + np.log(total_N)).sum() - of_targets_F @ factor_F + 0.5 * away_F @ away_F
        return float(value), (torch.from_numpy(share_C) @ point_CF).numpy() - of_targets_F + away_F

    start, bounds = np.ones(len(model.curves.of)), [(0.0, _LARGEST)] * len(model.curves.of)
    minimum = minimize(surprise, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return minimum.x.round(3).tolist()


def _points_of_past_places(model: Recap, dataset: Dataset, row_N: np.ndarray) -> tuple[Tensor, np.ndarray, np.ndarray]:
    """Points of each curve at the places of the user's past (C, F), case after case; of each case the number of places
    and which is the target, (N,).
    """
    assert model.curves is not None
    checkins = CheckinTensors.from_dataset(dataset)
    points, sizes, targets = [], [], []
    for row_B in bounded_batches(torch.from_numpy(row_N), checkins):
        batch = CaseBatch(checkins, row_B)
        with torch.inference_mode():
            values = model.curves.features_of(batch.histories(target_time=model.config.reads_target_time))
            key_C = values.features.visits.key_C
            points.append(model.curves.at_pairs(values, key_C).T)
        case_C = torch.div(key_C, dataset.num_pois, rounding_mode="floor")
        size_B = case_C.bincount(minlength=len(row_B))
        place_C = torch.arange(len(key_C)) - (size_B.cumsum(0) - size_B)[case_C]
        targets.append(place_C[key_C == case_C * dataset.num_pois + batch.target_B[case_C]])
        sizes.append(size_B)
    return torch.cat(points), torch.cat(sizes).numpy(), torch.cat(targets).numpy()


def _latest_returns(dataset: Dataset) -> np.ndarray:
    """Rows of the latest training cases with a target that the user knows, always the same sample."""
    visits = Visits.of(dataset)
    latest = latest_cases(dataset.checkins, dataset.cases(c.TRAIN, "every_next"), feature_curves().latest_share)
    row_N = np.random.default_rng(0).permutation(latest)
    row_N = row_N[visits.visit_number_T[row_N + 1] > 1]
    first_N, places_T = visits.first_T[row_N], np.cumsum(visits.visit_number_T == 1)
    pairs_N, past_N = np.cumsum(places_T[row_N] - places_T[first_N] + 1), np.cumsum(row_N - first_N + 1)
    return row_N[(pairs_N <= _MOST_PAIRS) & (past_N <= _MOST_CHECKINS)]


def fit_new_places(scorer: RecapScorer, cases: pd.DataFrame, checkins: CheckinTensors) -> float:
    """Points of all places new to the user at the highest likelihood of known against new targets of the cases."""
    odds, is_new = [], []
    for batch, scores, _ in scored_batches(scorer, cases, checkins):
        known_BP = batch.histories().known_places(scores.total.shape[1])
        new_B, known_B = (scores.total.masked_fill(mask, -torch.inf).logsumexp(1) for mask in (known_BP, ~known_BP))
        odds.append(new_B - known_B)
        is_new.append(~known_BP.gather(1, batch.target_B[:, None])[:, 0])
    odds_N, new = torch.cat(odds), float(torch.cat(is_new).sum())
    low, high = -_FURTHEST, _FURTHEST
    while high - low > 1e-3:  # the expected number of new targets rises with the shift
        middle = (low + high) / 2
        low, high = (middle, high) if float(torch.sigmoid(odds_N + middle).sum()) < new else (low, middle)
    return round((low + high) / 2, 2)
