"""What makes data about people fit to be shown to others: pseudonyms, grid cells, times that are shifted and coarse.

Primitives alone: who uses them says in its file what was generalised, or that the exact data are in it.
"""

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

import numpy as np
from pydantic import Field

from recap.config import Config

EXACT_NOTE: Final = (
    "This file holds exact times, places and ids of people; share it only where all of them may be known."
)
"""Stands in every file that was asked for with exact data."""

SHARED_NOTE: Final = (
    "Made to be shared: people have other names in every file, times are moved by whole weeks and given to "
    "{hours} hours."
)
GRID_NOTE: Final = " Coordinates are given to a grid of about {km} km, and places have other names."
NAMES_NOTE: Final = " Names of places stay, also of those that few people visit."
_KM_PER_DEGREE: Final = 111.2


class Generalisation(Config):
    """How much is taken away. Numbers of a model (scores, ranks, counts) are never touched."""

    salt: str = Field(default_factory=lambda: secrets.token_hex(16), description="Makes pseudonyms and shift its own.")
    min_users: int = Field(5, ge=1, description="k: a place visited by fewer people is generalised.")
    cell_degrees: float = Field(0.02, gt=0, description="Side of a grid cell, degrees.")
    hours: int = Field(4, ge=1, le=24, description="Times are rounded down to a multiple of this.")
    most_weeks: int = Field(26, ge=1, description="Times are moved back by 1 to this many whole weeks.")

    def pseudonym(self, user: int | str) -> str:
        """A name that only this salt gives this user, such as ``Walker 7f3a1c``."""
        return f"Walker {self._digest('user', str(user))[:6]}"

    def place_name(self, poi_id: str) -> str:
        """The same for a place."""
        return f"Place {self._digest('place', poi_id)[:6]}"

    @cached_property
    def shift(self) -> timedelta:
        """By how much times are moved: whole weeks, so that weekday and hour keep their meaning."""
        return timedelta(weeks=-1 - int(self._digest("weeks", "")[:8], 16) % self.most_weeks)

    def time(self, moment: datetime) -> datetime:
        """A moment moved and rounded down; seconds, minutes and the true date are gone."""
        moved = moment + self.shift
        return moved.replace(hour=moved.hour - moved.hour % self.hours, minute=0, second=0, microsecond=0)

    def iso_time(self, text: str) -> str:
        """The same for ISO 8601 text, with or without a final Z."""
        ending = "Z" if text.endswith("Z") else ""
        return self.time(datetime.fromisoformat(text.removesuffix("Z"))).isoformat() + ending

    def cell(self, degrees: np.ndarray) -> np.ndarray:
        """The middle of each coordinate's grid cell."""
        return np.round((np.floor(degrees / self.cell_degrees) + 0.5) * self.cell_degrees, 6)

    def is_rare(self, user: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Of each check-in, whether fewer than ``min_users`` people were at its place.

        Args:
            user, place: codes from 0, of one length.
        """
        pairs = np.unique(np.stack([place, user]), axis=1)
        return np.bincount(pairs[0], minlength=int(place.max(initial=-1)) + 1)[place] < self.min_users

    def describe(self, *, names_places: bool) -> str:
        """What was done, for the file itself.

        Args:
            names_places: the file names its places; otherwise they have other names and coordinates lie on the grid.
        """
        places = NAMES_NOTE if names_places else GRID_NOTE.format(km=f"{self.cell_degrees * _KM_PER_DEGREE:.0f}")
        return SHARED_NOTE.format(hours=self.hours) + places

    def _digest(self, kind: str, text: str) -> str:
        return hmac.new(self.salt.encode(), f"{kind}:{text}".encode(), hashlib.sha256).hexdigest()
