"""Order cases by quality and diversity."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching


def diverse_order(user: np.ndarray, source: np.ndarray, target: np.ndarray, first: int) -> np.ndarray:
    """Order cases, best first, so that the first ones repeat neither a user nor a place.

    Three searches run in turn until enough cases differ. The first repeats no user and no place at all, the second no
    user and no reached place; both take the best case that still fits. The third is a largest matching of users and
    reached places. The remaining cases follow in further rounds of the same kind.

    Args:
        user, source, target: of each case, the best case first; of equal length.
        first: how many cases should differ.

    Returns:
        int64 positions, each once. Up to ``first``, no order has a longer start without a repeated user or reached
        place.
    """
    number = len(user)
    chosen = _greedy(number, first, (user,), (source, target))
    if len(chosen) < min(first, number):
        chosen = _greedy(number, first, (user,), (target,))
    if len(chosen) < min(first, number):
        matched = _largest(user, target)
        chosen = matched if len(matched) > len(chosen) else chosen
    left = np.setdiff1d(np.arange(number), chosen)
    if not len(chosen) or not len(left):
        return np.concatenate([np.asarray(chosen, dtype=np.int64), left])
    if len(chosen) >= first:  # beyond the first ones, the best first
        return np.concatenate(
            [np.asarray(chosen[:first], dtype=np.int64), np.setdiff1d(np.arange(number), chosen[:first])]
        )
    rest = diverse_order(user[left], source[left], target[left], first - len(chosen))
    return np.concatenate([np.asarray(chosen, dtype=np.int64), left[rest]])


def _greedy(number: int, first: int, people: tuple[np.ndarray, ...], places: tuple[np.ndarray, ...]) -> list[int]:
    """Take the best case that shares nothing with the chosen ones until there are enough."""
    chosen: list[int] = []
    seen_people: set[int] = set()
    seen_places: set[int] = set()
    for at in range(number):
        mine = {int(column[at]) for column in people}
        where = {int(column[at]) for column in places}
        if mine & seen_people or where & seen_places:
            continue
        chosen.append(at)
        seen_people |= mine
        seen_places |= where
        if len(chosen) == first:
            break
    return chosen


def _largest(user: np.ndarray, target: np.ndarray) -> list[int]:
    """A largest set of cases without a repeated user or target, in the given order."""
    _, user_at = np.unique(user, return_inverse=True)
    _, target_at = np.unique(target, return_inverse=True)
    pairs: dict[tuple[int, int], int] = {}
    for at, pair in enumerate(zip(user_at.tolist(), target_at.tolist(), strict=True)):
        pairs.setdefault(pair, at)
    rows, columns = (np.array(side) for side in zip(*pairs, strict=True))
    graph = csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)))
    partner = maximum_bipartite_matching(graph, perm_type="column")
    return sorted(pairs[row, int(column)] for row, column in enumerate(partner) if column >= 0)
