"""The hashes in a link, and how they differ from the open files.

A link carries the beginnings of two hashes, ``dataset`` and ``checkpoint``; the page, the command line and a shared
page ask the same function whether their numbers are those that the sender saw.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

HASH_LENGTH: Final = 12
"""Hexadecimal digits of a hash in a link: 48 bits."""
HASH_FIELDS: Final = ("dataset", "checkpoint")
_SHORTEST: Final = 6


class Difference(NamedTuple):
    """Difference of a link's files and the open ones.

    Attributes:
        differing: the fields whose hashes differ, of `HASH_FIELDS`.
        sentence: that, or what the link does not name, in words; empty where everything is known and equal.
    """

    differing: tuple[str, ...]
    sentence: str


def link_hashes(dataset_hash: str, checkpoint_hash: str | None) -> dict[str, str]:
    """The fields of a link that identify its dataset and checkpoint.

    >>> link_hashes("0123456789abcdef", None)
    {'dataset': '0123456789ab'}
    """
    hashes = {"dataset": dataset_hash, "checkpoint": checkpoint_hash or ""}
    return {name: value[:HASH_LENGTH] for name, value in hashes.items() if value}


def compare_hashes(link: Mapping[str, str], dataset_hash: str, checkpoint_hash: str | None) -> Difference:
    """Compare a link with the open files.

    Args:
        link: its fields; ``dataset`` and ``checkpoint`` are beginnings of hashes, missing or empty ones are unknown.

    >>> compare_hashes({"dataset": "0123456789ab"}, "0123456789abcdef", None)
    Difference(differing=(), sentence='')
    >>> compare_hashes({"dataset": "ffff456789ab"}, "0123456789abcdef", None).sentence
    'this link was made with dataset ffff456789ab, but 0123456789ab is open'
    """
    present = {"dataset": dataset_hash, "checkpoint": checkpoint_hash or ""}
    wanted = {name: link.get(name) or "" for name in HASH_FIELDS}
    differing = tuple(name for name in HASH_FIELDS if wanted[name] and not _fits(wanted[name], present[name]))
    unknown = tuple(name for name in HASH_FIELDS if present[name] and not wanted[name])
    told = [
        f"{name} {_short(wanted[name])}, but {_short(present[name]) if present[name] else 'no ' + name} is open"
        for name in differing
    ]
    sentence = f"this link was made with {', and with '.join(told)}" if told else ""
    if unknown and not differing:
        sentence = f"this link does not say which {' and '.join(unknown)} it was made with"
    return Difference(differing, sentence)


def _fits(beginning: str, whole: str) -> bool:
    """Whether a hash starts with these digits; fewer than six could match by chance."""
    return len(beginning) >= _SHORTEST and whole.startswith(beginning)


def _short(text: str) -> str:
    """A hash for a message, whatever the link contained."""
    return "".join(ch for ch in text if ch.isalnum())[:HASH_LENGTH] or "?"
