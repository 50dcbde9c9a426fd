"""Learn: a route of three lessons on live models, further ones, and a page for teachers."""

from functools import partial

import streamlit as st

from analysis.learn.course import COURSE, MINUTES, ROUTE
from analysis.learn.progress import QUESTIONS, CourseProgress
from app.components.empty import open_source
from app.components.error_boundary import error_boundary
from app.components.learn import place, words
from app.components.learn.lesson_page import show_lesson, start_at_top
from app.components.learn.teacher import show_teacher
from app.components.text import pick, quiet
from app.components.toolbar import downloads, source_picker


@error_boundary
def view() -> None:
    source = open_source()
    if place.is_teachers_page():
        show_teacher(source)
        return
    number, progress = place.current_lesson(), place.current_progress()
    with st.container(horizontal=True, vertical_alignment="center"):
        _show_contents(number, progress)
        answered = sum(progress.answered(lesson) for lesson in range(len(COURSE)))
        asked = {"answered": answered, "questions": QUESTIONS * len(COURSE)}
        quiet(words.PROGRESS_LINE.format(lessons=ROUTE, minutes=MINUTES, **asked), width="content")
        st.space("stretch")
        files = st.container(width="content")
        with st.popover("More", icon=":material/tune:", type="tertiary"):
            source_picker(source)
            st.button(
                "For teachers",
                icon=":material/school:",
                type="tertiary",
                key="learn_teacher",
                on_click=place.turn_to,
                args=("teacher",),
            )
    show_lesson(source, number, progress)
    with files:
        downloads(dict, source=source, key="learn", of_one_user=True)
    start_at_top(COURSE[number].outline.key)


def _show_contents(number: int, progress: CourseProgress) -> None:
    shown, named = number if number < ROUTE else None, partial(_title, progress=progress)
    key = "learn_contents"
    pick(st.segmented_control, "Lessons", range(ROUTE), _chosen, "lesson", key=key, value=shown, format_func=named)
    further = "Further lessons" if number < ROUTE else _title(number, progress)
    with st.popover(further, icon=":material/list:", key="learn_further"):
        for nth in range(ROUTE, len(COURSE)):
            st.button(_title(nth, progress), key=f"learn_to_{nth}", type="tertiary", on_click=place.go_to, args=(nth,))


def _title(number: int, progress: CourseProgress) -> str:
    title = COURSE[number].outline.title
    title = f"{number + 1} {title}" if number < ROUTE else title
    return f"{title} ✓" if progress.is_done(number) else title


def _chosen() -> None:
    chosen = st.session_state.get("learn_contents")
    if chosen is not None:
        place.go_to(int(chosen))


view()
