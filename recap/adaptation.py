"""What `pretrained` learns of a dataset in seconds: a factor on each curve, points of new places, a temperature.

Shape suffixes: N cases, B cases of a batch, C pairs of a case and a place, P POIs, F features.
"""

from typing import Final

import numpy as np
import torch
from pydantic import Field
from scipy.optimize import minimize
from torch import Tensor

from recap import columns as c
from recap.config import Config
from recap.data.cases import latest_cases
from recap.data.dataset import Dataset
from recap.device import one_thread
from recap.evaluation.cases import describe_cases, draw_cases
from recap.evaluation.temperature import fit_temperature, most_cases
from recap.features.catalogue import FEATURES
from recap.graph import TransitionGraph
from recap.history import CaseBatch, CheckinTensors
from recap.model.config import Stage
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.presets import feature_curves
from recap.probabilities import Temperature

LEAST_CASES: Final = 50
"""With fewer validation cases nothing is fitted."""
_MOST_CASES: Final = 1_000
"""Validation cases that are read; fewer where there are many places, see `most_cases`."""
_MOST_PAIRS: Final = 1 << 18
"""Of a training case and a place of the user's past: twice as many validate no better and take twice as long."""
_CASES_READ: Final = 256
"""Training cases whose features are computed at once."""
_CASES_SCORED: Final = 128
"""Validation cases that are scored at once."""
_FURTHEST: Final = 6.0
"""Points by which new places move at most."""


class Adaptation(Config):
    """The fitted numbers."""

    factors: list[float] = Field(
        min_length=len(FEATURES), max_length=len(FEATURES), description="On each curve, at least 0."
    )
    new_places: float = Field(ge=-_FURTHEST, le=_FURTHEST, description="Points of all places new to the user.")
    temperature: Temperature = Field(description="Turns scores into probabilities.")

    @classmethod
    def fit(cls, model: Recap, dataset: Dataset, graph: TransitionGraph) -> "Adaptation | None":
        """Fit one number after the other, each put into the model before the next; None, and the model as it was, with
        fewer than `LEAST_CASES` validation cases.
        """
        assert model.curves is not None
        if len(dataset.cases(c.VAL, "every_next")) < LEAST_CASES:
            return None
        factors = fit_factors(model, dataset)
        model.curves.curves.scale(factors)
        model.curves.new_places = fit_new_places(model, dataset)
        cases = describe_cases(dataset, graph, c.VAL, "every_next", most=min(_MOST_CASES, most_cases(dataset.num_pois)))
        temperature = fit_temperature(RecapScorer(model, Stage()), cases, CheckinTensors.from_dataset(dataset))
        assert temperature is not None
        return cls(factors=factors, new_places=model.curves.new_places, temperature=temperature)

    def put_into(self, model: Recap) -> None:
        """Give factors and points of new places to a model with the file's curves."""
        assert model.curves is not None
        model.curves.curves.scale(self.factors)
        model.curves.new_places = self.new_places


@one_thread()
def fit_factors(model: Recap, dataset: Dataset) -> list[float]:
    """Factor on each curve, at least 0: at the highest likelihood of training targets among the places of the user's
    past, times a standard Gaussian around 1. A conditional logit (McFadden 1974) whose regressors are the points of
    each curve. Read are the latest training cases, as trainings do, up to `_MOST_PAIRS` pairs, always the same.
    """
    point_CF, size_N, target_N = _points_of_past_places(model, dataset)
    if not len(size_N):  # nobody returns
        return [1.0] * len(FEATURES)
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

    start, bounds = np.ones(len(FEATURES)), [(0.0, None)] * len(FEATURES)
    found = minimize(surprise, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x.round(3).tolist()


def _points_of_past_places(model: Recap, dataset: Dataset) -> tuple[Tensor, np.ndarray, np.ndarray]:
    """Points of each curve at the places of the user's past (C, F), case after case; of each case the number of places
    and which is the target, (N,). Cases with a new target are left out.
    """
    assert model.curves is not None
    latest = latest_cases(dataset.checkins, dataset.cases(c.TRAIN, "every_next"), feature_curves().latest_share)
    row_N = torch.from_numpy(np.random.default_rng(0).permutation(latest))
    checkins = CheckinTensors.from_dataset(dataset)
    points, sizes, targets, pairs = [torch.zeros(0, len(FEATURES), dtype=torch.float64)], [], [], 0
    for row_B in row_N.split(_CASES_READ):
        batch = CaseBatch(checkins, row_B)
        with torch.inference_mode():
            values = model.curves.features_of(batch.histories())
            key_C = values.features.visits.key_C
            point_FC = model.curves.at_pairs(values, key_C)
        case_C = torch.div(key_C, dataset.num_pois, rounding_mode="floor")
        is_target_C = key_C == case_C * dataset.num_pois + batch.target_B[case_C]
        returns_B = torch.zeros(len(row_B), dtype=torch.bool).index_fill_(0, case_C[is_target_C], True)
        is_read_C = returns_B[case_C]
        size_B = case_C.bincount(minlength=len(row_B))
        place_C = torch.arange(len(key_C)) - (size_B.cumsum(0) - size_B)[case_C]
        points.append(point_FC.T[is_read_C])
        sizes.append(size_B[returns_B].numpy())
        targets.append(place_C[is_target_C].numpy())
        pairs += len(points[-1])
        if pairs > _MOST_PAIRS:
            break
    return torch.cat(points), np.concatenate(sizes), np.concatenate(targets)


def fit_new_places(model: Recap, dataset: Dataset) -> float:
    """Points of all places new to the user at the highest likelihood of known against new validation targets. Read is
    always the same sample.
    """
    checkins, odds, is_new = CheckinTensors.from_dataset(dataset), [], []
    rows = draw_cases(dataset.cases(c.VAL, "every_next"), min(_MOST_CASES, most_cases(dataset.num_pois)))
    for row_B in torch.from_numpy(rows).split(_CASES_SCORED):
        batch = CaseBatch(checkins, row_B)
        histories = batch.histories()
        with torch.inference_mode():
            total_BP = model(histories, Stage()).total
        known_BP = histories.known_places(dataset.num_pois)
        new_B, known_B = (total_BP.masked_fill(mask, -torch.inf).logsumexp(1) for mask in (known_BP, ~known_BP))
        odds.append(new_B - known_B)
        is_new.append(~known_BP.gather(1, batch.target_B[:, None])[:, 0])
    odds_N, new = torch.cat(odds), float(torch.cat(is_new).sum())
    low, high = -_FURTHEST, _FURTHEST
    while high - low > 1e-3:  # the expected number of new targets rises with the shift
        middle = (low + high) / 2
        low, high = (middle, high) if float(torch.sigmoid(odds_N + middle).sum()) < new else (low, middle)
    return round((low + high) / 2, 2)
