"""Choose Explain's case: previous, a list of the user's cases or a typed number, next."""

import streamlit as st

from analysis.explain import sentences
from analysis.trajectories.case_names import case_name, cases_of_user, find_case
from app import state
from app.cached.workspace import open_workspace
from app.components.toolbar import source_picker, truth_toggle
from app.sources import Source

_LISTED = 60


def case_bar(source: Source, case: int) -> bool:
    """The selectors of a model without contributions; returns whether the truth is shown."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        case_picker(source, case)
        st.space("stretch")
        more = st.popover("", icon=":material/tune:", key="more", help="Model and truth")
    with more:
        source_picker(source, lists=True)
        return truth_toggle()


def case_picker(source: Source, case: int) -> None:
    opened = open_workspace(source)
    last = len(opened.cases) - 1
    st.button(
        ":material/chevron_left:",
        key="case-before",
        shortcut="Left",
        disabled=case == 0,
        on_click=state.set_case,
        args=(max(case - 1, 0),),
        help="The case before",
    )
    st.session_state["explained_case"] = case
    st.selectbox(
        "Case",
        cases_of_user(opened, case, _LISTED),
        key="explained_case",
        format_func=lambda number: case_name(opened, number) if isinstance(number, int) else str(number),
        accept_new_options=True,
        label_visibility="collapsed",
        width=300,
        on_change=state.unless_late(lambda: _picked(source), "case"),
        help=sentences.case_help(last),
    )
    st.button(
        ":material/chevron_right:",
        key="case-after",
        shortcut="Right",
        disabled=case == last,
        on_click=state.set_case,
        args=(min(case + 1, last),),
        help="The next case",
    )
    missing = st.session_state.pop("case_unknown", None)
    if missing:
        st.toast(sentences.no_such_case(missing))


def _picked(source: Source) -> None:
    chosen = st.session_state["explained_case"]
    found = find_case(open_workspace(source), chosen) if isinstance(chosen, str) else chosen
    if found is None:
        st.session_state["case_unknown"] = str(chosen)
    else:
        state.set_case(int(found))
