"""The case that opens by default."""

from collections.abc import Callable
from typing import Final

import numpy as np
import pandas as pd

from analysis.records.ablations import HOPS_ABLATIONS
from analysis.records.case_filters import MISSED_ABOVE
from recap import columns as c

SHORTLIST: Final = 32
"""Cases whose ablations are run when none are kept."""


def first_case(
    cases: pd.DataFrame,
    records: pd.DataFrame | None,
    ablations: pd.DataFrame | None,
    ablate: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
) -> int:
    """A striking case of the long tail, or the best there is.

    Criteria, most important first: found, never seen in training, with past visits and a two-hop path, ranked lower
    without each of the two, and past visits adding to the score. Then the best rank, then the lowest rank without
    two-hop paths.

    Args:
        cases: see `recap.evaluation.cases.describe_cases`.
        records: the model's; None if there are none yet.
        ablations: from `Workspace.kept_ablations`, or None.
        ablate: runs the ablations of some cases, see `describe_ablations`; called only if none are kept, for the best
            `SHORTLIST` cases by the other criteria.
    """
    rank_N = np.zeros(len(cases)) if records is None else records[c.RANK].to_numpy(np.float64)
    order_N = _best_first(cases, rank_N, ablations)
    if ablations is None and ablate is not None:
        some = order_N[:SHORTLIST]
        table = ablate(cases.iloc[some])
        order_N = some[_best_first(cases.iloc[some], table[c.RANK].to_numpy(np.float64), table)]
    return int(order_N[0])


def _best_first(cases: pd.DataFrame, rank_N: np.ndarray, ablations: pd.DataFrame | None) -> np.ndarray:
    is_new_N = ((cases[c.TRANSITION_COUNT] == 0) & (cases[c.SOURCE] != cases[c.TARGET])).to_numpy()
    has_both_N = (cases[c.IN_HISTORY] & cases[c.TWO_STEP_WALK]).to_numpy()
    without = {name: np.zeros(len(cases)) for name in ("past", "hops")}
    if ablations is not None:
        hops = next((name for name in HOPS_ABLATIONS if ablations[f"without_{name}"].notna().any()), HOPS_ABLATIONS[0])
        without["hops"] = ablations[f"without_{hops}"].fillna(0.0).to_numpy()
        without["past"] = ablations["without_past_visits"].fillna(0.0).to_numpy()
    at_work_N = sum(((lost_N > rank_N).astype(int) for lost_N in without.values()), np.zeros(len(cases), dtype=int))
    if ablations is not None:
        at_work_N += (ablations["contribution_past_visits"] > 0).to_numpy()
    wanted = (rank_N <= MISSED_ABOVE, is_new_N, has_both_N, at_work_N)
    ties = (rank_N, -without["hops"], -without["past"])
    return np.lexsort([*reversed([*(-column.astype(np.float64) for column in wanted), *ties])])
