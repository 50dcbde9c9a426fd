"""Learned curves by hand, against numpy's interpolation and finite differences; features kept for training."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from recap import columns as c
from recap.features.catalogue import FEATURES, WHENEVER, Feature, FeatureSet
from recap.features.values import Features
from recap.history.tensors import Histories
from recap.model.curve_prior import CurvePrior
from recap.model.curves import INTERVALS, Curves, quantile_knots
from recap.model.kept_features import KeptFeatures
from tests.worlds import CURVES, batch_of, small_city, small_recap

FEW = Feature("few", "past visits", "visits", "of few places")
EVERY = Feature("every", "popularity and distance", "km", "of every place", everywhere=True)
numbers = st.integers(1, 4000).map(lambda number: number / 8)


def set_of(*features: Feature) -> FeatureSet:
    visited = tuple(feature for feature in features if feature in WHENEVER.visited)
    new = tuple(feature for feature in features if feature.everywhere)
    return FeatureSet(visited, tuple(feature for feature in features if feature not in (*visited, *new)), new)


def curves_of(values: list[list[float]], steps: list[list[float]], *features: Feature) -> Curves:
    """Curves with knots from values, and increments between them."""
    curves = Curves(set_of(*features)).double()
    curves.place_knots([torch.tensor(value, dtype=torch.float64) for value in values])
    with torch.no_grad():
        for row, step in enumerate(steps):
            curves.step_FK[row, : len(step)] = torch.tensor(step)
    return curves


def at(curves: Curves, *values: float) -> list[float]:
    """The first curve at values."""
    found: list[float] = curves(torch.tensor([values], dtype=torch.float64), slice(0, 1))[0].tolist()
    return found


def test_a_curve_by_hand() -> None:
    """Present values 1, 2 and 4, points +1 for being there, +2 to two, -1 to four: halfway is halfway, outside flat."""
    curves = curves_of([[1.0, 2.0, 2.0, 4.0]], [[1.0, 2.0, -1.0]], FEW)
    assert curves.knot_FK1[0, :4].tolist() == [0.0, 1.0, 2.0, 4.0] and not curves.knot_FK1[0, 4:].isfinite().any()
    assert at(curves, 0, 0.5, 1, 1.5, 2, 3, 4, 9, 1e6) == [0, 0.5, 1, 2, 3, 2.5, 2, 2, 2]
    assert curves.levels[0, :5].tolist() == [0, 1, 3, 2, 2]


def test_of_what_every_place_has_the_lowest_value_scores_nothing() -> None:
    """Values 3, 5, 7: 0 at 3 and below, however low."""
    curves = curves_of([[3.0, 5.0, 7.0]], [[1.0, 1.0]], EVERY)
    assert at(curves, -8, 0, 3, 4, 5, 7, 8) == [0, 0, 0, 0.5, 1, 2, 2]


@pytest.mark.parametrize(("values", "feature"), [([], FEW), ([], EVERY), ([2.0], EVERY), ([2.0] * 9, EVERY)])
def test_without_two_values_a_curve_is_flat_at_zero(values: list[float], feature: Feature) -> None:
    """Whatever its increments are: no number of a feature with one value, or none, says anything."""
    curves = curves_of([values], [[5.0] * INTERVALS], feature)
    assert at(curves, -1, 0, 1, 2, 3, 1e9) == [0] * 6
    assert curves.roughness().item() == 0


@given(st.lists(numbers, max_size=60), st.booleans())
def test_knots_are_distinct_quantiles(values: list[float], from_zero: bool) -> None:
    """Ascending, at most eleven, values that occur, from the lowest to the highest; then padded with infinity."""
    knots = quantile_knots(torch.tensor(values, dtype=torch.float64), from_zero=from_zero)
    finite = knots[knots.isfinite()].tolist()
    assert len(knots) == INTERVALS + 1 and knots.tolist()[len(finite) :] == [math.inf] * (INTERVALS + 1 - len(finite))
    assert finite == sorted(set(finite)) and set(finite) <= {0.0, *values}
    if values:
        assert finite[0] == (0.0 if from_zero else min(values))
        gap = 1e-5 * (max(values) - (0.0 if from_zero else min(values)))
        assert finite[-1] == pytest.approx(max(values), abs=2 * gap)


@given(
    st.lists(st.lists(numbers, min_size=1, max_size=40), min_size=1, max_size=3),
    st.lists(st.floats(-1500, 1500), min_size=1, max_size=30),
    st.integers(0, 9),
)
def test_a_curve_is_numpys_interpolation(values: list[list[float]], where: list[float], seed: int) -> None:
    """Between knots a straight line, outside them flat, for any knots and increments."""
    generator = torch.Generator().manual_seed(seed)
    curves = curves_of(values, [], *[FEW, EVERY, FEW][: len(values)])
    with torch.no_grad():
        curves.step_FK.copy_(torch.randn(curves.step_FK.shape, generator=generator))
    where_FN = torch.tensor(where, dtype=torch.float64).expand(len(values), -1)
    for row, found_N in enumerate(curves(where_FN)):
        knots = curves.knot_FK1[row][curves.knot_FK1[row].isfinite()]
        expected = np.interp(where, knots, curves.levels[row, : len(knots)].detach())
        np.testing.assert_allclose(found_N.detach(), expected, rtol=1e-9, atol=1e-9)


def test_gradients_are_those_of_finite_differences() -> None:
    """In float64, of values inside intervals, at knots and outside, in two curves at once."""
    curves = curves_of([[1.0, 2.0, 4.0], [3.0, 5.0, 6.0, 9.0]], [[0.3, -0.2, 1.0], [0.5, 0.1, -2.0]], FEW, EVERY)
    value_FN = torch.tensor([[0.0, 0.4, 1.0, 1.7, 4.0, 8.0], [1.0, 3.0, 4.4, 6.0, 8.9, 20.0]], dtype=torch.float64)

    def points(step_FK: Tensor) -> Tensor:
        with torch.no_grad():
            curves.step_FK.copy_(step_FK)
        weight_FN = torch.arange(12.0, dtype=torch.float64).view(2, 6) - 4
        return (curves(value_FN).square() * weight_FN).sum()

    step_FK = curves.step_FK.detach().clone()
    loss = points(step_FK)
    (gradient,) = torch.autograd.grad(loss, curves.step_FK)
    for row in range(2):
        for interval in range(INTERVALS):
            small = torch.zeros_like(step_FK)
            small[row, interval] = 1e-6
            slope = (points(step_FK + small) - points(step_FK - small)).item() / 2e-6
            assert gradient[row, interval].item() == pytest.approx(slope, abs=1e-7)
    assert gradient[:, :3].all() and not gradient[:, 3:].any()


def test_a_curve_that_is_off_stays_at_zero_and_learns_nothing() -> None:
    curves = Curves(set_of(EVERY, EVERY), [False, True]).double()
    curves.place_knots([torch.arange(5.0), torch.arange(5.0)])
    torch.nn.init.ones_(curves.step_FK)
    points_FN = curves(torch.tensor([[3.0], [3.0]], dtype=torch.float64))
    (gradient,) = torch.autograd.grad(points_FN.sum(), curves.step_FK)
    assert points_FN.tolist() == [[0.0], [3.0]] and not gradient[0].any() and gradient[1].any()
    assert not curves.levels[0].any()


def test_roughness_by_hand() -> None:
    """Knots 0 (absent), 1, 2, 4: slopes 2 and -1/2 a unit over a range of 3; the jump to 1 costs nothing.

    Slopes over the range are 6 and -1.5, a difference of 7.5 in ten intervals: 0.75 squared. A line costs nothing, and
    a curve that new places have a tenth.
    """
    curves = curves_of([[1.0, 2.0, 4.0]], [[9.0, 2.0, -1.0]], WHENEVER.visited[0])
    assert curves.roughness().item() == pytest.approx(0.75**2)
    curves = curves_of([[1.0, 2.0, 4.0]], [[9.0, 2.0, -1.0]], FEW)
    assert curves.roughness().item() == pytest.approx(0.1 * 0.75**2)
    assert curves_of([[1.0, 2.0, 4.0]], [[9.0, 2.0, 4.0]], FEW).roughness().item() == pytest.approx(0)
    # Of what every place has the first interval is a slope like any other: 9, 2 and -1 over widths 1, 1 and 2.
    rough = curves_of([[0.0, 1.0, 2.0, 4.0]], [[9.0, 2.0, -1.0]], EVERY).roughness().item()
    assert rough == pytest.approx(0.1 * (((4 * (2 - 9)) / 10) ** 2 + ((4 * (-0.5 - 2)) / 10) ** 2))


@given(st.sampled_from(list(FEATURES.values())), st.floats(0.0, 500.0))
def test_units_come_back(feature: Feature, amount: float) -> None:
    """From a feature's unit to its value and back; a place never visited has 0 of everything."""
    assert feature.in_unit(feature.from_unit(amount)) == pytest.approx(amount, rel=1e-9, abs=1e-12)
    assert feature.in_unit(0.0) == 0.0


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
    kept = KeptFeatures.compute(curves, CASES)
    assert kept is not None and (kept.distance_PP is None) == (most_distances == 0)
    for index in (torch.tensor([0]), torch.tensor([5, 3, 5, len(ROWS) - 1]), torch.arange(len(ROWS))):
        batch = Histories(CASES.checkins, ROWS[index])
        read, computed = kept.take(batch, index), curves.features_of(batch)
        for one, other in zip(read.features.sparse, computed.features.sparse, strict=True):
            assert torch.equal(one.key_C, other.key_C)
        scores, gradients = [], []
        for values in (read, computed):
            total_BP = curves(values)
            scores.append(total_BP.detach())
            gradients.append(torch.autograd.grad(total_BP.logsumexp(1).sum(), curves.curves.step_FK)[0])
        assert torch.equal(*scores)
        assert torch.equal(*gradients) and gradients[0].abs().sum() > 0


def test_kept_features_stay_on_the_device_of_the_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """A training on a card begins with features on the processor; what is kept holds the moved ones. Where they are too
    many none are kept: every batch computes its own.
    """
    monkeypatch.setattr(Features, "device", torch.device("meta"))  # so that computing features moves them
    kept = KeptFeatures.compute(curves := prior(), CASES)
    assert kept is not None and kept.places is curves.features.places
    monkeypatch.setattr("recap.model.kept_features._MOST_BYTES", 1000)
    assert KeptFeatures.compute(curves, CASES) is None


def test_the_gradient_of_every_place_is_that_of_single_pairs() -> None:
    """Over all places at once, or pair by pair: the same scores and the same gradient of each increment."""
    curves = prior()
    batch = Histories(CASES.checkins, ROWS[::7])
    values = curves.features_of(batch)
    key_I = torch.arange(len(batch) * values.features.num_pois)
    weight_I = torch.randn(len(key_I), generator=torch.Generator().manual_seed(1), dtype=curves.curves.step_FK.dtype)
    scores, gradients = [], []
    for score_I in (curves(values).view(-1), curves.at_pairs(values, key_I).sum(0)):
        scores.append(score_I.detach())
        gradients.append(torch.autograd.grad((score_I * weight_I).sum(), curves.curves.step_FK)[0])
    torch.testing.assert_close(*scores)
    torch.testing.assert_close(*gradients)
