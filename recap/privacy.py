"""Make data about people safe to share: pseudonyms, grid cells, coarse times.

docs/privacy.md says what each export holds.
"""

import hashlib
import hmac
import secrets
from typing import Final

import numpy as np
from pydantic import Field

from recap.config import Config

EXACT_NOTE: Final = (
    "This file holds exact times, places and ids of people; share it only where all of them may be known."
)
"""A note in every file with exact data."""

KM_PER_DEGREE: Final = 111.2
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Generalisation(Config):
    """How much is blurred. Scores, ranks and contributions stay exact."""

    salt: str = Field(
        default_factory=lambda: secrets.token_hex(16),
        description="Makes pseudonyms its own; never written anywhere.",
        repr=False,
    )
    min_users: int = Field(5, ge=1, description="k: a place visited by fewer people is generalised.")
    cell_degrees: float = Field(0.02, gt=0, description="Side of the smallest grid cell, degrees.")
    hours: int = Field(4, ge=1, le=24, description="Times are rounded down to a multiple of this.")

    @property
    def cell_km(self) -> float:
        """Side of the smallest grid cell, south to north."""
        return self.cell_degrees * KM_PER_DEGREE

    def pseudonym(self, user: int | str) -> str:
        """A name that only this salt gives this user, such as ``User c7f3a1b02d``; never digits alone. Among 100,000
        people two share a name in one of 80 files, among 1,000 in one of 800,000.
        """
        digest = self.digest("user", str(user))
        return f"User {'abcdef'[int(digest[-1], 16) % 6]}{digest[:9]}"

    def part_of_week(self, weekday: int | None, hour: float) -> str:
        """A moment without its date: weekday (0 Monday; None hides it) and part of the day: ``Tuesday, 16 to 20 h``."""
        start = int(hour) // self.hours * self.hours
        day = "" if weekday is None else f"{WEEKDAYS[weekday]}, "
        return f"{day}{start} to {min(start + self.hours, 24)} h"

    def cell(self, degrees: np.ndarray) -> np.ndarray:
        """The middle of each coordinate's grid cell."""
        return np.round((np.floor(degrees / self.cell_degrees) + 0.5) * self.cell_degrees, 6)

    def digest(self, kind: str, text: str) -> str:
        """64 hex digits that nobody can compute from the text without the salt."""
        return hmac.new(self.salt.encode(), f"{kind}:{text}".encode(), hashlib.sha256).hexdigest()


def users_per_group(user: np.ndarray, group: np.ndarray, size: int) -> np.ndarray:
    """Number of distinct users of each group of check-ins, from codes from 0.

    >>> users_per_group(np.array([0, 1, 0, 0]), np.array([0, 0, 1, 1]), 3).tolist()
    [2, 1, 0]
    """
    people = int(user.max(initial=0)) + 1
    return np.bincount(np.unique(group.astype(np.int64) * people + user) // people, minlength=size)
