"""Learn: ten short lessons on live models, and a page for teachers."""

import streamlit as st

from analysis.learn.course import COURSE
from app import state
from app.components.empty import no_source
from app.components.error_boundary import error_boundary
from app.components.learn import place
from app.components.learn.contents import show_contents
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
        show_contents(number, progress)
        done = sum(progress.is_done(at) for at in range(len(COURSE)))
        minutes = COURSE[number].outline.minutes
        quiet(f"About {minutes} minutes. {done} of {len(COURSE)} done, kept in this page's address.", width="content")
    show_lesson(source, number, progress, register)


def _teach() -> None:
    state.follow({"page": "teacher"})


view()
