"""Bootstrap intervals over users: whole users are resampled, since one user's cases are not independent.

Shape suffixes: N cases, U users, G groups, B bootstrap samples.
"""

from typing import Final, NamedTuple

import numpy as np

LEVEL: Final = 0.95
SAMPLES: Final = 1000
_SAMPLES_PER_BLOCK: Final = 100
_WHOLE_WEIGHTS: Final = 1 << 25
"""Up to this many samples times users, weights are kept as float64, a quarter of a gigabyte; above it as 16-bit
numbers, which are converted a block at a time."""


class MeanInterval(NamedTuple):
    """A mean or a difference with its 95 % interval over users; NaN without cases."""

    value: float
    low: float
    high: float


class GroupMeans(NamedTuple):
    """The number of cases of each group, their mean, and their mean in every sample of users."""

    n_G: np.ndarray
    value_G: np.ndarray
    drawn_BG: np.ndarray

    @property
    def intervals(self) -> list[MeanInterval]:
        return mean_intervals(self.value_G, self.drawn_BG)


class UserBootstrap:
    """Seeded samples of users, shared by all statistics for paired comparison."""

    def __init__(self, users_N: np.ndarray, samples: int = SAMPLES, seed: int = 0) -> None:
        uniques, self.user_N = np.unique(users_N, return_inverse=True)
        self.num_users = len(uniques)
        rng = np.random.default_rng(seed)
        shares = np.full(max(self.num_users, 1), 1.0 / max(self.num_users, 1))
        is_whole = samples * self.num_users <= _WHOLE_WEIGHTS
        self.weights_BU = np.empty((samples, self.num_users), np.float64 if is_whole else np.uint16)
        for start in range(0, samples, _SAMPLES_PER_BLOCK):
            block = self.weights_BU[start : start + _SAMPLES_PER_BLOCK]
            block[:] = rng.multinomial(self.num_users, shares, size=len(block))[:, : self.num_users]

    def measure(self, values_N: np.ndarray, groups_N: np.ndarray | None = None, num_groups: int = 1) -> GroupMeans:
        """Measure groups of cases, or all as one; a case of group -1 is in none."""
        groups_N = np.zeros(len(values_N), dtype=np.int64) if groups_N is None else groups_N
        count_G, mean_G = group_means(values_N, groups_N, num_groups)
        return GroupMeans(count_G, mean_G, self.means(values_N, groups_N, num_groups))

    def means(self, values_N: np.ndarray, groups_N: np.ndarray, num_groups: int) -> np.ndarray:
        """Group means in every sample, (B, G); NaN without a case of the group. A case of group -1 is in none."""
        kept = groups_N >= 0
        values_N, groups_N, user_N = values_N[kept], groups_N[kept], self.user_N[kept]
        cell_N = user_N * num_groups + groups_N
        size = self.num_users * num_groups
        sums = np.bincount(cell_N, weights=values_N, minlength=size).reshape(self.num_users, num_groups)
        counts = np.bincount(cell_N, minlength=size).reshape(self.num_users, num_groups)
        if self.weights_BU.dtype == np.float64:
            return _divide(self.weights_BU @ sums, self.weights_BU @ counts)
        blocks = np.array_split(self.weights_BU, max(1, len(self.weights_BU) // _SAMPLES_PER_BLOCK))
        return np.concatenate([_divide(w @ sums, w @ counts) for w in (b.astype(np.float64) for b in blocks)])


def interval(samples_BG: np.ndarray, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
    """Percentile interval of each column; NaN where no sample has a value."""
    low, high = np.full(samples_BG.shape[1], np.nan), np.full(samples_BG.shape[1], np.nan)
    known = ~np.isnan(samples_BG).all(axis=0)
    if known.any():
        edges = [(1 - level) / 2, (1 + level) / 2]
        low[known], high[known] = np.nanquantile(samples_BG[:, known], edges, axis=0)
    return low, high


def mean_intervals(value_G: np.ndarray, drawn_BG: np.ndarray) -> list[MeanInterval]:
    """Values of groups with the intervals of their samples."""
    return [MeanInterval(*map(float, numbers)) for numbers in zip(value_G, *interval(drawn_BG), strict=True)]


def group_means(values_N: np.ndarray, groups_N: np.ndarray, num_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Number of cases and mean of each group; the mean is NaN where the group is empty."""
    kept = groups_N >= 0
    values_N, groups_N = values_N[kept], groups_N[kept]
    count = np.bincount(groups_N, minlength=num_groups)
    return count, _divide(np.bincount(groups_N, weights=values_N, minlength=num_groups), count)


def _divide(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
