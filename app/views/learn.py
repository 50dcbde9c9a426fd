"""Learn: ten short lessons on live models, and a page for teachers."""

import streamlit as st

from analysis.learn.course import COURSE
from analysis.learn.progress import Progress
from app import state
from app.components.empty import no_source
from app.components.error_boundary import error_boundary
from app.components.learn import place
from app.components.learn.lesson_page import show_lesson
from app.components.learn.teacher import show_teacher
from app.components.text import quiet
from app.components.toolbar import source_picker


@error_boundary
def view() -> None:
    source = state.current_source()
    if source is None:
        no_source()
        return
    if st.query_params.get("page") == "teacher":
        show_teacher(source)
        return
    number, progress = place.current_lesson(), place.current_progress()
    with st.container(horizontal=True, vertical_alignment="center"):
        source_picker(source, width=230)
        register = place.reader_control()
        st.space("stretch")
        st.button("For teachers", icon=":material/school:", type="tertiary", key="learn_teacher", on_click=_teach)
    with st.container(horizontal=True, vertical_alignment="center"):
        _show_contents(number, progress)
        done = sum(progress.is_done(at) for at in range(len(COURSE)))
        minutes = COURSE[number].outline.minutes
        quiet(f"About {minutes} minutes. {done} of {len(COURSE)} done, kept in this page's address.", width="content")
    show_lesson(source, number, progress, register)


def _show_contents(number: int, progress: Progress) -> None:
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


def _teach() -> None:
    state.follow({"page": "teacher"})


view()
