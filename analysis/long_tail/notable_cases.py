"""Three cases worth opening: found through past visits, found through two-hop paths, and one that is missed."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from analysis.records.accuracy import is_hit
from analysis.workspace import Workspace
from recap import columns as c

KINDS: Final = ("past_visits", "two_hop_paths", "missed")
ABLATED: Final = {"past_visits": ("past_visits",), "two_hop_paths": ("two_hop_paths", "graph_token")}
"""The ablation behind each kind: the first that the model has. Explain offers the same ones as edits."""
FOUND_WITHIN: Final = 20
SHORTLIST: Final = 48
"""Cases of a kind that are ablated where not all of them were."""

Ablate = Callable[[np.ndarray], pd.DataFrame]
"""Ablations of some cases, see `analysis.records.ablations.describe_ablations`."""


class NotableCase(NamedTuple):
    """A case worth opening.

    Attributes:
        kind: one of `KINDS`.
        case: its number.
        rank, counter_rank: of the truth, by the model and by counting past visits.
        transition_count: how often the transition occurred in training.
        visits: of the user to the place, before the source.
        ablation: what was left out; None where no ablation was run.
        rank_without: of the truth then.
    """

    kind: str
    case: int
    rank: float
    counter_rank: float
    transition_count: int
    visits: int
    ablation: str | None = None
    rank_without: float | None = None


def notable_cases(
    opened: Workspace,
    records: pd.DataFrame,
    counter: pd.DataFrame,
    ablate: Ablate | None = None,
    *,
    shortlist: int | None = None,
) -> list[NotableCase]:
    """Up to one case of each kind, of different users if possible.

    Found cases are ranked within `FOUND_WITHIN`. With ablations they are lost without the part; without, the place
    was visited before, or is new and lies within two hops. Unseen transitions and places within reach come first, then
    the largest ratio of the two ranks. The missed case is new, beyond two hops and of middling rank.

    Args:
        records, counter: records of the model and of `visit_count`.
        ablate: of the model; None where its score has no parts.
        shortlist: how many cases of a kind are ablated at most; None for all.
    """
    masks = _candidates(records)
    found: list[NotableCase] = []
    for kind in KINDS:
        seen = records[c.USER].isin([int(opened.case(card.case)[c.USER]) for card in found]).to_numpy()
        if kind == "missed":
            ranks = records[c.RANK].where(masks[kind] & ~seen)
            if ranks.notna().any():
                order = pd.DataFrame({"gap": (ranks - ranks.median()).abs(), c.CASE: records[c.CASE]}).dropna()
                found.append(_card(opened, records, counter, kind, int(order.sort_values(["gap", c.CASE]).index[0])))
            continue
        likely = masks[kind].astype(int) - seen
        order = pd.DataFrame({"likely": -likely, c.RANK: records[c.RANK], "counter": -counter[c.RANK]})
        if ablate is None:
            rows = order[masks[kind] & ~seen].sort_values(["likely", c.RANK, "counter"], kind="stable").index
            if len(rows):
                found.append(_card(opened, records, counter, kind, int(rows[0])))
            continue
        hits = order[is_hit(records, FOUND_WITHIN)].sort_values(["likely", c.RANK, "counter"], kind="stable")
        rows = hits.index.to_numpy()[:shortlist]
        ablations = ablate(np.sort(rows)).set_index(c.CASE).loc[rows]
        name = next((name for name in ABLATED[kind] if ablations[f"without_{name}"].notna().any()), None)
        if name is None:
            continue
        without = ablations[f"without_{name}"]
        lost = hits.loc[rows].assign(ratio=hits[c.RANK] / without)[(without > FOUND_WITHIN).to_numpy()]
        if len(lost):
            row = int(lost.sort_values(["likely", "ratio"], kind="stable").index[0])
            card = _card(opened, records, counter, kind, row)
            found.append(card._replace(ablation=name, rank_without=float(without.loc[row])))
    return found


def _candidates(records: pd.DataFrame) -> dict[str, np.ndarray]:
    """Unseen transitions to another place, for each kind those that are told best by it."""
    moves = (records[c.SOURCE] != records[c.TARGET]).to_numpy()
    unseen = (records[c.TRANSITION_COUNT] == 0).to_numpy() & moves
    known, near = records[c.IN_HISTORY].to_numpy(bool), records[c.WITHIN_TWO_HOPS].to_numpy(bool)
    hit = is_hit(records, FOUND_WITHIN)
    return {
        "past_visits": unseen & hit & known,
        "two_hop_paths": unseen & hit & ~known & near,
        "missed": unseen & ~hit & ~known & ~near,
    }


def _card(opened: Workspace, records: pd.DataFrame, counter: pd.DataFrame, kind: str, case: int) -> NotableCase:
    ranks = (float(table[c.RANK].iloc[case]) for table in (records, counter))
    return NotableCase(kind, case, *ranks, int(opened.case(case)[c.TRANSITION_COUNT]), visits_before(opened, case))


def visits_before(opened: Workspace, case: int) -> int:
    """How often the user had visited the case's target before its source."""
    chosen = opened.case(case)
    row, target = int(chosen[c.ROW]), int(chosen[c.TARGET])
    first = int(opened.visits.first_T[row])
    return int((opened.visits.poi_T[first:row] == target).sum())
