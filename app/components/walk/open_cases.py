"""From a chart, a table or a map to Walk: the test cases behind what was chosen."""

import streamlit as st

from analysis.records.case_selection import CaseSelection
from app import state
from app.cached.workspace import open_workspace
from app.pages import WALK
from app.sources import Source
from recap import columns as c


def open_cases(source: Source, chosen: CaseSelection, *, none: str = "There is no case in this bin.") -> None:
    """Go to Walk with the cases of a selection.

    Args:
        none: what is said where the selection has no case.
    """
    cases = open_workspace(source).cases
    numbers = cases[c.CASE].to_numpy()[chosen.mask(cases)]
    if len(numbers):
        st.switch_page(WALK.path, query_params=state.link_to(source, cases=chosen.text, case=str(numbers[0])))
    st.toast(none)
