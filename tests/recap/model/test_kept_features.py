"""Features kept for training: what is read back is what would be computed."""

import pytest
import torch

from recap import columns as c
from recap.history import Histories
from recap.model.curve_prior import CurvePrior
from recap.model.kept_features import KeptFeatures
from tests.worlds import CURVES, batch_of, small_city, small_recap

CITY = small_city()
ROWS = torch.from_numpy(CITY.cases(c.TRAIN))
CASES = batch_of(CITY, ROWS)


def prior() -> CurvePrior:
    """Curves with knots and slopes."""
    curves = small_recap(CITY, **CURVES).curves
    assert curves is not None
    return curves


@pytest.mark.parametrize("most_distances", [0, 100_000_000])
def test_kept_features_equal_computed_ones(monkeypatch: pytest.MonkeyPatch, most_distances: int) -> None:
    """Any batch, in any order, a case twice, distances kept or not: the same places, scores and gradients."""
    monkeypatch.setattr("recap.model.kept_features._MOST_DISTANCES", most_distances)
    curves = prior()
    kept = KeptFeatures.of(curves, CASES)
    assert kept is not None and (kept.distance_PP is None) == (most_distances == 0)
    for index in (torch.tensor([0]), torch.tensor([5, 3, 5, len(ROWS) - 1]), torch.arange(len(ROWS))):
        batch = Histories(CASES.checkins, ROWS[index])
        read, computed = kept.take(batch, index), curves.features_of(batch)
        for one, other in zip(read.features.sparse, computed.features.sparse, strict=True):
            assert torch.equal(one.key_C, other.key_C)
        scores, gradients = [], []
        for values in (read, computed):
            total_BP = curves(values)
            total_BP.logsumexp(1).sum().backward()
            gradient = curves.curves.step_FK.grad
            assert gradient is not None
            scores.append(total_BP.detach())
            gradients.append(gradient.clone())
            curves.curves.step_FK.grad = None
        assert torch.equal(*scores)
        assert torch.equal(*gradients) and gradients[0].abs().sum() > 0


def test_the_gradient_of_every_place_is_that_of_single_pairs() -> None:
    """Over all places at once, or pair by pair: the same scores and the same gradient of each increment."""
    curves = prior()
    batch = Histories(CASES.checkins, ROWS[::7])
    values = curves.features_of(batch)
    key_I = torch.arange(len(batch) * values.features.num_pois)
    weight_I = torch.randn(len(key_I), generator=torch.Generator().manual_seed(1), dtype=curves.curves.step_FK.dtype)
    scores, gradients = [], []
    for score_I in (curves(values).view(-1), curves.at_pairs(values, key_I).sum(0)):
        (score_I * weight_I).sum().backward()
        gradient = curves.curves.step_FK.grad
        assert gradient is not None
        scores.append(score_I.detach())
        gradients.append(gradient.clone())
        curves.curves.step_FK.grad = None
    torch.testing.assert_close(*scores)
    torch.testing.assert_close(*gradients)


def test_too_many_features_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then every batch computes its own."""
    monkeypatch.setattr("recap.model.kept_features._MOST_BYTES", 1000)
    assert KeptFeatures.of(prior(), CASES) is None
