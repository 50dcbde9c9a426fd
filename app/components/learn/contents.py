"""The list of lessons as one row of numbers, so that the lesson itself has the width."""

import streamlit as st

from analysis.learn.course import COURSE
from analysis.learn.progress import Progress
from app import state
from app.components.learn import place


def show_contents(number: int, progress: Progress) -> None:
    """Which lesson of how many, which are done, and a way to each."""
    st.session_state["learn_contents"] = number
    st.segmented_control(
        "Lessons",
        range(len(COURSE)),
        key="learn_contents",
        required=True,
        format_func=lambda at: f"{at + 1} ✓" if progress.is_done(at) else str(at + 1),
        on_change=state.unless_late(_chosen, "lesson"),
        label_visibility="collapsed",
    )
    with st.popover("All lessons", icon=":material/list:", type="tertiary", key="learn_titles"):
        for at, entry in enumerate(COURSE):
            st.button(
                f"{at + 1}. {entry.outline.title}",
                key=f"learn_to_{at}",
                type="tertiary",
                icon=":material/check:" if progress.is_done(at) else ":material/circle:",
                on_click=place.go_to,
                args=(at,),
            )


def _chosen() -> None:
    chosen = st.session_state.get("learn_contents")
    if chosen is not None:
        place.go_to(int(chosen))
