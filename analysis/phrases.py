"""Phrases that pages share; a page asks by key. Terms come from `analysis.glossary`."""

from typing import Final

_PHRASES: Final[dict[str, str]] = {
    "chip_two": "2 hops",
    "without_two_hops": "Without two hops",
    "hops_title": "What one more hop adds",
    "hops_axis": "Hops N",
    "hops_alt": "Candidates, share of unseen transitions reached and signal to noise for one to five hops",
    "inside_two_hops": "Within<br>two hops",
    "beyond_two_hops": "Beyond<br>two hops",
    "cohorts_alt": "Accuracy on rare transitions by whether the target was visited before and lies within two hops",
}


def phrase(key: str, **values: object) -> str:
    """A phrase of a page; ``values`` fill its gaps."""
    return _PHRASES[key].format(**values)
