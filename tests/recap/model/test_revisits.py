"""Revisit prior and calibration: arithmetic by hand, bounds for any weights, switches (Eqs. 9-13, 20-24)."""

from math import exp, log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recap.history.tensors import RevisitCandidates
from recap.model.config import MAX_PRIOR, PriorConfig, Stage
from recap.model.revisit_prior import RevisitPrior
from tests.worlds import batch_of, shake, small_city, small_recap


def candidates(*visits: tuple[int, int, bool]) -> RevisitCandidates:
    """Candidates of one case from (count, steps since the last visit, in the recent window)."""
    count, steps, recent = (torch.tensor(column) for column in zip(*visits, strict=True))
    index = torch.arange(len(visits))
    return RevisitCandidates(torch.zeros_like(index), index, index, count, steps, recent)


def prior_of(*, switches: dict[str, bool] | None = None, tau: float = 10.0, **values: float) -> RevisitPrior:
    """A prior with given weights and time scale."""
    prior = RevisitPrior(PriorConfig(**(switches or {}))).double()
    with torch.no_grad():
        prior.log_recency_steps.fill_(log(tau))
        for name, value in values.items():
            getattr(prior, name).fill_(value)
    return prior


def test_terms_by_hand() -> None:
    """lambda = 2, w = (1, 3, 0.5), tau = 4: three visits, the last 4 steps ago, recent: 2 log 4 + 6 / e + 1."""
    prior = prior_of(scale=2.0, count_weight=1.0, recency_weight=3.0, window_weight=0.5, tau=4.0)
    terms = prior(candidates((3, 4, True), (1, 8, False)))
    torch.testing.assert_close(terms.count_C.tolist(), [2 * log(4), 2 * log(2)], rtol=1e-7, atol=0)
    torch.testing.assert_close(terms.recency_C.tolist(), [6 * exp(-1), 6 * exp(-2)], rtol=1e-6, atol=0)
    assert terms.window_C.tolist() == [1.0, 0.0]
    assert terms.clip_loss_C.tolist() == [0.0, 0.0]
    assert terms.prior_C[0].item() == pytest.approx(2 * log(4) + 6 / exp(1) + 1, rel=1e-6)


def test_clips_at_both_bounds_and_says_what_it_took() -> None:
    """b_max = 10: a raw 20 log 2 = 13.9 loses 3.9; a raw -5 log 2 is lifted to 0, a loss of -3.47."""
    for weight, prior, loss in ((20.0, 10.0, 20 * log(2) - 10), (-5.0, 0.0, -5 * log(2)), (1.0, log(2), 0.0)):
        terms = prior_of(count_weight=weight, recency_weight=0.0, window_weight=0.0)(candidates((1, 1, False)))
        assert terms.prior_C.item() == pytest.approx(prior, rel=1e-6)
        assert terms.clip_loss_C.item() == pytest.approx(loss, rel=1e-6, abs=1e-12)


weights = st.floats(-20, 20)
visits = st.lists(st.tuples(st.integers(1, 500), st.integers(1, 5000), st.booleans()), min_size=1, max_size=8)


@given(visits, weights, weights, weights, weights, st.floats(0.1, 1000))
def test_bounded_and_exactly_the_sum_of_its_terms(
    past: list[tuple[int, int, bool]], scale: float, count: float, recency: float, window: float, tau: float
) -> None:
    """For any weights and histories: 0 <= R <= b_max, and R = count + recency + window - clip_loss."""
    prior = prior_of(scale=scale, count_weight=count, recency_weight=recency, window_weight=window, tau=tau)
    terms = prior(candidates(*past))
    assert bool((terms.prior_C >= 0).all()) and bool((terms.prior_C <= MAX_PRIOR).all())
    raw_C = terms.count_C + terms.recency_C + terms.window_C
    torch.testing.assert_close(raw_C - terms.clip_loss_C, terms.prior_C, rtol=1e-12, atol=1e-11)
    inside = (raw_C >= 0) & (raw_C <= MAX_PRIOR)
    assert terms.clip_loss_C[inside].abs().sum().item() == 0


def test_the_time_scale_stays_positive() -> None:
    """tau is learned as its logarithm: however far that falls, recency fades and never explodes."""
    prior = prior_of(count_weight=0.0, window_weight=0.0)
    with torch.no_grad():
        prior.log_recency_steps.fill_(-30.0)
    assert prior(candidates((1, 1, False))).recency_C.item() == 0.0


@settings(max_examples=25)
@given(st.floats(0.01, 100), st.integers(0, 9))
def test_the_gate_is_signed_and_bounded(spread: float, seed: int) -> None:
    """For weights of any size -1 <= gamma <= 1, and |Delta| <= |lambda_corr| R (Eqs. 12-13)."""
    model = small_recap(small_city(), seed)
    assert model.calibration is not None
    shake(model.calibration, seed, spread)
    batch = batch_of(small_city(), torch.arange(5, 25))
    with torch.inference_mode():
        parts = model.revisit(batch, Stage(), model.encode(batch, Stage()))
    assert parts is not None and parts.gate_C is not None and parts.correction_C is not None
    assert bool((parts.gate_C.abs() <= 1).all())
    scale = model.calibration.scale.detach()
    assert bool((parts.correction_C.abs() <= scale.abs() * parts.terms.prior_C * (1 + 1e-12)).all())
    torch.testing.assert_close(parts.correction_C, scale * parts.gate_C * parts.terms.prior_C, rtol=1e-12, atol=0)


def test_rows_of_zeros_in_bf16_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gates, corrections and gradients are those without padding."""
    dataset = small_city()
    batch = batch_of(dataset)
    found: list[tuple[torch.Tensor, ...]] = []
    for rows in (1, 64):
        monkeypatch.setattr("recap.model.recap._BF16_ROWS", rows)
        model = small_recap(dataset, dtype=torch.float32).eval()
        shake(model)
        with torch.autocast("cpu", torch.bfloat16):
            state_BD = model.encode(batch, Stage())
            parts = model.revisit(batch, Stage(), state_BD)
        assert parts is not None and parts.gate_C is not None and parts.correction_C is not None
        assert len(parts.gate_C) == len(parts.candidates.case_C)
        assert rows == 1 or len(parts.gate_C) % rows
        parts.correction_C.sum().backward()
        assert model.poi_embedding.weight.grad is not None
        found.append((parts.gate_C, parts.correction_C, model.poi_embedding.weight.grad))
    for plain, padded in zip(*found, strict=True):
        torch.testing.assert_close(padded, plain, rtol=2e-2, atol=2e-3)
