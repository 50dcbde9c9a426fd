"""Keys of everything that is computed once and kept."""

import hashlib
from typing import Final

COMPUTED: Final = 2
"""Version of what is computed, part of every key: grows when anything kept would be computed otherwise: features, fits,
records, ablations, tables, pictures. A bundle's tables are then made again."""


def cache_key(*content: str) -> str:
    """SHA-256 that names what is computed from contents: hashes, and names of what the code alone decides.

    >>> cache_key("a" * 64, "markov") == cache_key("b" * 64, "markov")
    False
    """
    return hashlib.sha256(" ".join([*content, str(COMPUTED)]).encode()).hexdigest()


def given_time_key(key: str) -> str:
    """The key of a model that is asked where at a given time; ``key``: of the other question."""
    return cache_key(key, "given time")
