"""Rows that a score is told in, and sources of evidence that can be taken away for all places at once.

Rows split a score: every part and every evidence term belongs to one row, so that rows add up to the total. Sources
are facts: a source takes away every term that uses the fact, so that two sources may share a term (``known_distance``
rests on the user's visits and on distance).
"""

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, get_args

from recap.evidence.config import HOUR_FEATURES

Row = Literal[
    "own_visits",
    "hour_and_weekday",
    "own_transitions",
    "others_transitions",
    "two_hop_addends",
    "popularity",
    "distance",
    "correction",
    "core",
]
ROWS: Final = get_args(Row)
"""Known numbers times learned weights: the prior (clip included) and the evidence terms."""
OPAQUE_ROWS: Final = ROWS[7:]
"""What the network says: its core score, and the gate behind the correction. The rows before are known numbers times
learned weights: the prior (clip included) and the evidence terms."""


class RowWords(NamedTuple):
    """What a row is called.

    Attributes:
        label: at the head of a row of a table.
        words: inside a sentence.
        source: whose removal for all places takes the row away.
    """

    label: str
    words: str
    source: "Source"


Source = Literal[
    "graph_token",
    "two_hop_addends",
    "two_hops",
    "own_revisits",
    "hour_and_weekday",
    "own_transitions",
    "others_transitions",
    "distance",
    "popularity",
    "core",
    "correction",
    "clip",
]
SOURCES: Final = get_args(Source)
"""``two_hops`` takes the token and the two-hop addends away together; ``clip`` lets every prior stand unclipped."""

SOURCE_LABELS: Final[dict[str, str]] = {
    "graph_token": "the two-hop token",
    "two_hop_addends": "the two-hop paths' points",
    "two_hops": "two hops (token and points)",
    "own_revisits": "the walker's own visits",
    "hour_and_weekday": "hour and weekday",
    "own_transitions": "the walker's own steps",
    "others_transitions": "others' steps",
    "distance": "distance",
    "popularity": "popularity",
    "core": "the network's core score",
    "correction": "the correction",
    "clip": "the clip of the prior",
}

ROW_WORDS: Final[dict[str, RowWords]] = {
    "own_visits": RowWords("Own visits", "own visits", "own_revisits"),
    "hour_and_weekday": RowWords("Hour and weekday", "hour and weekday", "hour_and_weekday"),
    "own_transitions": RowWords("Own steps from here", "own steps from here", "own_transitions"),
    "others_transitions": RowWords("Others' steps from here", "other people's steps from here", "others_transitions"),
    "two_hop_addends": RowWords("Two-hop paths", "two-hop paths", "two_hop_addends"),
    "popularity": RowWords("Popularity", "popularity", "popularity"),
    "distance": RowWords("Distance", "distance", "distance"),
    "correction": RowWords("Correction", "the correction", "correction"),
    "core": RowWords("Opaque network", "the network's general pattern", "core"),
    "graph_token": RowWords("Two-hop token", "the two-hop token", "graph_token"),
}
"""Every row, and the token, which is no addend."""
ROW_LABELS: Final = {row: words.label for row, words in ROW_WORDS.items()}

_OWN_VISITS: Final = frozenset(
    {
        *("known", "stay", "once", "recent_visits", "in_burst", "in_trajectory", "just_before"),
        *("visits_ever", "overdue", "underdue", "own_category"),
    }
)
_CLOCK: Final = frozenset(
    {"visits_at_hour", "visits_on_day", "next_at_hour", "week_slot", "next_at_hour_on_day", *HOUR_FEATURES}
)
_OWN_STEPS: Final = frozenset({"own_transitions", "own_pairs", "own_transitions_at_hour", "slow_transitions"})
_SINGLE: Final = {
    "others_transitions": "others_transitions",
    "others_two_hop": "two_hop_addends",
    "popularity": "popularity",
    "known_popularity": "popularity",
    "visitors_alike": "popularity",
    "distance": "distance",
    "known_distance": "distance",
    "known_own_category": "own_visits",
    "together": "core",
}


def row_of_term(term: str) -> str:
    """The row an evidence term belongs to.

    >>> row_of_term("known_distance"), row_of_term("recency_14_days")
    ('distance', 'own_visits')

    Raises:
        KeyError: a term without a row.
    """
    if term in _OWN_VISITS or re.fullmatch("(recency|visits)_.*_days", term):
        return "own_visits"
    if term.startswith(("within_", "known_within_")):
        return "distance"
    if term in _CLOCK:
        return "hour_and_weekday"
    return "own_transitions" if term in _OWN_STEPS else _SINGLE[term]


def terms_of_source(source: str, terms: Iterable[str]) -> frozenset[str]:
    """The evidence terms that go with a source.

    >>> sorted(terms_of_source("distance", ["distance", "known_distance", "known"]))
    ['distance', 'known_distance']
    """
    if source == "own_revisits":
        gone = {"own_visits", "hour_and_weekday"}
        return frozenset(term for term in terms if row_of_term(term) in gone or term.startswith("known_"))
    row = "two_hop_addends" if source == "two_hops" else source
    return frozenset(term for term in terms if row_of_term(term) == row)
