"""The list of lessons as one row of numbers, so that the lesson itself has the width."""

import streamlit as st

from analysis.learn.course import COURSE
from analysis.learn.progress import Progress
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
        on_change=_chosen,
        label_visibility="collapsed",
        help="; ".join(f"{at + 1}: {entry.outline.title}" for at, entry in enumerate(COURSE)),
    )


def _chosen() -> None:
    chosen = st.session_state.get("learn_contents")
    if chosen is not None:
        place.go_to(int(chosen))
