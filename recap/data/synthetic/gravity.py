"""The pull of places by distance, as integer tables."""

from typing import Final

import numpy as np
import numpy.typing as npt

from recap.data.synthetic.draws import Draws
from recap.data.synthetic.shapes import Point

REACH: Final = 600  # hundreds of metres; everything farther pulls like this


class Gravity:
    """Pull falls with distance as (distance + softening) ** -power; both count in steps of 100 m. `by_distance[d]` is
    the pull over d of them, up to `REACH`. With a power from 3 on, most choices are local.
    """

    def __init__(self, softening: int, power: int) -> None:
        self.by_distance = [10**12 // (away + softening) ** power for away in range(REACH + 1)]
        # By squared distance: no square root needed
        repeats = [2 * away + 1 for away in range(REACH + 1)]
        self._by_square = np.repeat(np.array(self.by_distance, dtype=np.int64), repeats)

    def of_all(self, where_P: npt.NDArray[np.int64], at: Point) -> npt.NDArray[np.int64]:
        """Pull of places (rows of x, y in metres) on someone at a point."""
        away = (where_P - np.array(at, dtype=np.int64)) // 100
        return self._by_square[np.minimum((away * away).sum(axis=1), len(self._by_square) - 1)]


def pick_weighted(weights: npt.NDArray[np.int64], draws: Draws) -> int | None:
    """A position drawn in proportion to its weight; None when no weight is positive."""
    sums = weights.cumsum()
    if not len(sums) or sums[-1] <= 0:
        return None
    return int(np.searchsorted(sums, draws.below(int(sums[-1])), side="right"))
