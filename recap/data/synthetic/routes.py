"""Shared routes: people who pass the same middle go on to the same places.

A person who seeks a new place first follows the check-ins of people simulated before: from here to a middle, and on
from there. Real check-ins have such routes too.
"""

from collections import defaultdict
from itertools import pairwise
from typing import Final, NamedTuple

from recap.data.synthetic.categories import CATEGORIES
from recap.data.synthetic.draws import Draws


class Stop(NamedTuple):
    """One visit: local minutes since the first midnight, and the venue."""

    minute: int
    venue: int


_ONE_WALK: Final = 1_440  # minutes; after a longer pause, no transition counts


class Routes:
    """Transitions between check-ins, counted by repetition; ``category`` of every venue, an index into `CATEGORIES`."""

    def __init__(self, category: list[int]) -> None:
        self._group = [CATEGORIES[index].group for index in category]
        self._onward: dict[int, list[int]] = defaultdict(list)
        self._onward_to: dict[tuple[int, str], list[int]] = defaultdict(list)

    def add(self, recorded: list[Stop]) -> None:
        """Add one person's check-ins, in time order."""
        for before, after in pairwise(recorded):
            if after.minute - before.minute < _ONE_WALK and after.venue != before.venue:
                self._onward[before.venue].append(after.venue)
                self._onward_to[before.venue, self._group[after.venue]].append(after.venue)

    def follow(self, here: int, group: str, draws: Draws) -> int | None:
        """A venue of the group two hops from here, drawn by the counts of both hops; None if there is none."""
        middles = self._onward.get(here)
        if not middles:
            return None
        ends = self._onward_to.get((middles[draws.below(len(middles))], group))
        return ends[draws.below(len(ends))] if ends else None
