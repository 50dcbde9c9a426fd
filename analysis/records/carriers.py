"""What carries a model: how many found cases each source of evidence holds up, and how much of the points is exact."""

import math
from typing import Final, NamedTuple

import pandas as pd

from analysis.formatting import percent
from analysis.records.accuracy import is_hit
from analysis.records.causes import causes_of
from analysis.records.score_rows import EXACT_ROWS, ROWS, SOURCE_LABELS
from analysis.registers import Words

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
        exact_share: median over cases of the share of exact addends in the truth's points, signs aside.
    """

    k: int
    found: int
    lost: dict[str, int]
    exact_share: float


def find_carriers(removals: pd.DataFrame, k: int = 20) -> Carriers:
    """Count and weigh.

    Args:
        removals: from `analysis.records.causes.removal_table`.
    """
    causes = causes_of(removals, k)
    there = [source for source in _WEIGHED if removals[f"without_{source}"].notna().any()]
    lost = {source: int(causes[source].sum()) for source in there}
    size = {row: removals[f"points_{row}"].fillna(0.0).abs() for row in ROWS}
    whole = sum(size.values(), start=pd.Series(0.0, index=removals.index))
    exact = sum((size[row] for row in EXACT_ROWS), start=pd.Series(0.0, index=removals.index))
    share = (exact / whole.where(whole > 0)).median()
    by_loss = dict(sorted(lost.items(), key=lambda entry: -entry[1]))
    return Carriers(k, int(is_hit(removals, k).sum()), by_loss, float(share))


def describe_carriers(carriers: Carriers, words: Words | None = None) -> str:
    """What carries the model, in two sentences; two hops and the core are always told, also where they carry nothing.

    >>> describe_carriers(Carriers(20, 9, {"own_revisits": 4, "core": 1, "two_hops": 0, "distance": 0}, 0.72))
    "Of the 9 cases found at 20, 4 are lost without the walker's own visits, 1 without the network's core score, 0 \
without two hops (token and points). Exact addends are 72 % of the truth's points, the network the rest (median over \
cases, signs aside)."
    """
    if not carriers.found or not carriers.lost:
        return ""
    first = next(iter(carriers.lost))
    told = [source for source in carriers.lost if source == first or source in _ALWAYS_TOLD]
    words = words or Words()
    clauses = [f"{carriers.lost[source]:,} without {words.source(source, SOURCE_LABELS[source])}" for source in told]
    clauses[0] = clauses[0].replace(" without", " are lost without", 1)
    lost = f"Of the {carriers.found:,} cases found at {carriers.k}, {', '.join(clauses)}."
    if math.isnan(carriers.exact_share):
        return lost
    share = percent(carriers.exact_share)
    rest = "the network the rest (median over cases, signs aside)"
    return f"{lost} Exact addends are {share} of the truth's points, {rest}."
