"""A new place is one the user has never been to; the present one is known: one definition everywhere."""

from pathlib import Path

import numpy as np

from analysis.long_tail.lift import _choose_cases
from analysis.long_tail.misses import describe_misses
from analysis.records.case_filters import filter_masks
from analysis.records.case_groups import COHORTS, PANELS, cohort_of_cases, panel_of_cases
from analysis.records.case_selection import CaseSelection
from analysis.workspace import Workspace
from recap import columns as c
from recap.evaluation.cases import is_known_place

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
