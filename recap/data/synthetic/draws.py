"""Random integers that are the same on every machine, from the raw 64-bit stream of PCG64.

Numpy promises a stable stream only for its bit generators, so draws and choices use Python integers.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

_BLOCK = 8192


class Draws:
    """A stream of integer draws; streams with different keys, such as (2, user), are independent."""

    def __init__(self, seed: int, *key: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence([seed, *key]))
        self._raw: list[int] = []

    def below(self, bound: int) -> int:
        """An integer in [0, bound), uniform up to 2**-64 * bound."""
        if not self._raw:
            self._raw = self._bits.random_raw(_BLOCK).tolist()
        return (self._raw.pop() * bound) >> 64

    def between(self, low: int, high: int) -> int:
        """An integer in [low, high]."""
        return low + self.below(high - low + 1)

    def chance(self, per_mille: int) -> bool:
        """True in `per_mille` of 1000 draws."""
        return self.below(1000) < per_mille

    def pick(self, weights: Sequence[int]) -> int:
        """A position drawn in proportion to its integer weight; at least one must be positive."""
        return self.pick_cumulated(list(accumulate(weights)))

    def pick_cumulated(self, cumulated: Sequence[int]) -> int:
        """The same from running sums of the weights, whose last is positive."""
        return bisect_right(cumulated, self.below(cumulated[-1]))

    def shuffled(self, count: int) -> list[int]:
        """The numbers 0 .. count - 1 in random order."""
        order = list(range(count))
        for last in range(count - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order
