"""The clues that people read: evidence terms in words, gathered into rows where there are too many to read.

A clue is one or several terms of a score whose points add up, and what a removal takes away as one thing.
"""

import re
from collections.abc import Iterable
from typing import Final

from analysis.records.score_rows import OPAQUE_ROWS, ROW_LABELS, row_of_term

MOST_TERMS: Final = 24
"""What the evidence with sessions has at most; with further habits a place has about twice as many."""

TERM_LABELS: Final = {
    "popularity": "Popularity",
    "distance": "Distance",
    "others_two_hop": "Others in two steps",
    "known": "Visited before",
    "stay": "Staying here",
    "once": "Visited once",
    "recent_visits": "Recent visits",
    "visits_at_hour": "Visits at this hour",
    "visits_on_day": "Visits on such days",
    "next_at_hour": "Next after this hour",
    "own_transitions": "Own steps from here",
    "own_pairs": "Own steps after the last two",
    "others_transitions": "Others' steps from here",
    "in_burst": "Visits a moment ago",
    "in_trajectory": "Visits on this walk",
    "just_before": "The place before this one",
    "own_transitions_at_hour": "Own steps from here at this hour",
    "week_slot": "Visits on this weekday and hour",
    "next_at_hour_on_day": "Next after this hour on such days",
    "slow_transitions": "Own steps from here after a stay",
    "visitors_alike": "Visitors with similar places",
    "known_popularity": "Popularity, visited before",
    "known_distance": "Distance, visited before",
    "visits_ever": "All visits",
    "overdue": "Away for longer than usual",
    "underdue": "Away for less than usual",
    "visits_close_to_hour": "Visits within half an hour of this hour",
    "visits_about_hour": "Visits around this hour",
    "visits_on_weekday": "Visits on this weekday",
    "visits_first_of_day": "First visits of a day",
    "own_category": "Visits to such places",
    "known_own_category": "Visits to such places, visited before",
    "together": "What no single clue says",
}
"""Words for evidence terms; terms with a scale in their name are told by `_SCALED`, recency by its name."""

_SCALED: Final = (
    (r"visits_(.+)_days", r"Visits of about the last \1 days"),
    (r"visits_(\d+)_to_(\d+)_hours_later", r"Visits \1 to \2 hours later in the day"),
    (r"within_(.+)_km", r"Within about \1 km"),
    (r"known_within_(.+)_km", r"Within about \1 km, visited before"),
)


def evidence_label(name: str) -> str:
    """An evidence term in words.

    >>> evidence_label("others_two_hop"), evidence_label("visits_7_days"), evidence_label("recency_14_days")
    ('Others in two steps', 'Visits of about the last 7 days', 'Recency 14 days')
    """
    if name in TERM_LABELS:
        return TERM_LABELS[name]
    for pattern, words in _SCALED:
        if re.fullmatch(pattern, name):
            return re.sub(pattern, words, name)
    return name.replace("_", " ").capitalize()


def clues(terms: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Terms by clue, in order: each for itself, or by row of the score where they are more than `MOST_TERMS`.

    >>> clues(["distance", "known_distance"])
    {'Distance': ('distance',), 'Distance, visited before': ('known_distance',)}
    """
    names = list(terms)
    if len(names) <= MOST_TERMS:
        return {evidence_label(name): (name,) for name in names}
    found: dict[str, tuple[str, ...]] = {}
    for name in names:
        row = row_of_term(name)
        label = evidence_label(name) if row in OPAQUE_ROWS else ROW_LABELS[row]  # the core stands beside it already
        found[label] = (*found.get(label, ()), name)
    return found


def points_of(terms: dict[str, float], clue: Iterable[str]) -> float:
    """What a clue's terms add up to; a term that is missing is 0."""
    return sum(terms.get(name, 0.0) for name in clue)
