"""How few addends bring a sum past a bar, over many choices at once, and in how many ways.

Shape suffixes: M, R the choices, A addends in falling order, J sizes 0 to A.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np


@dataclass(frozen=True)
class SetCount:
    """The smallest sets over all choices.

    Attributes:
        size: of the whole set, the choice's own items included.
        number: how many sets of this size there are.
        choice: (m, r, positions of addends) of the one furthest past the bar.
        margin: how far it is past the bar: sum less bar, below 0 where the sum drops.
    """

    size: int
    number: int
    choice: tuple[int, int, tuple[int, ...]]
    margin: float


def count_sets(
    margin_MR: np.ndarray, tied_drops_MR: np.ndarray, size_MR: np.ndarray, addend_A: np.ndarray, *, drop: bool
) -> SetCount | None:
    """The smallest sets of a choice's items and of addends for which the sum is below (``drop``) or above the bar.

    Args:
        margin_MR: sum less bar, with all addends in the sum (``drop``) or none.
        tied_drops_MR: whether a sum that equals the bar counts as below it.
        size_MR: items of the choice itself.
        addend_A: addends that can be taken away (``drop``) or added, in falling order.
        drop: whether the sum is to fall below the bar.

    Returns:
        None where no set does it.
    """
    moved_J = np.concatenate([[0.0], np.cumsum(addend_A)])
    best: int | None = None
    ways: list[tuple[int, int, int]] = []
    for size, moved in enumerate(moved_J.tolist()):
        margin = margin_MR - moved if drop else margin_MR + moved
        works = _works(margin, tied_drops_MR, drop=drop)
        if not works.any():
            continue
        smallest = int((size_MR[works] + size).min())
        if best is None or smallest < best:
            best, ways = smallest, []
        if smallest == best:
            ways += [(int(m), int(r), size) for m, r in np.argwhere(works & (size_MR + size == best))]
    if best is None:
        return None
    number, halves = 0, _Halves(addend_A)
    for m, r, size in ways:
        number += halves.count(float(margin_MR[m, r]), bool(tied_drops_MR[m, r]), size, drop=drop)
    signed = [(margin_MR[m, r] - moved_J[j] if drop else -(margin_MR[m, r] + moved_J[j])) for m, r, j in ways]
    m, r, size = ways[int(np.argmin(signed))]
    margin = float(min(signed)) if drop else -float(min(signed))
    return SetCount(best, number, (m, r, tuple(range(size))), margin)


def _works(margin: np.ndarray, tied_drops: np.ndarray, *, drop: bool) -> np.ndarray:
    below = (margin < 0) | ((margin == 0) & tied_drops)
    return below if drop else ~below


class _Halves:
    """Sums of all subsets of two halves of the addends, by size, so that pairs are counted and never listed."""

    def __init__(self, addend_A: np.ndarray) -> None:
        middle = len(addend_A) // 2
        self._halves = [_sums(addend_A[:middle]), _sums(addend_A[middle:])]

    def count(self, margin: float, tied_drops: bool, size: int, *, drop: bool) -> int:
        """Subsets of so many addends whose removal (``drop``) or addition brings the sum past the bar."""
        first, second = self._halves
        number = 0
        for left in range(max(0, size - len(second) + 1), min(size, len(first) - 1) + 1):
            others = second[size - left]
            # drop: margin - a - b below 0, so b > margin - a; else margin + a + b above 0, so b > -margin - a.
            need = (margin if drop else -margin) - first[left]
            at = np.searchsorted(others, need, "left") if tied_drops == drop else np.searchsorted(others, need, "right")
            number += int((len(others) - at).sum())
        return number


def _sums(addends: np.ndarray) -> list[np.ndarray]:
    """Sorted sums of all subsets, by size."""
    return [
        np.sort([float(np.sum(addends[list(chosen)])) for chosen in combinations(range(len(addends)), size)])
        for size in range(len(addends) + 1)
    ]
