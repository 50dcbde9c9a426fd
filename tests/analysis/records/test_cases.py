"""The first case that is shown, and one definition of a new place everywhere."""

from pathlib import Path

import numpy as np
import pandas as pd

from analysis.long_tail.lift import _choose_cases
from analysis.long_tail.misses import describe_misses
from analysis.records.ablations import COLUMNS
from analysis.records.case_filters import filter_masks
from analysis.records.case_groups import COHORTS, PANELS, cohort_of_cases, panel_of_cases
from analysis.records.case_selection import CaseSelection
from analysis.records.first_case import SHORTLIST, first_case
from analysis.workspace import Workspace
from recap import columns as c
from recap.evaluation.cases import is_known_place

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


BUNDLE = Path(__file__).parents[3] / "checkpoints" / "demo-city"


def test_staying_is_no_new_place_anywhere() -> None:
    """The city has cases that stay at a place of the first visit; every table, filter and flag calls them known."""
    opened = Workspace.open(BUNDLE / "dataset", BUNDLE / "checkpoint")
    cases, ablations = opened.cases, opened.kept_ablations()
    known = is_known_place(cases)
    stays = ((cases[c.SOURCE] == cases[c.TARGET]) & ~cases[c.IN_HISTORY]).to_numpy()
    rare = (cases[c.TRANSITION_COUNT] <= 1).to_numpy()
    assert (stays & rare).any() and ablations is not None
    assert (ablations[c.IS_KNOWN].to_numpy(bool) == known).all()
    assert (panel_of_cases(cases)[rare & ~known] == PANELS.index("tail_new")).all()
    assert (panel_of_cases(cases)[rare & known] == PANELS.index("tail_known")).all()
    kinds = cohort_of_cases(cases)[rare]
    assert [COHORTS[kind][0] for kind in kinds] == known[rare].tolist()
    chosen = [CaseSelection.of_cohort(False, near, 1).mask(cases) for near in (True, False)]
    assert not (stays & np.logical_or(*chosen)).any()
    assert describe_misses(opened.dataset, cases, ablations)["within_reach"][stays].all()
    records, markov = opened.records(), opened.records().assign(rank=1e6)
    masks = filter_masks(records, markov)
    rows, asked = _choose_cases(opened, 10**6, 0)
    assert not masks["hops"][stays].any() and not stays[rows[asked["unvisited"]]].any()
