"""The number field of Explain that chooses a case."""

import streamlit as st

from app import state


def case_input(total: int) -> None:
    """The number of the case."""
    st.session_state["explained_case"] = st.session_state["case"]
    st.number_input(
        "Case",
        0,
        total - 1,
        key="explained_case",
        label_visibility="collapsed",
        width=115,
        on_change=state.unless_late(lambda: state.set_case(int(st.session_state["explained_case"])), "case"),
        help=f"Test cases 0 to {total - 1:,}; Walk and Long tail open them here.",
    )
