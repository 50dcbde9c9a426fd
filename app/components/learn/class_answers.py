"""A class's answers: a learner hands them in, the teacher's page counts them while the class answers."""

import secrets
from typing import Final

import streamlit as st

from analysis.learn.charts import Bar, Bars
from analysis.learn.course import COURSE
from analysis.learn.handout import plain_text
from analysis.learn.lesson import LessonUnavailableError
from app.cached import learn as cached
from app.classroom import Asked, Classroom, QuestionKind, current_classroom
from app.components.learn import words
from app.components.learn.scenes import show_chart
from app.components.text import act_button, choose_one, quiet, section
from app.sources import Source
from recap.machine.printable import count_of, markdown_text

_TEACHES: Final = "learn_teaches"
_KINDS: Final[dict[QuestionKind, str]] = {"guess": "Guess", "check": "Check"}
_EVERY_S: Final = 3.0


def hand_in(number: int, kind: QuestionKind, choice: int) -> None:
    """Count an answer if a class is counted; the teacher's own is not."""
    room = current_classroom()
    if room is not None and not st.session_state.get(_TEACHES):
        learner = st.session_state.setdefault("learn_learner", secrets.token_hex(8))
        room.keep(Asked(st.session_state["source"], COURSE[number].outline.key, kind), learner, choice)


def is_let_in(room: Classroom) -> bool:
    """Whether this visitor has given the token; asks for it."""
    if st.session_state.get(_TEACHES):
        return True
    st.title("For teachers", anchor=False)
    with st.form("learn_door", width=420, border=False):
        st.text_input("Token", type="password", key="learn_token", help=words.DOOR_HELP)
        st.form_submit_button("Open", key="learn_enter", on_click=_enter, args=(room,))
    if _TEACHES in st.session_state:
        st.error(words.STAYS_CLOSED)
    return False


def _enter(room: Classroom) -> None:
    st.session_state[_TEACHES] = room.opens_with(st.session_state["learn_token"].strip())
    st.session_state["learn_token"] = ""


@st.fragment(run_every=_EVERY_S)
def show_class_answers(source: Source, room: Classroom) -> None:
    """The current question with its number of answers, and from a few on how many chose which."""
    section("The class's answers")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        titles = [f"{which + 1}. {entry.outline.title}" for which, entry in enumerate(COURSE)]
        options = range(len(titles))
        number = st.selectbox("Lesson", options, format_func=titles.__getitem__, key="learn_class_lesson", width=320)
        kind = choose_one("Question", list(_KINDS), key="learn_class_kind", named=_KINDS.__getitem__)
        asked = Asked(source.token, COURSE[number].outline.key, kind)
        act_button("Count again", "learn_class_forget", room.forget, asked, icon="replay", type="tertiary")
    try:
        lesson = cached.lesson(source, number)
    except LessonUnavailableError as error:
        st.info(markdown_text(str(error)))
        return
    question = lesson.guess if kind == "guess" else lesson.check
    st.markdown(f"**{question.prompt}**")
    tally = room.tally(asked, len(question.choices))
    if tally.by_choice is None:
        quiet(words.class_waits(tally.answers))
        return
    labels = (plain_text(choice.label) for choice in question.choices)
    bars = [Bar(label, float(n), f"{n}") for label, n in zip(labels, tally.by_choice, strict=True)]
    says = count_of(tally.answers, "answer")
    show_chart(Bars.of(f"{says}.", says, bars, float(tally.answers)), "learn_class_chart")
