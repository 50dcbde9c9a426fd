"""Shares against how often they are right: bins by hand, temperature by law, a table a reader can redo."""

from pathlib import Path

import numpy as np
import pytest
import torch

from analysis.records.reliability import (
    NUM_BINS,
    Reliability,
    calibration_error,
    keep_reliability,
    kept_reliability,
    measure_reliability,
    reliability_bins,
    reliability_key,
    top_share,
)
from recap import columns as c
from tests.analysis.planted import small_predictor


def test_bins_by_hand() -> None:
    """Shares .15 and .17 with one of two right, 1.0 right: ECE = 2/3 x |.5 - .16| + 1/3 x 0."""
    bins = reliability_bins(np.array([0.15, 0.17, 1.0]), np.array([True, False, True]), 1.0)
    assert len(bins) == NUM_BINS and [entry.n for entry in bins] == [0, 2, *[0] * 7, 1]
    assert (bins[1].share, bins[1].right) == (pytest.approx(0.16), 0.5) and bins[0].share is None
    assert (bins[9].share, bins[9].right) == (1.0, 1.0)
    assert calibration_error(bins) == pytest.approx(2 / 3 * 0.34)
    assert calibration_error(reliability_bins(np.zeros(0), np.zeros(0, dtype=bool), 1.0)) == 0.0


def test_the_share_is_the_softmax_of_divided_totals() -> None:
    """Totals 2, 0, 0 at temperature 2: e / (e + 2); a higher temperature makes shares smaller."""
    total_BP = torch.tensor([[2.0, 0.0, 0.0]], dtype=torch.float64)
    assert float(top_share(total_BP, 2.0)) == pytest.approx(np.e / (np.e + 2))
    assert float(top_share(total_BP, 1.0)) == pytest.approx(float(torch.softmax(total_BP[0], 0)[0]))


def test_a_model_is_measured_over_its_test_cases() -> None:
    """n, accuracy and shares are those of the scores; the fitted temperature has no larger log loss than 1."""
    predictor = small_predictor()
    measured = measure_reliability(predictor)
    total = predictor.score(predictor.batch(predictor.cases[c.ROW].tolist())).total
    right = (total.argmax(1).numpy() == predictor.cases[c.TARGET].to_numpy()).mean()
    assert measured.n == len(predictor.cases) == sum(entry.n for entry in measured.as_shown)
    assert sum(entry.n * (entry.right or 0) for entry in measured.as_shown) / measured.n == pytest.approx(right)
    mean_share = sum(entry.n * (entry.share or 0) for entry in measured.as_shown) / measured.n
    assert mean_share == pytest.approx(float(torch.softmax(total, 1).max(1).values.mean()))
    validation = predictor.cases_of(c.VAL)
    scores = predictor.score(predictor.batch(validation[c.ROW].tolist())).total
    target = torch.tensor(validation[c.TARGET].to_numpy())

    def loss(temperature: float) -> float:
        return float(torch.nn.functional.cross_entropy(scores / temperature, target))

    assert loss(measured.temperature) <= loss(1.0) + 1e-6
    assert loss(measured.temperature) <= min(loss(0.9 * measured.temperature), loss(1.1 * measured.temperature))


def test_kept_bins_are_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the bundle or the cache, empty bins too; None where nothing was measured."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "home"))
    bins = reliability_bins(np.array([0.15, 0.17, 1.0]), np.array([True, False, True]), 1.0)
    warmer = reliability_bins(np.array([0.1, 0.1, 0.9]), np.array([True, False, True]), 1.5)
    measured = Reliability(n=3, temperature=1.5, bins=[*bins, *warmer])
    key = reliability_key("d" * 64, "c" * 64)
    assert kept_reliability("d" * 64, "c" * 64, bundle=tmp_path) is None
    keep_reliability(measured, key.shipped_in(tmp_path), key)
    assert kept_reliability("d" * 64, "c" * 64, bundle=tmp_path) == measured
