"""Phrases that pages share; a page asks by key. Terms come from `analysis.glossary`."""

from typing import Final

_PHRASES: Final[dict[str, str]] = {
    "chip_two": "2 hops",
}


def phrase(key: str, **values: object) -> str:
    """A phrase of a page; ``values`` fill its gaps."""
    return _PHRASES[key].format(**values)
