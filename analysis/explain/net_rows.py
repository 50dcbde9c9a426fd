"""A score in the rows that sentences speak of: what belongs together is told as its net, not as addends that cancel."""

from typing import Final

from analysis.explain.types import ScoreDecomposition
from analysis.records.score_rows import OPAQUE_ROWS, ROW_WORDS, ROWS, row_of_term

_TOLD: Final = [row for row in ROWS if row not in OPAQUE_ROWS] + ["core"]
NET_ROWS: Final = {row: ROW_WORDS[row].words for row in _TOLD}
"""Row -> words. The correction scales the prior, so both belong to the user's own visits."""


def net_rows(entry: ScoreDecomposition) -> dict[str, float]:
    """Points by row, in the order of `NET_ROWS`; they add up to the total (to its residual).

    The graph token acts inside the core and has no points of its own.
    """
    rows = dict.fromkeys(NET_ROWS, 0.0)
    rows["core"] = entry.core
    rows["own_visits"] = entry.prior + entry.correction
    for term, value in entry.evidence_terms.items():
        rows[row_of_term(term)] += value
    return rows


def net_differences(a: ScoreDecomposition, b: ScoreDecomposition) -> dict[str, float]:
    """By how many points A leads B in each row, largest first whatever the sign; rows that are level are left out."""
    mine, theirs = net_rows(a), net_rows(b)
    differences = {row: mine[row] - theirs[row] for row in NET_ROWS}
    ordered = sorted(differences.items(), key=lambda item: -abs(item[1]))
    return {row: value for row, value in ordered if abs(value) >= 0.005}
