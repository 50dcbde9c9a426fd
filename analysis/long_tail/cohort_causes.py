"""Tail cases by where their target lies, and what finds them: found at K, and found but lost without one source.

Where a target lies is a coincidence; lost without a source is a cause (`analysis.records.causes`).
"""

from typing import Final

import numpy as np
import pandas as pd

from analysis.long_tail.accuracy_tables import COHORTS
from analysis.records.accuracy import is_hit
from analysis.records.causes import causes_of
from analysis.registers import Words
from recap import columns as c
from recap.errors import ConfigError
from recap.graph import TAIL_MAX_COUNT

TOLD_SOURCES: Final = {
    "own_revisits": "own visits",
    "two_hops": "two hops",
    "own_transitions": "own steps",
    "others_transitions": "others' steps",
    "distance": "distance",
    "core": "core",
}
"""Sources that have a column where the model has them, in words."""
COHORT_LABELS: Final = {
    (True, True): "visited, within two hops",
    (False, True): "new, within two hops",
    (True, False): "visited, beyond two hops",
    (False, False): "new, beyond two hops",
}
"""Of the true place: visited by the walker before, or new to them."""


def causes_by_evidence(
    cases: pd.DataFrame, removals: pd.DataFrame, k: int, *, eta: int = TAIL_MAX_COUNT
) -> pd.DataFrame:
    """Count what finds the tail cases of each cohort.

    Args:
        cases: the case table or any records, one row per test case.
        removals: the model's, of the same cases.
        k: found means a rank of at most K.
        eta: tail means a step seen at most this often in training.

    Returns:
        One row for each of `COHORTS`: ``in_history, within_two_hops, n, found`` and ``lost_<source>`` (found, and lost
        without it) for those of `TOLD_SOURCES` that the model has; sources overlap.

    Raises:
        ConfigError: tables of other lengths, or K below 1.
    """
    if len(cases) != len(removals):
        raise ConfigError(f"{len(cases)} cases and {len(removals)} rows of removals do not belong together")
    causes = causes_of(removals, k)
    found = is_hit(removals, k)
    is_tail = cases[c.TRANSITION_COUNT].to_numpy(np.int64) <= eta
    history, near = cases[c.IN_HISTORY].to_numpy(bool), cases[c.WITHIN_TWO_HOPS].to_numpy(bool)
    sources = [source for source in TOLD_SOURCES if removals[f"without_{source}"].notna().any()]
    rows = []
    for in_history, within_two_hops in COHORTS:
        inside = is_tail & (history == in_history) & (near == within_two_hops)
        lost = {f"lost_{source}": int((inside & causes[source].to_numpy()).sum()) for source in sources}
        counts = {"n": int(inside.sum()), "found": int((inside & found).sum()), **lost}
        rows.append({c.IN_HISTORY: in_history, c.WITHIN_TWO_HOPS: within_two_hops, **counts})
    return pd.DataFrame(rows)


def cohort_cells(table: pd.DataFrame, words: Words | None = None) -> pd.DataFrame:
    """`causes_by_evidence` as it is shown: words for the cohorts, headings that say what was taken away."""
    words = words or Words()
    flags = zip(table[c.IN_HISTORY].astype(bool), table[c.WITHIN_TWO_HOPS].astype(bool), strict=True)
    shown = pd.DataFrame({"True place": [words.sentence(COHORT_LABELS[key]) for key in flags]})
    shown["Cases"], shown["Found"] = table["n"], table["found"]
    for column in table.columns:
        if str(column).startswith("lost_"):
            source = str(column).removeprefix("lost_")
            shown[f"Without {words.source(source, TOLD_SOURCES[source])}"] = table[column]
    return shown
