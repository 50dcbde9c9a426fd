"""The revisit prior: arithmetic by hand, its bounds for any weights, its switches (Eq. 9)."""

from math import exp, log

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recap.history import RevisitCandidates
from recap.model.config import MAX_PRIOR, PriorConfig
from recap.model.revisit_prior import RevisitPrior


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
