"""A visit to a venue."""

from typing import NamedTuple


class Stop(NamedTuple):
    """One visit: minutes of local time since the first midnight, and the venue."""

    minute: int
    venue: int
