"""How well shared points hide a user, counted on the dataset: matching users, and unicity.

Unicity (de Montjoye, Hidalgo, Verleysen and Blondel, "Unique in the Crowd", Scientific Reports 3:1376, 2013): the share
of users for whom p random points of their own trace fit no other user's trace. Points are places and times as shared (a
place or a cell, weekday and part of the day); as recorded they are places and hours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import sparse

from analysis.sharing.cells import codes_of
from analysis.sharing.places import MaskedPlaces
from analysis.sharing.traces import Traces

DRAWS: Final = 5
_MOST_POINTS: Final = 8


@dataclass(frozen=True)
class SharedPoint:
    """A place where a case's user was; ``row`` is the check-in whose part of the week is shown."""

    poi: int
    row: int | None = None


class Crowd:
    """Everybody's points, as shown and as recorded; ``part`` codes the shown part of the week of every check-in."""

    def __init__(self, traces: Traces, places: MaskedPlaces, part: np.ndarray) -> None:
        self._traces, self._places, self._part = traces, places, part

    def fitting(self, points: list[SharedPoint]) -> int:
        """Number of users with check-ins at all the points as shown."""
        return self._count(points, self._places.alike, self._part)

    def fitting_as_recorded(self, points: list[SharedPoint]) -> int:
        """The same with exact places and seconds."""
        every = np.arange(self._traces.num_pois)
        return self._count(points, lambda poi: every == poi, self._traces.local_seconds)

    def _count(self, points: list[SharedPoint], alike: Callable[[int], np.ndarray], time: np.ndarray) -> int:
        fits = np.ones(self._traces.num_users, dtype=bool)
        for point in points:
            seen = alike(point.poi)[self._traces.poi]
            if point.row is not None:
                seen &= time == time[point.row]
            fits &= np.bincount(self._traces.user[seen], minlength=len(fits)) > 0
        return int(fits.sum())

    def unicity(self, points: int, *, as_recorded: bool = False, seed: int = 0) -> tuple[float | None, int]:
        """Share of users unique given ``points`` of their own, and the number of users with so many.

        The mean over `DRAWS` samples; None if nobody has that many points.
        """
        traces = self._traces
        place, time = traces.poi, traces.local_seconds // 3600
        if not as_recorded:
            place, time = self._places.point[traces.poi], self._part
        codes = codes_of(place, time)
        size = int(codes.max()) + 1
        pairs = np.stack(np.divmod(np.unique(traces.user * size + codes), size))
        start = np.searchsorted(pairs[0], np.arange(traces.num_users + 1))
        drawn = [user for user in range(traces.num_users) if start[user + 1] - start[user] >= points]
        if not drawn or points < 1:
            return None, 0
        generator = np.random.default_rng(seed)
        picks = np.concatenate(
            [
                pairs[1, start[user] + generator.permutation(start[user + 1] - start[user])[:points]]
                for user in drawn
                for _ in range(DRAWS)
            ]
        )
        rows = np.repeat(np.arange(len(drawn) * DRAWS), points)
        chosen = sparse.csr_matrix((np.ones(len(picks), np.int32), (rows, picks)), shape=(len(drawn) * DRAWS, size))
        been = sparse.csr_matrix(
            (np.ones(pairs.shape[1], np.int32), (pairs[1], pairs[0])), shape=(size, traces.num_users)
        )
        matches = chosen @ been
        alike = np.asarray((matches == points).sum(axis=1)).reshape(-1)
        return float((alike == 1).mean()), len(drawn)
