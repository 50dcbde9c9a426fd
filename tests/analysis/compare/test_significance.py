"""Sign flips equal scipy's permutation test, enumerated or sampled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from analysis.compare.significance import EXACT_USERS, SignFlips


def enumerated(sums: np.ndarray) -> float:
    """Scipy's p over all 2^U flips."""
    one = (sums[:, 0],)
    return stats.permutation_test(one, np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=True).pvalue


@given(st.data())
def test_enumerated_sign_flips_are_scipys_permutation_test(data: st.DataObject) -> None:
    """On at most 12 users the p is that of `scipy.stats.permutation_test` over all 2^U flips, idle users included."""
    users = data.draw(st.integers(2, EXACT_USERS))
    sums = data.draw(arrays(np.float64, (users, 1), elements=st.integers(-3, 3).map(float)))
    p, exact = SignFlips(users, resamples=10).p_values(sums)
    assert exact[0] and p[0] == pytest.approx(enumerated(sums), rel=1e-12)


def test_drawn_sign_flips_are_near_the_enumerated_ones() -> None:
    """13 users: drawn with a fixed seed, said to be so, near the p of all 8,192 flips, and the same every time."""
    sums = np.array([2, 1, 1, 3, -1, 2, 1, -2, 1, 1, 2, -1, 1], dtype=float)[:, None]
    p, exact = SignFlips(13).p_values(sums)
    assert not exact[0] and p[0] == pytest.approx(enumerated(sums), abs=0.01)
    assert SignFlips(13).p_values(sums)[0][0] == p[0]


def test_groups_do_not_disturb_each_other() -> None:
    """Two groups at once have the p that each has alone."""
    sums = np.random.default_rng(3).normal(size=(30, 2))
    flips = SignFlips(30)
    both = flips.p_values(sums)[0]
    assert both.tolist() == [flips.p_values(sums[:, [group]])[0][0] for group in (0, 1)]
