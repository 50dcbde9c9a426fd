"""How many found cases each source of evidence holds up."""

from typing import Final, NamedTuple

import pandas as pd

from analysis.records.accuracy import is_hit
from analysis.records.causes import causes_of
from analysis.records.score_rows import SOURCE_LABELS

_WEIGHED: Final = (
    "own_revisits",
    "two_hops",
    "own_transitions",
    "others_transitions",
    "distance",
    "popularity",
    "core",
    "correction",
)
"""Sources that do not lie inside one another."""
_ALWAYS_TOLD: Final = ("two_hops", "core")


class Carriers(NamedTuple):
    """What carries a model at K.

    Attributes:
        k, found: the truth ranks within K in so many cases.
        lost: of these, lost without each source that the model has, most first; sources overlap.
    """

    k: int
    found: int
    lost: dict[str, int]


def find_carriers(removals: pd.DataFrame, k: int = 20) -> Carriers:
    """Count.

    Args:
        removals: from `analysis.records.causes.removal_table`.
    """
    causes = causes_of(removals, k)
    there = [source for source in _WEIGHED if removals[f"without_{source}"].notna().any()]
    lost = {source: int(causes[source].sum()) for source in there}
    return Carriers(k, int(is_hit(removals, k).sum()), dict(sorted(lost.items(), key=lambda entry: -entry[1])))


def describe_carriers(carriers: Carriers) -> str:
    """What carries the model; two hops and the core are always told, also where they carry nothing.

    >>> describe_carriers(Carriers(20, 9, {"own_revisits": 4, "core": 1, "two_hops": 0, "distance": 0}))
    "Of the 9 cases found at 20, 4 are lost without the walker's own visits, 1 without the network's core score, 0 \
without two hops (token and points)."
    """
    if not carriers.found or not carriers.lost:
        return ""
    first = next(iter(carriers.lost))
    told = [source for source in carriers.lost if source == first or source in _ALWAYS_TOLD]
    clauses = [f"{carriers.lost[source]:,} without {SOURCE_LABELS[source]}" for source in told]
    clauses[0] = clauses[0].replace(" without", " are lost without", 1)
    return f"Of the {carriers.found:,} cases found at {carriers.k}, {', '.join(clauses)}."
