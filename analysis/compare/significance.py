"""Two tests of a paired difference: exact McNemar over cases, and sign flips over users.

McNemar's test treats cases as independent, although a user's cases are not. Sign flips swap the two scorers for whole
users. Verdicts follow the larger p.

Shape suffixes: U users, G groups, R resamples.
"""

import sys
from types import ModuleType
from typing import Final

import numpy as np

EXACT_USERS: Final = 12
"""Up to this many users with a difference, all 2^U sign flips are enumerated; above, they are sampled."""
RESAMPLES: Final = 9999
ALPHA: Final = 0.05
_SEED: Final = 0
_BLOCK: Final = 100
_ROUNDING: Final = 1e-9


def scipy_stats() -> ModuleType:
    """`scipy.stats`, which fails while another thread loads torch: it takes the half-loaded module for a whole one."""
    if "torch" in sys.modules:
        import torch  # noqa: F401 # the import waits for the other thread's
    from scipy import stats

    return stats


def mcnemar(only_a: int, only_b: int) -> float:
    """Two-sided exact p of ``only_b`` against ``only_a``; 1 if no case separates the two.

    >>> mcnemar(0, 5)
    0.0625
    """
    if only_a + only_b == 0:
        return 1.0
    return float(scipy_stats().binomtest(only_b, only_a + only_b, 0.5).pvalue)


class SignFlips:
    """Sign flips over users, the same for all groups and pairs of scorers.

    Args:
        resamples, seed: of the samples that replace all 2^U flips above `EXACT_USERS`.
    """

    def __init__(self, num_users: int, resamples: int = RESAMPLES, seed: int = _SEED) -> None:
        self.num_users, self.resamples, self.seed = num_users, resamples, seed

    def p_values(self, sums_UG: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Two-sided p of each group's summed difference, and whether it was enumerated.

        Args:
            sums_UG: each user's summed differences.
        """
        observed_G = sums_UG.sum(0)
        rng, beyond_G = np.random.default_rng(self.seed), np.zeros(sums_UG.shape[1], np.int64)
        for start in range(0, self.resamples, _BLOCK):  # all at once would take a gigabyte for 60,000 users
            shape = (min(_BLOCK, self.resamples - start), self.num_users)
            heads_RU = rng.integers(0, 2, shape, dtype=np.int8).astype(np.float64)
            # 2 heads - 1 is the sign: the sum under flips without a second array of signs.
            drawn_RG = 2 * (heads_RU @ sums_UG) - observed_G
            beyond_G += (np.abs(drawn_RG) >= np.abs(observed_G) * (1 - _ROUNDING)).sum(0)
        p_G = (beyond_G + 1) / (self.resamples + 1)
        exact_G = (sums_UG != 0).sum(0) <= EXACT_USERS
        for group in np.flatnonzero(exact_G):
            p_G[group] = _enumerated(sums_UG[:, group])
        return p_G, exact_G


def _enumerated(sums_U: np.ndarray) -> float:
    """The p with all 2^U flips; 1 if no user has a difference."""
    differing = sums_U[sums_U != 0]
    if len(differing) < 2:  # scipy asks for two observations: one user's two flips are equally far from 0
        return 1.0
    test = scipy_stats().permutation_test(
        (differing,), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=True, alternative="two-sided"
    )
    return float(test.pvalue)
