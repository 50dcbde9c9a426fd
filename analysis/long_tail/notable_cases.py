"""Three cases worth opening: found through past visits, found through two-hop paths, and missed."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from analysis.records.ablations import HOPS_ABLATIONS, describe_ablations
from analysis.records.accuracy import CLEAR_SHARE, is_hit, listed_share
from analysis.workspace import Workspace
from recap import columns as c
from recap.baselines import visit_counter
from recap.evaluation.cases import is_known_place

_KINDS: Final = ("past_visits", "two_hop_paths", "missed")
ABLATED: Final = {"past_visits": ("past_visits",), "two_hop_paths": HOPS_ABLATIONS}
"""The ablation behind each kind: the first that the model has. Explain offers the same ones as edits."""
FOUND_WITHIN: Final = 20
_SHORTLIST: Final = 128
"""Cases of a kind that are ablated where not all of them were."""

Ablate = Callable[[np.ndarray], pd.DataFrame]
"""Ablations of some cases, see `analysis.records.ablations.describe_ablations`."""


class NotableCase(NamedTuple):
    """A case worth opening.

    Attributes:
        rank, counter_rank: of the truth, by the model and by counting past visits.
        visits: of the user to the place, before the source.
        ablation: what was left out; None without an ablation.
        rank_without: of the truth in the ablation.
    """

    kind: str
    case: int
    rank: float
    counter_rank: float
    transition_count: int
    visits: int
    ablation: str | None = None
    rank_without: float | None = None


def find_notable(opened: Workspace, *, may_ablate: bool = True) -> list[NotableCase]:
    """The `notable_cases` of an opened model; it may run ablations of a few cases if those of all are not kept."""
    tables = opened.records_with_lists(), opened.with_model(visit_counter(opened.reads_time)).records()
    kept = opened.kept_ablations()
    if kept is not None:
        return notable_cases(opened, *tables, lambda cases: kept.iloc[cases])
    if not opened.has_parts or not may_ablate:
        return notable_cases(opened, *tables)

    def ablate(cases: np.ndarray) -> pd.DataFrame:
        return describe_ablations(opened.predictor, opened.predictor.cases.iloc[cases])

    return notable_cases(opened, *tables, ablate, shortlist=_SHORTLIST)


def notable_cases(
    opened: Workspace,
    records: pd.DataFrame,
    counter: pd.DataFrame,
    ablate: Ablate | None = None,
    *,
    shortlist: int | None = None,
) -> list[NotableCase]:
    """Up to one case of each kind, of different users if possible.

    Found cases rank within `FOUND_WITHIN`. With ablations, they are lost without the part. Otherwise the place was
    known, or is new and within two hops. Unseen transitions and places within reach come first, then first places,
    above all those with a clear first choice, then the largest ratio of the two ranks. The missed case is new, beyond
    two hops and of middling rank.

    Args:
        records, counter: records of the model and of `visit_counter`.
        ablate: None for a model without parts.
        shortlist: most cases of a kind to ablate; None for all.
    """
    wanted, cards = _wanted(records, ablated=ablate is not None), list[NotableCase]()
    is_found = is_hit(records, FOUND_WITHIN)
    is_first = is_hit(records, 1)
    unsure = 2 - is_first.astype(int) - (is_first & (listed_share(records) >= CLEAR_SHARE))
    for kind in _KINDS:
        is_new_user = ~records[c.USER].isin([int(opened.case(card.case)[c.USER]) for card in cards]).to_numpy()
        order = pd.DataFrame({c.RANK: records[c.RANK], "counter": -counter[c.RANK], c.CASE: records[c.CASE]})
        case, name, rank_without = None, None, None
        if kind == "missed":
            rank = order[c.RANK][wanted[kind] & is_new_user]
            case = _first((rank - rank.median()).abs().sort_values(kind="stable"))
        elif ablate is None:
            order.insert(0, "unsure", unsure)
            case = _first(order[wanted[kind] & is_new_user].sort_values(["unsure", c.RANK, "counter"], kind="stable"))
        else:
            order.insert(0, "unlikely", -(wanted[kind].astype(int) - ~is_new_user))
            order.insert(1, "unsure", unsure)
            hits = order[is_found].sort_values(["unlikely", c.RANK, "counter"], kind="stable")
            if shortlist is not None:
                hits = _spread(hits, int(wanted[kind].sum()), shortlist)
            ablations = ablate(np.sort(hits[c.CASE].to_numpy())).set_index(c.CASE).loc[hits[c.CASE].to_numpy()]
            name = next((name for name in ABLATED[kind] if ablations[f"without_{name}"].notna().any()), None)
            if name is not None:
                without = ablations[f"without_{name}"].to_numpy()
                lost = hits.assign(ratio=hits[c.RANK] / without, without=without)[without > FOUND_WITHIN]
                case = _first(lost.sort_values(["unlikely", "unsure", "ratio"], kind="stable"))
                rank_without = None if case is None else float(lost["without"].loc[case])
        if case is not None:
            seen = int(opened.case(case)[c.TRANSITION_COUNT])
            mine, theirs = (float(table[c.RANK].iloc[case]) for table in (records, counter))
            visits = visits_before(opened, case)
            cards.append(NotableCase(kind, case, mine, theirs, seen, visits, name, rank_without))
    return cards


def _spread(rows: pd.DataFrame, likely: int, most: int) -> pd.DataFrame:
    """At most this many rows: likely ones, evenly spread over their ranks, then the first of the others."""
    if likely <= most:
        return rows[:most]
    return rows.iloc[np.linspace(0, likely - 1, most).round().astype(int)]


def _first(rows: pd.DataFrame | pd.Series) -> int | None:
    return int(rows.index[0]) if len(rows) else None


def _wanted(records: pd.DataFrame, *, ablated: bool) -> dict[str, np.ndarray]:
    """The preferred cases of each kind: unseen transitions to another place."""
    moves = (records[c.SOURCE] != records[c.TARGET]).to_numpy()
    unseen = (records[c.TRANSITION_COUNT] == 0).to_numpy() & moves
    known, near = is_known_place(records), records[c.WITHIN_TWO_HOPS].to_numpy(bool)
    hit = is_hit(records, FOUND_WITHIN)
    return {
        "past_visits": unseen & hit & known,
        "two_hop_paths": unseen & hit & near & (ablated | ~known),
        "missed": unseen & ~hit & ~known & ~near,
    }


def visits_before(opened: Workspace, case: int) -> int:
    chosen = opened.case(case)
    row, target = int(chosen[c.ROW]), int(chosen[c.TARGET])
    first = int(opened.visits.first_T[row])
    return int((opened.visits.poi_T[first:row] == target).sum())
