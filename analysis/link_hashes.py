"""The hashes of dataset and checkpoint in a link, and how they differ from the open files."""

from collections.abc import Mapping
from typing import Final, NamedTuple

HASH_LENGTH: Final = 12
"""Hexadecimal digits of a hash in a link: 48 bits."""
HASH_FIELDS: Final = ("dataset", "checkpoint")
_SHORTEST: Final = 6


class HashDifference(NamedTuple):
    """Fields of `HASH_FIELDS` in which a link differs from the open files, and what differs or is missing, in words."""

    differing: tuple[str, ...]
    sentence: str


def link_hashes(dataset_hash: str, checkpoint_hash: str | None) -> dict[str, str]:
    """The fields of a link that identify dataset and checkpoint.

    >>> link_hashes("0123456789abcdef", None)
    {'dataset': '0123456789ab'}
    """
    hashes = {"dataset": dataset_hash, "checkpoint": checkpoint_hash or ""}
    return {name: value[:HASH_LENGTH] for name, value in hashes.items() if value}


def compare_hashes(link: Mapping[str, str], dataset_hash: str, checkpoint_hash: str | None) -> HashDifference:
    """Compare a link with the open files.

    Args:
        link: its fields; missing or empty hashes are unknown.

    >>> compare_hashes({"dataset": "0123456789ab"}, "0123456789abcdef", None)
    HashDifference(differing=(), sentence='')
    >>> compare_hashes({"dataset": "ffff456789ab"}, "0123456789abcdef", None).sentence
    'this link was made with dataset ffff456789ab, but 0123456789ab is open'
    """
    present = {"dataset": dataset_hash, "checkpoint": checkpoint_hash or ""}
    wanted = {name: link.get(name) or "" for name in HASH_FIELDS}
    differing = tuple(name for name in HASH_FIELDS if wanted[name] and not _fits(wanted[name], present[name]))
    unknown = tuple(name for name in HASH_FIELDS if present[name] and not wanted[name])
    changed = [
        f"{name} {_short(wanted[name])}, but {_short(present[name]) if present[name] else 'no ' + name} is open"
        for name in differing
    ]
    sentence = f"this link was made with {', and with '.join(changed)}" if changed else ""
    if unknown and not differing:
        sentence = f"this link does not say which {' and '.join(unknown)} it was made with"
    return HashDifference(differing, sentence)


def _fits(beginning: str, whole: str) -> bool:
    """Whether a hash starts with these digits; fewer than six could match by chance."""
    return len(beginning) >= _SHORTEST and whole.startswith(beginning)


def _short(text: str) -> str:
    return "".join(ch for ch in text if ch.isalnum())[:HASH_LENGTH] or "?"
