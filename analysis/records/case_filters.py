"""Cases by what they show: the filters of Walk, and three cases worth opening."""

from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from analysis.formatting import times
from analysis.records.accuracy import is_hit
from analysis.records.causes import recovered_by
from analysis.records.loaded_dataset import LoadedDataset
from recap import columns as c
from recap.errors import ConfigError
from recap.evaluation.metrics import group_masks
from recap.graph import TAIL_MAX_COUNT

FILTERS: Final = ("tail", "unseen", "missed", "history", "hops")
FILTER_LABELS: Final = {
    "tail": "Tail",
    "unseen": "Unseen",
    "missed": "Missed",
    "history": "Recovered by history",
    "hops": "Recovered by two hops",
}
CAUSES: Final = {"history": "own_revisits", "hops": "two_hops"}
"""The source of evidence whose removal loses the cases of a filter."""
MISSED_ABOVE: Final = 20


class NotableCase(NamedTuple):
    """A case worth opening.

    Attributes:
        kind: ``history``, ``hops`` or ``missed``.
        case: its number.
        markov_rank, rank: of the truth, by transition counts alone and by the model.
        reason: one sentence with the numbers it rests on.
    """

    kind: str
    case: int
    markov_rank: float
    rank: float
    reason: str


def filter_masks(
    records: pd.DataFrame,
    markov: pd.DataFrame,
    *,
    k: int = MISSED_ABOVE,
    eta: int = TAIL_MAX_COUNT,
    removals: pd.DataFrame | None = None,
) -> dict[str, np.ndarray]:
    """One mask over the cases for each name in `FILTERS`.

    ``missed``: the truth ranks below k. ``history`` and ``hops``: transition counts alone (Markov) miss it at k, the
    model does not, and the target was visited before (history) or, never visited, lies within two hops (hops). With
    removals they are causes: found at k with the user's own visits (history) or two hops (hops), and lost without.

    Args:
        records, markov: the model's and Markov's records of the same cases.
        removals: the model's, from `analysis.records.causes.removal_table`; None for a baseline, which has none.
    """
    groups = group_masks(records[c.TRANSITION_COUNT], eta)
    recovered = is_hit(records, k) & ~is_hit(markov, k)
    visited, near = records[c.IN_HISTORY].to_numpy(bool), records[c.WITHIN_TWO_HOPS].to_numpy(bool)
    found_by = {"history": recovered & visited, "hops": recovered & ~visited & near}
    if removals is not None:
        found_by = {name: recovered_by(removals, source, k).to_numpy(bool) for name, source in CAUSES.items()}
    return {
        "tail": groups["tail"].to_numpy(bool),
        "unseen": groups["unseen"].to_numpy(bool),
        "missed": ~is_hit(records, k),
        **found_by,
    }


def filter_cases(
    records: pd.DataFrame,
    markov: pd.DataFrame,
    names: list[str],
    *,
    k: int = MISSED_ABOVE,
    eta: int = TAIL_MAX_COUNT,
    removals: pd.DataFrame | None = None,
) -> np.ndarray:
    """Numbers of the cases that pass every named filter, ascending; all of them without a name.

    Raises:
        ConfigError: unknown name.
    """
    unknown = [name for name in names if name not in FILTERS]
    if unknown:
        raise ConfigError(f"unknown filter {unknown[0]!r}; choose from {', '.join(FILTERS)}")
    masks = filter_masks(records, markov, k=k, eta=eta, removals=removals)
    kept = np.logical_and.reduce([np.ones(len(records), dtype=bool), *(masks[name] for name in names)])
    return records[c.CASE].to_numpy(np.int64)[kept]


def cases_at_place(opened: LoadedDataset, text: str) -> np.ndarray:
    """Numbers of the cases whose source or target has ``text`` in its name or category, whatever the capitals."""
    wanted = " ".join(text.split()).casefold()
    category = opened.dataset.pois[c.CATEGORY].astype(str)
    fits = np.array(
        [
            wanted in name.casefold() or wanted in kind.casefold()
            for name, kind in zip(opened.labels, category, strict=True)
        ]
    )
    mask = fits[opened.cases[c.SOURCE].to_numpy()] | fits[opened.cases[c.TARGET].to_numpy()]
    return opened.cases[c.CASE].to_numpy(np.int64)[mask]


def notable_cases(opened: LoadedDataset, records: pd.DataFrame, markov: pd.DataFrame) -> list[NotableCase]:
    """Up to three cases of different users: recovered by revisits, by two hops, and one without any evidence.

    The rescue that moves the truth from the lowest Markov rank to the best rank comes first; transitions from a place
    to itself are left out. Where the data shows no such case, it is missing.
    """
    masks = filter_masks(records, markov)
    unseen = masks["unseen"] & (records[c.SOURCE] != records[c.TARGET]).to_numpy()
    blind = masks["missed"] & ~records[c.IN_HISTORY].to_numpy(bool) & ~records[c.WITHIN_TWO_HOPS].to_numpy(bool)
    found: list[NotableCase] = []
    users: set[int] = set()
    for kind, mask in (("history", masks["history"]), ("hops", masks["hops"]), ("missed", blind)):
        table = pd.DataFrame(
            {c.USER: records[c.USER], c.RANK: records[c.RANK], "markov": markov[c.RANK], c.CASE: records[c.CASE]}
        )[mask & unseen]
        table = table[~table[c.USER].isin(users)]
        if table.empty:
            continue
        if kind == "missed":  # a middling miss, not the nearest and not the most hopeless
            table = table.assign(rank_gap=(table[c.RANK] - table[c.RANK].median()).abs()).sort_values(
                ["rank_gap", c.CASE]
            )
        else:
            table = table.sort_values([c.RANK, "markov", c.CASE], ascending=[True, False, True])
        best = table.iloc[0]
        users.add(int(best[c.USER]))
        case = int(best[c.CASE])
        found.append(NotableCase(kind, case, float(best["markov"]), float(best[c.RANK]), _reason(opened, kind, case)))
    return found


def visits_before(opened: LoadedDataset, case: int) -> int:
    """How often the user had visited the case's target before its source."""
    chosen = opened.case(case)
    row, target = int(chosen[c.ROW]), int(chosen[c.TARGET])
    first = int(opened.visits.first_T[row])
    return int((opened.visits.poi_T[first:row] == target).sum())


def _reason(opened: LoadedDataset, kind: str, case: int) -> str:
    if kind == "history":
        visits = visits_before(opened, case)
        return f"A new step, yet this walker had been there {times(visits)}."
    if kind == "hops":
        chosen = opened.case(case)
        paths = opened.graph.two_hop_paths(int(chosen[c.SOURCE]), int(chosen[c.TARGET]))
        if paths.empty:
            return "New to this walker, and one training step away."
        link = "links" if len(paths) == 1 else f"and {len(paths) - 1} more link"
        return f"New to this walker. {opened.labels[paths['middle'].tolist()[0]]} {link} the two."
    return "No earlier visit and no two-hop path: nothing to rebuild it from."
