"""Whose training trips stand behind a count: the user's own, one other person's, or several people's."""

import numpy as np
from pydantic import Field

from analysis.formatting import times
from recap.config import Config


class Trips(Config):
    """The training transitions of one step, by who made them."""

    own: int = Field(description="Of the user of the case.")
    others: int
    people: int = Field(description="Distinct other users.")

    @property
    def count(self) -> int:
        return self.own + self.others


def count_trips(users: np.ndarray, user: int) -> Trips:
    """Tell the user's own training transitions from other people's.

    Args:
        users: who made each transition, as `analysis.explain.paths.TrainingIndex.users` finds them.

    >>> count_trips(np.array([7, 12, 12]), 7)
    Trips(own=1, others=2, people=1)
    """
    others = users[users != user]
    return Trips(own=len(users) - len(others), others=len(others), people=len(np.unique(others)))


def describe_trips(trips: Trips) -> str:
    """Who went, and how often, as the subject of a clause.

    >>> describe_trips(Trips(own=3, others=0, people=0))
    'this walker alone, 3 times'
    >>> describe_trips(Trips(own=0, others=2, people=1))
    'one other person, twice'
    >>> describe_trips(Trips(own=1, others=9, people=4))
    'this walker, once, and 4 other people, 9 times'
    >>> describe_trips(Trips(own=0, others=0, people=0))
    'nobody'
    """
    if not trips.count:
        return "nobody"
    mine = f"this walker{'' if trips.others else ' alone'}, {times(trips.own)}" if trips.own else ""
    people = "one other person" if trips.people == 1 else f"{trips.people:,} other people"
    theirs = f"{people}, {times(trips.others)}" if trips.others else ""
    return ", and ".join(filter(None, (mine, theirs)))
