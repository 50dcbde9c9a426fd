"""Random integers that are the same on every machine, from the raw 64-bit stream of PCG64, and choices by distance.

Numpy promises a stable stream only for its bit generators, so draws and choices use Python integers.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import numpy as np
import numpy.typing as npt

Point = tuple[int, int]
"""East and north of the city's middle, in metres."""
REACH: Final = 600  # hundreds of metres; everything farther pulls like this
_BLOCK: Final = 8192


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


class Gravity:
    """Pull falls with distance as (distance + softening) ** -power; both count in steps of 100 m. `by_distance[d]` is
    the pull over d of them, up to `REACH`. With a power from 3 on, most choices are local.
    """

    def __init__(self, softening: int, power: int) -> None:
        self.by_distance = [10**12 // (away + softening) ** power for away in range(REACH + 1)]
        # By squared distance: no square root needed
        repeats = [2 * away + 1 for away in range(REACH + 1)]
        self._by_square = np.repeat(np.array(self.by_distance, dtype=np.int64), repeats)

    def of_all(self, where_P: npt.NDArray[np.int64], spot: Point) -> npt.NDArray[np.int64]:
        """Pull of places (rows of x, y in metres) on someone at a point."""
        away = (where_P - np.array(spot, dtype=np.int64)) // 100
        return self._by_square[np.minimum((away * away).sum(axis=1), len(self._by_square) - 1)]


def pick_weighted(weights: npt.NDArray[np.int64], draws: Draws) -> int | None:
    """A position drawn in proportion to its weight; None when no weight is positive."""
    sums = weights.cumsum()
    if not len(sums) or sums[-1] <= 0:
        return None
    return int(np.searchsorted(sums, draws.below(int(sums[-1])), side="right"))
