"""Three cases worth opening: found by own visits, found by two hops, and one that nothing could rebuild."""

from typing import Final, NamedTuple

import pandas as pd

from analysis.formatting import ordinal, times
from analysis.records.case_filters import CAUSES, MISSED_ABOVE, filter_masks
from analysis.workspace import Workspace
from recap import columns as c

KINDS: Final = ("history", "hops", "missed")
_WITHOUT: Final = {"history": "own visits", "hops": "two hops"}


class NotableCase(NamedTuple):
    """A case worth opening.

    Attributes:
        kind: ``history``, ``hops`` or ``missed``.
        case: its number.
        markov_rank, rank: of the truth, by transition counts alone and by the model.
        reason: one sentence with the numbers it rests on.
        rank_without: of the truth without own visits (history) or two hops (hops), for all places; None where nothing
            was removed: then the case merely coincides with the kind.
    """

    kind: str
    case: int
    markov_rank: float
    rank: float
    reason: str
    rank_without: float | None = None


def notable_cases(
    opened: Workspace, records: pd.DataFrame, markov: pd.DataFrame, ablations: pd.DataFrame | None = None
) -> list[NotableCase]:
    """Up to three cases: found by revisits, by two hops, and one out of reach of both; of different users if possible.

    With ablations the first two are causes: found with own visits (two hops) and lost without. The best rank comes
    first, then the worst one without; steps never seen, places within reach and users not shown yet are
    preferred. Without ablations they coincide: unseen steps that Markov misses, to a place visited before (within two
    hops); the rescue from the lowest Markov rank to the best rank comes first. Where there is no such case, it is
    missing.

    Args:
        ablations: the model's, from `analysis.records.causes.case_ablations`; None for a baseline, which has none.
    """
    masks = filter_masks(records, markov, ablations=ablations)
    moves = (records[c.SOURCE] != records[c.TARGET]).to_numpy()
    reached = {"history": records[c.IN_HISTORY].to_numpy(bool), "hops": records[c.WITHIN_TWO_HOPS].to_numpy(bool)}
    blind = masks["missed"] & masks["unseen"] & moves & ~reached["history"] & ~reached["hops"]
    found: list[NotableCase] = []
    users: set[int] = set()
    for kind in KINDS:
        without = None if ablations is None or kind == "missed" else ablations[f"without_{CAUSES[kind]}"]
        table = pd.DataFrame(
            {
                c.USER: records[c.USER],
                c.RANK: records[c.RANK],
                "markov": markov[c.RANK],
                c.CASE: records[c.CASE],
                "seen_user": records[c.USER].isin(users),
            }
        )
        if kind == "missed":  # a middling miss, not the nearest and not the most hopeless
            table = table[blind & ~table["seen_user"]]
            table = table.assign(rank_gap=(table[c.RANK] - table[c.RANK].median()).abs()).sort_values(
                ["rank_gap", c.CASE]
            )
        elif without is None:
            table = table[masks[kind] & masks["unseen"] & moves & ~table["seen_user"]]
            table = table.sort_values([c.RANK, "markov", c.CASE], ascending=[True, False, True])
        else:
            fit = (masks["unseen"] & moves & reached[kind]).astype(int) - table["seen_user"].astype(int)
            table = table.assign(fit=fit, without=without)[masks[kind]]
            table = table.sort_values(["fit", c.RANK, "without", c.CASE], ascending=[False, True, False, True])
        if table.empty:
            continue
        best = table.iloc[0]
        users.add(int(best[c.USER]))
        case = int(best[c.CASE])
        rank_without = None if without is None else float(best["without"])
        reason = _reason(opened, kind, case, rank_without)
        found.append(NotableCase(kind, case, float(best["markov"]), float(best[c.RANK]), reason, rank_without))
    return found


def describe_absent(cases: list[NotableCase], *, causes: bool) -> str:
    """Which kinds of cause no case shows, in one sentence; empty where each has its case, or nothing was removed."""
    shown = {case.kind for case in cases}
    missing = [_WITHOUT[kind] for kind in CAUSES if kind not in shown] if causes else []
    if not missing:
        return ""
    return f"No test case is found at {MISSED_ABOVE} with {' or with '.join(missing)} and lost without."


def visits_before(opened: Workspace, case: int) -> int:
    """How often the user had visited the case's target before its source."""
    chosen = opened.case(case)
    row, target = int(chosen[c.ROW]), int(chosen[c.TARGET])
    first = int(opened.visits.first_T[row])
    return int((opened.visits.poi_T[first:row] == target).sum())


def _reason(opened: Workspace, kind: str, case: int, rank_without: float | None) -> str:
    chosen = opened.case(case)
    seen = int(chosen[c.TRANSITION_COUNT])
    step = "A new step" if seen == 0 else f"A step seen {times(seen)}"
    lost = None if rank_without is None else f"Without {_WITHOUT[kind]} it would rank {ordinal(rank_without)}."
    if kind == "history":
        visits = visits_before(opened, case)
        known = "once" if visits == 1 else f"{visits:,} times"
        told = f"{step} to a place that this user had visited {known}." if visits else f"{step}."
        return f"{told} {lost}" if lost else told
    if kind == "hops":
        paths = opened.graph.two_hop_paths(int(chosen[c.SOURCE]), int(chosen[c.TARGET]))
        whose = "A place this user knew." if visits_before(opened, case) else "New to this user."
        if paths.empty:
            return f"{whose} {lost}" if lost else "New to this user, and one training step away."
        link = "links" if len(paths) == 1 else f"and {len(paths) - 1} more link"
        told = f"{whose} {opened.labels[paths['middle'].tolist()[0]]} {link} the two."
        return f"{told} {lost}" if lost else told
    return "No earlier visit and no two-hop path."
