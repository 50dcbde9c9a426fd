"""Compare: two scorers on the same cases, by how often the step was seen, case by case, and beside their seeds."""

import streamlit as st

from analysis.compare import headline
from analysis.compare.comparison import METRICS, found_within
from analysis.records.accuracy import METRIC_LABELS
from app import state
from app.cached import comparisons
from app.components.compare.case_list import current_cell, show_case_list
from app.components.compare.findings import show_differences, show_numbers, show_seeds
from app.components.compare.side_by_side import current_open, show_side_by_side
from app.components.compare.sides import current_sides, pick_sides
from app.components.empty import source_with_cases
from app.components.error_boundary import error_boundary
from app.components.text import quiet
from app.components.toolbar import downloads, register_control, source_picker
from recap.printable import markdown_text


@error_boundary
def view() -> None:
    there = source_with_cases("so there is nothing to compare")
    if there is None:
        return
    source, opened = there
    a, b = current_sides(source)
    with st.container(horizontal=True, vertical_alignment="center"):
        pick_sides(source)
        metric = _metric()
        st.space("stretch")
        with st.popover("More", icon=":material/tune:", type="tertiary", key="compare-more"):
            source_picker(source)
            register_control()
            quiet("Predictions from elsewhere: `recap import-predictions FILE --data DATA`.")
        data = st.container(horizontal=True, width="content", vertical_alignment="center")
    found = comparisons.compared(source, a, b, metric, found_within(metric))
    words = state.words()
    found = found.in_words(words.sentence)
    st.title(markdown_text(headline.comparison_finding(found)), anchor=False)
    both = f"Both on the same {found.n:,} cases of {found.users:,} walkers."
    st.markdown(markdown_text(words.sentence(" ".join([both, *headline.sentences(found)]))))
    cell = current_cell()
    grid = st.grid(3, min_column_width=330, gap="medium")
    with grid.cell(column_span=2):
        show_differences(source, found)
    with grid.cell():
        show_seeds(found)
    show_numbers(found)
    quiet(words.sentence(headline.strictness_sentence(found)))
    show_case_list(source, a, b, found, cell)
    case = current_open(len(opened.cases))
    if case is not None:
        show_side_by_side(source, a, b, case)
    with data:
        tables = {"Groups": found.rows, "Bins": found.bins, "Cohorts": found.cohorts}
        if found.seeds is not None:
            tables["Seeds"] = found.seeds.drop(columns="each")
        tables["Cases of the list"] = comparisons.cell_cases(source, a, b, found.k, cell)
        downloads(tables, source=source, key="compare")


def _metric() -> str:
    chosen = st.segmented_control(
        "Metric",
        METRICS,
        default="hr20",
        required=True,
        format_func=METRIC_LABELS.__getitem__,
        key="compared_metric",
        bind="query-params",
        label_visibility="collapsed",
    )
    return chosen or "hr20"


view()
