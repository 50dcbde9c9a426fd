"""Shared routes: people who pass the same middle go on to the same places.

Whoever seeks something new first asks where others went on to: from here to a middle, and from the middle on. Others
are the people of the city who lived before (people live one after the other, whatever their dates), and only what they
checked in is recorded. In real check-ins a user's new places lie within two steps of where they are more often than
popularity and distance would give; without shared routes the city's did not.
"""

from collections import defaultdict
from itertools import pairwise
from typing import Final, NamedTuple

from recap.data.synthetic.categories import CATEGORIES
from recap.data.synthetic.draws import Draws


class Stop(NamedTuple):
    """One visit: minutes of local time since the first midnight, and the venue."""

    minute: int
    venue: int


_ONE_WALK: Final = 1_440  # minutes between two check-ins beyond which the second does not follow from the first


class Routes:
    """Steps between check-ins, counted by repetition.

    Args:
        category: of every venue, an index into `CATEGORIES`.
    """

    def __init__(self, category: list[int]) -> None:
        self._group = [CATEGORIES[index].group for index in category]
        self._onward: dict[int, list[int]] = defaultdict(list)
        self._onward_to: dict[tuple[int, str], list[int]] = defaultdict(list)

    def add(self, recorded: list[Stop]) -> None:
        """Add the check-ins of one person, in time order; repeats of a place lead nowhere."""
        for before, after in pairwise(recorded):
            if after.minute - before.minute < _ONE_WALK and after.venue != before.venue:
                self._onward[before.venue].append(after.venue)
                self._onward_to[before.venue, self._group[after.venue]].append(after.venue)

    def follow(self, here: int, group: str, draws: Draws) -> int | None:
        """A venue of the group two steps from here, both drawn as often as they were taken; None where none leads."""
        middles = self._onward.get(here)
        if not middles:
            return None
        ends = self._onward_to.get((middles[draws.below(len(middles))], group))
        return ends[draws.below(len(ends))] if ends else None
