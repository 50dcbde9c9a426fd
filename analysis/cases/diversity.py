"""Order cases by quality and diversity."""

import numpy as np


def diverse_order(user: np.ndarray, source: np.ndarray, target: np.ndarray, first: int) -> np.ndarray:
    """Order cases, best first, so that the first ones repeat neither a user nor a place unless that is unavoidable.

    Each round takes the best cases that repeat nothing in it, or if these are too few, no user and no reached place.

    Args:
        user, source, target: of each case, the best case first; of equal length.
        first: how many cases should differ.

    Returns:
        int64 positions, each once.
    """
    chosen, left = np.zeros(0, dtype=np.int64), np.arange(len(user))
    while len(chosen) < first and len(left):
        wanted = first - len(chosen)
        taken = _differing(left, wanted, user, source, target)
        if len(taken) < wanted:
            taken = _differing(left, wanted, user, target)
        chosen, left = np.append(chosen, taken), np.setdiff1d(left, taken)
    return np.append(chosen, left)


def _differing(rows: np.ndarray, most: int, user: np.ndarray, *places: np.ndarray) -> list[int]:
    """The best cases that share neither a user nor one of these places."""
    taken: list[int] = []
    seen: set[tuple[str, int]] = set()
    for row in rows.tolist():
        mine = {("user", int(user[row])), *(("place", int(column[row])) for column in places)}
        if seen.isdisjoint(mine) and len(taken) < most:
            taken.append(row)
            seen |= mine
    return taken
