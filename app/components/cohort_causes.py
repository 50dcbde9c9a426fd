"""Long tail's cohorts by cause: of the cases that are found, how many are lost without one source of evidence."""

import streamlit as st

from analysis.long_tail.cohort_causes import cohort_cells
from analysis.records.case_filters import MISSED_ABOVE
from app import state
from app.cached.removals import cohort_causes, kept_causes
from app.components.text import quiet
from app.sources import Source


def show_cohort_causes(source: Source, eta: int) -> None:
    """The table, where removals are kept; nothing for a baseline, which has none."""
    if not source.has_parts:
        return
    if kept_causes(source) is None:
        quiet("What finds these cases is not measured yet; `recap causes` measures it.")
        return
    table = cohort_causes(source, MISSED_ABOVE, eta)
    st.dataframe(cohort_cells(table, state.words()), hide_index=True, key="cohort-causes")
    quiet(
        f"Tail cases by where the true place lies; found at {MISSED_ABOVE}, and of these lost without one source "
        "of evidence, taken away for all places. Sources overlap."
    )
