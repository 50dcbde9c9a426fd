"""For teachers: a plan for one class, questions to discuss, and a handout."""

from functools import partial

import pandas as pd
import streamlit as st

from analysis.learn.course import COURSE, MINUTES, ROUTE
from analysis.learn.handout import handout_html
from analysis.learn.lesson import Lesson, LessonUnavailableError
from app import state
from app.cached import learn as cached
from app.cached.workspace import open_workspace
from app.components.learn import words
from app.components.text import quiet, section
from app.components.toolbar import save_button
from app.sources import Source


def show_teacher(source: Source) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Lessons", icon=":material/arrow_back:", type="tertiary", key="learn_back", on_click=_back)
        st.space("stretch")
        save_button(
            "Handout",
            partial(_handout, source),
            "handout.html",
            key="learn_handout",
            icon=":material/print:",
            help=words.HANDOUT_HELP,
        )
    st.title(words.plan_title(ROUTE, MINUTES), anchor=False)
    st.markdown(words.FOR_TEACHERS)
    section("Plan")
    st.table(_plan(), border="horizontal")  # a plain table wraps on a narrow screen, and prints
    section("Questions to talk about")
    for number, entry in enumerate(COURSE):
        with st.expander(f"{number + 1}. {entry.outline.title}"):
            st.markdown(entry.outline.idea)
            st.markdown("\n".join(f"- {question}" for question in entry.outline.questions))
    quiet(words.NOTHING_SENT)


def _plan() -> pd.DataFrame:
    start, rows = 0, []
    for number, entry in enumerate(COURSE):
        outline = entry.outline
        when = f"{start} to {start + outline.minutes}" if number < ROUTE else f"extra, {outline.minutes}"
        rows.append({"": number + 1, "Lesson": outline.title, "Minutes": when, "Idea": outline.idea})
        start += outline.minutes
    return pd.DataFrame(rows).set_index("")


def _handout(source: Source) -> bytes:
    """The handout. Questions of a real city name places of single people, so they are left out."""
    dataset = open_workspace(source).dataset
    lessons: list[Lesson | None] = []
    for number in range(len(COURSE)):
        try:
            lessons.append(cached.lesson(source, number) if dataset.manifest.synthetic else None)
        except LessonUnavailableError:
            lessons.append(None)
    return handout_html(dataset.manifest.name, lessons).encode()


def _back() -> None:
    state.follow({"page": None})
