"""Choose Explain's case: previous, a list of the user's cases or a typed number, next."""

from functools import partial
from typing import Any

import streamlit as st

from analysis.explain import sentences
from analysis.trajectories.case_names import case_name, cases_of_user, find_case, last_case, moment_name
from app import state
from app.cached.workspace import open_workspace
from app.components.text import key_button, pick, say_once
from app.components.toolbar import source_picker, truth_toggle
from app.sources import Source
from recap.history.moments import Moment

_LISTED = 60


def case_bar(source: Source, moment: Moment) -> bool:
    """The selectors of a model without contributions; returns whether the truth is shown."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        case_picker(source, moment)
        st.space("stretch")
        more = st.popover("", icon=":material/tune:", key="more", help="Model and truth")
    with more:
        source_picker(source, lists=True)
        return moment.next_place(open_workspace(source).at(moment).dataset) is None or truth_toggle()


def case_picker(source: Source, moment: Moment) -> None:
    """A moment that is no case is listed by its name, after the user's cases."""
    opened = open_workspace(source).at(moment)
    is_case, last = moment.case is not None, len(opened.cases) - 1
    case = moment.case if moment.case is not None else last_case(opened, moment)
    others = [] if is_case else [moment_name(opened, moment)]
    before: dict[str, Any] = {"help": "The case before", "disabled": is_case and case == 0}
    key_button(":material/chevron_left:", "case-before", "Left", state.set_case, max(case - is_case, 0), **before)
    pick(
        st.selectbox,
        "Case",
        [*cases_of_user(opened, case, _LISTED), *others],
        partial(_picked, source),
        *state.MOMENT,
        key="explained_case",
        value=others[0] if others else case,
        format_func=lambda number: case_name(opened, number) if isinstance(number, int) else str(number),
        accept_new_options=True,
        width=300,
        help=sentences.case_help(last),
    )
    after: dict[str, Any] = {"help": "The next case", "disabled": case == last}
    key_button(":material/chevron_right:", "case-after", "Right", state.set_case, min(case + 1, last), **after)
    say_once("case_unknown", st.toast, sentences.no_such_case)


def _picked(source: Source) -> None:
    chosen = st.session_state["explained_case"]
    picked = find_case(open_workspace(source), chosen) if isinstance(chosen, str) else chosen
    if picked is None:
        st.session_state["case_unknown"] = str(chosen)
    else:
        state.set_case(int(picked))
