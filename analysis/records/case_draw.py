"""Which test cases are ranked first where ranking all would make people wait: a random order, and how far it goes.

All cases are put into one random order by a fixed seed. A draw is the beginning of that order: every case is as likely
as any other to be in it, a larger draw holds the smaller ones, and the last one holds all cases.
"""

from typing import Final

import numpy as np

DRAW_SEED: Final = 0
"""Of the order: every visitor, and every later start, meets the same draws."""
FIRST_DRAW: Final = 64
"""Cases of the first draw: few enough for six models to rank them within seconds among 40,000 places."""
MOST_SCORES_AT_ONCE: Final = 200_000_000
"""Up to this product of test cases and places all cases are ranked before anything is shown.

A model takes some ten seconds of one core for it, six models a minute. New York has 35 million, Tokyo 110 million."""


def draw_order(num_cases: int, seed: int = DRAW_SEED) -> np.ndarray:
    """The numbers of all cases in the order in which they are drawn."""
    return np.random.default_rng(seed).permutation(num_cases)


def draw_sizes(num_cases: int, first: int = FIRST_DRAW) -> list[int]:
    """How many cases each draw holds: twice as many as the one before, at last all.

    >>> draw_sizes(300), draw_sizes(64), draw_sizes(10)
    ([64, 128, 256, 300], [64], [10])
    """
    sizes = []
    while first < num_cases:
        sizes.append(first)
        first *= 2
    return [*sizes, num_cases]


def is_drawn_first(num_cases: int, num_pois: int, most_scores: int = MOST_SCORES_AT_ONCE) -> bool:
    """Whether so many cases among so many places are shown by a draw first."""
    return num_cases * num_pois > most_scores
