"""Further habits by hand: visits by age, and places that are overdue."""

from math import exp, log, log1p

import pytest
import torch

from recap.evidence.config import EvidenceConfig, HabitsConfig
from recap.evidence.features import EvidenceFeatures
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.scores import CaseBatch
from tests.checkins import small_dataset

ROWS = [("ann", "home", 0.0), ("ann", "cafe", 3.0), ("ann", "home", 24.0), ("ann", "home", 36.0), ("ann", "cafe", 39.0)]
SCALES = HabitsConfig(decay_days=(1.0,), recency_days=(2.0,))


def found() -> dict[str, dict[str, float]]:
    """Features of home and café at the last check-in at home."""
    config = EvidenceConfig(habits=SCALES)
    dataset = small_dataset(ROWS)
    features = EvidenceFeatures.from_dataset(dataset, TransitionGraph.from_dataset(dataset), config)
    evidence = features.of(CaseBatch(CheckinTensors.from_dataset(dataset), torch.tensor([3])))
    places = [dataset.pois["poi_id"].iat[poi] for poi in evidence.poi_C.tolist()]
    return {
        place: dict(zip(config.packed_features, values, strict=True))
        for place, values in zip(places, evidence.packed_CF.tolist(), strict=True)
    }


def test_visits_by_hand() -> None:
    """The case stands at home, hour 36. Ages in days: home 1.5, .5 and 0; the café 33 hours."""
    home, cafe = found()["home"], found()["cafe"]
    assert home["visits_1_days"] == pytest.approx(log1p(5 * (exp(-1.5) + exp(-0.5) + 1)))
    assert (home["visits_ever"], cafe["visits_ever"]) == pytest.approx((log1p(15), log1p(5)))
    assert (home["recency_2_days"], cafe["recency_2_days"]) == pytest.approx((1.0, exp(-33 / 48)))


def test_regularity_by_hand() -> None:
    """Home: 0 days since the last visit, 1.5 / 2 between; compared to .02 days. The café was visited once: 0."""
    home, cafe = found()["home"], found()["cafe"]
    assert (home["overdue"], home["underdue"]) == pytest.approx((0, log(0.77 / 0.02)))
    assert (cafe["overdue"], cafe["underdue"]) == (0, 0)
