"""The first case: found, never seen, with past visits and two hops at work; what is not known is not asked for."""

import numpy as np
import pandas as pd

from analysis.records.ablations import COLUMNS
from analysis.records.first_case import SHORTLIST, first_case
from recap import columns as c

CASES = pd.DataFrame(
    {  # 0 seen; 1 missed; 2 no path; 3 stays in place; 4 past visits alone at work; 5 and 6 both; 7 both, ranked 2nd
        c.TRANSITION_COUNT: [1, 0, 0, 0, 0, 0, 0, 0],
        c.SOURCE: [0, 0, 0, 5, 0, 0, 0, 0],
        c.TARGET: [5, 5, 5, 5, 5, 5, 5, 5],
        c.IN_HISTORY: [True] * 8,
        c.TWO_STEP_WALK: [True, True, False, True, True, True, True, True],
    }
)
RECORDS = pd.DataFrame({c.RANK: [1.0, 30.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]})


def ablations(hops: str) -> pd.DataFrame:
    table = pd.DataFrame(np.nan, index=range(8), columns=list(COLUMNS))
    table["without_past_visits"] = [9.0, 99.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0]
    table[f"without_{hops}"] = [3.0, 40.0, 1.0, 3.0, 1.0, 2.0, 4.0, 8.0]
    return table


def test_the_most_telling_case_comes_first() -> None:
    """Case 6: 1st, 4th without two-hop paths, 9th without past visits; the paper's model has the token instead."""
    assert first_case(CASES, RECORDS, ablations("two_hop_paths")) == 6
    assert first_case(CASES, RECORDS, ablations("graph_token")) == 6
    added = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -0.01, 1.0]  # past visits that subtract are less telling
    assert first_case(CASES, RECORDS, ablations("two_hop_paths").assign(contribution_past_visits=added)) == 5


def test_what_is_not_known_is_not_asked_for() -> None:
    """Without ablations the first found new case with both; without records the first such case; else any."""
    assert first_case(CASES, RECORDS, None) == 4
    assert first_case(CASES, None, None) == 1
    assert first_case(CASES.iloc[[0]].reset_index(drop=True), None, None) == 0


def test_ablations_that_are_not_kept_are_run_for_a_short_list() -> None:
    """The same case as with kept ones; without records the ranks come from the ablations."""
    asked: list[pd.DataFrame] = []

    def ablate(some: pd.DataFrame) -> pd.DataFrame:
        asked.append(some)
        return ablations("two_hop_paths").assign(rank=RECORDS[c.RANK]).loc[some.index].reset_index(drop=True)

    assert first_case(CASES, RECORDS, None, ablate) == 6
    assert first_case(CASES, None, None, ablate) == 6
    assert first_case(CASES, RECORDS, ablations("graph_token"), ablate) == 6
    assert len(asked) == 2
    first_case(CASES.loc[[6] * 40], None, None, ablate)
    assert len(asked[-1]) == SHORTLIST
