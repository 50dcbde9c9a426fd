"""Whose training trips stand behind a count: the user's own, one other person's, or several people's."""

import numpy as np
from pydantic import Field

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
