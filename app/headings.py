"""Headings and names in the tables of commands and views; JSON and CSV keep the names of the code."""

from collections.abc import Mapping
from typing import Final

from analysis.glossary import TERMS
from recap import columns as c

HEADINGS: Final[Mapping[str, str]] = {
    "model": "model",
    "all": "all",
    "tail_known": "rare, place known",
    "tail_new": "rare, place new",
    "head": "frequent",
    "bin": "seen in training",
    "n": "cases",
    "lower": "95 % from",
    "upper": "to",
    "is_known": "known place",
    "within_two_hops": "within two hops",
    "transition_count": "seen in training",
    "pairs": "distinct transitions",
    "share": "share",
    "cases": "cases",
    "case_share": "share of cases",
}
"""Columns in the order they are printed; a table's other columns are left out."""
USER_HEADINGS: Final[Mapping[str, str]] = {
    "user_name": "user",
    "n": "cases",
    "hr1": "HR@1",
    "hr20": "HR@20",
    "mrr": "MRR",
}
LIFT_HEADINGS: Final[Mapping[str, str]] = {
    "control": "compared with",
    "n": "cases",
    "observed": "within two hops",
    "chance": "by chance",
    "lift": "ratio",
    "lower": "95 % from",
    "upper": "to",
}
HOP_HEADINGS: Final[Mapping[str, str]] = {
    "n": "hops",
    "coverage": "unseen transitions reached",
    "avg_candidates": "places reached",
    "snr_x1000": "signal to noise × 1000",
}
HOP_COLUMNS: Final = (*HOP_HEADINGS.values(), "from any place", "signal to noise × 1000")
"""Of `recap stats`: from the sources of unseen test transitions, then from every place."""
WORTH_HEADINGS: Final[Mapping[str, str]] = {
    "label": "without",
    "hr": "HR@20 lost",
    "hr_low": "95 % from",
    "hr_high": "to",
    "mrr": "MRR lost",
    "mrr_low": "95 % from",
    "mrr_high": "to",
}
MISS_HEADINGS: Final[Mapping[str, str]] = {"label": "kind of miss", "n": "cases", "share": "share"}
STOP_HEADINGS: Final[Mapping[str, str]] = {"stop": "#", "local_time": "time", "name": "place", "case": "case"}
CELL_HEADINGS: Final[Mapping[str, str]] = {
    "cases": "cases",
    "missed": "missed",
    "share": "share missed",
    "users": "users",
    "south": "south edge",
    "west": "west edge",
}
TITLES: Final[Mapping[str, str]] = {
    "by_transition_count": "Accuracy by how often the transition was seen",
    "by_destination_count": "Accuracy by how often the place was seen",
    "by_cohort": "Accuracy on rare transitions",
    "distribution": "How often test transitions were seen",
    "hops": "What each further hop adds",
    "lift": "How often true places are within two hops",
    "worth": "Accuracy lost without each part",
    "misses": "Kinds of misses",
}
_NAMES: Final = {
    "uniform": "any place",
    "own_visits": "the user's own visits",
    "unvisited": "new places, as popular and as near",
}
STATISTICS: Final[Mapping[str, str]] = {
    "dataset_hash": "dataset hash",
    "unique_test_pairs": "distinct test transitions",
    "unseen_unique_test_pairs": "never seen in training",
    "unique_tail_share": "rare, share of distinct transitions",
    "case_tail_share": "rare, share of cases",
    "case_unseen_share": "never seen, share of cases",
    "in_history_share": "place visited before, share of cases",
    "tail_in_history": "rare: place visited before",
    "tail_within_two_hops": "rare: within two hops",
    "tail_within_both": "rare: both",
    "tail_two_step_walk": "rare: a two-hop path leads there",
    "tail_two_step_both": "rare: path and place visited before",
    "cases": "test cases",
    "head": "frequent",
    "tail": "rare",
    "steps": "all test transitions",
    "checkins": "check-ins",
    "merged_checkins": "check-ins after merging",
    "unseen_pairs": "transitions never seen",
    "unseen_sources": "sources of these",
    "mean_degree": "places one hop from a source",
    "two_hop_candidates": "places two hops from a source",
    "two_hop_coverage": "never seen: within two hops",
    "two_hop_snr_x1000": "signal to noise × 1000, two hops",
}


def accuracy_headings(value: str, reference: str) -> dict[str, str]:
    """Headings of accuracy by count or by kind of place.

    Args:
        value, reference: headings of the two models' accuracies.
    """
    columns = ("bin", c.IS_KNOWN, c.WITHIN_TWO_HOPS, "n", "value", "lower", "upper", "reference")
    named = {**HEADINGS, "value": value, "reference": reference}
    return {column: named[column] for column in columns}


def cell_words(value: object) -> object:
    """A cell in words.

    >>> cell_words(True), cell_words("own_visits"), cell_words(3)
    ('yes', "the user's own visits", 3)
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str):
        return value
    return _NAMES.get(value) or (TERMS[value].word if value in TERMS else value)
