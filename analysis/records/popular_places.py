"""Popular places: the tenth of all places with the most check-ins in training."""

from typing import Final

import numpy as np

POPULAR_SHARE: Final = 0.1


def popular_bar(train_checkins: np.ndarray, share: float = POPULAR_SHARE) -> int:
    """Fewest training check-ins of a popular place, one of the most visited ``share`` of places.

    Args:
        train_checkins: of every place, (P,); unvisited places are never popular.

    >>> popular_bar(np.array([9, 4, 4, 0, 0]), 0.4), popular_bar(np.array([0, 0]))
    (4, 1)
    """
    if len(train_checkins) == 0:
        return 1
    number = max(1, round(share * len(train_checkins)))
    return max(1, int(np.sort(train_checkins)[::-1][number - 1]))
