"""One lesson: a picture and a guess, the answer with its handles, a check question, and the next steps."""

from collections.abc import Callable
from functools import partial
from typing import Final

import streamlit as st

from analysis.glossary import TERMS
from analysis.learn.course import COURSE
from analysis.learn.lesson import Lesson, LessonQuestion, LessonUnavailableError, Scene, Training
from analysis.learn.progress import CourseProgress
from app import address, state
from app.cached import learn as cached
from app.classroom import current_classroom
from app.components.learn import place, words
from app.components.learn.class_answers import hand_in
from app.components.learn.scenes import move_handles, one_handle, show_chart, show_scene
from app.components.text import act_button, quiet, section
from app.pages import PAGES
from app.sources import Source
from app.threads import share_cores
from recap.machine.printable import markdown_text

_NARROW: Final = 240
_MAIN: Final = "learn_main"
"""What a learner must see without scrolling: the answers, then the reply."""


def show_lesson(source: Source, number: int, progress: CourseProgress) -> None:
    """Show the lesson up to the learner's progress."""
    outline = COURSE[number].outline
    st.title(outline.title, anchor=False)
    try:
        lesson = cached.lesson(source, number)
    except LessonUnavailableError as error:
        st.info(markdown_text(str(error)))
        address.write(at=None)
        _go_on(number)
        return
    st.markdown(lesson.intro)
    guess = _given(progress.guesses[number], lesson.guess)
    if guess is None:
        address.write(at=None)
        _ask(lesson.guess, f"learn_{outline.key}_guess", None, partial(_commit, number), "Lock in this guess")
        return
    halves = st.grid(3, min_column_width=_NARROW, gap="medium")
    with halves.cell(column_span=2):
        positions = move_handles(lesson)
        show_scene(cached.scene(source, number, positions), f"learn_{outline.key}", lesson)
    with halves.cell():
        with st.container(key=_MAIN):
            _reply(lesson, guess)
        st.markdown(lesson.idea)
        section("Check yourself")
        given = _given(progress.checks[number], lesson.check)
        _ask(lesson.check, f"learn_{outline.key}_check", given, partial(_answer, number), "Check my answer")
    if lesson.training is not None:
        with st.expander(lesson.training.label):
            _show_training(lesson, lesson.training)
    _further(source, lesson, number, positions)


def _given(answer: int | None, question: LessonQuestion) -> int | None:
    return answer if answer is not None and answer < len(question.choices) else None


def _reply(lesson: Lesson, guess: int) -> None:
    choice = lesson.guess.choices[guess]
    icon = ":material/check_circle:" if guess == lesson.guess.right else ":material/lightbulb:"
    st.markdown(words.YOUR_GUESS.format(question=lesson.guess.prompt, answer=choice.label))
    st.info(choice.reply, icon=icon)


def _ask(question: LessonQuestion, key: str, given: int | None, answer: Callable[[int], None], label: str) -> None:
    if question.picture is not None:  # next to the answers, so that both are on the first screen
        halves = st.grid(3, min_column_width=_NARROW, gap="medium")
        with halves.cell(column_span=2):
            show_chart(question.picture, f"picture_{key}")
        place_of_answers = halves.cell()
    else:
        place_of_answers = st.container()
    with place_of_answers, st.container(key=_MAIN if given is None and key.endswith("guess") else None):
        _answers(question, key, given, answer, label)


def _answers(question: LessonQuestion, key: str, given: int | None, answer: Callable[[int], None], label: str) -> None:
    st.markdown(f"**{question.prompt}**")
    chosen = st.radio(
        "Your answer",
        range(len(question.choices)),
        index=given,
        format_func=lambda choice: question.choices[choice].label,
        key=key,
        label_visibility="collapsed",
    )
    act_button(label, f"{key}_answer", answer, chosen, icon="check", disabled=chosen is None)
    if current_classroom() is not None:
        quiet(words.IS_COUNTED)
    if given is not None:
        icon = ":material/check_circle:" if given == question.right else ":material/replay:"
        st.info(question.choices[given].reply, icon=icon)


def _further(source: Source, lesson: Lesson, number: int, positions: tuple[int, ...]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        _go_on(number)
        if st.button(lesson.deeper.label, icon=":material/map:", type="tertiary", key="learn_deeper"):
            page = next(page for page in PAGES if page.name == lesson.deeper.view)
            params = {**lesson.deeper.params, **lesson.deeper.moved(positions)}
            address.go(page, state.link_to(source, **params))
        with st.popover("Words", icon=":material/menu_book:", type="tertiary", key="learn_words"):
            for key in lesson.outline.terms:
                term = TERMS[key]
                st.markdown(f"**{term.word}**: {markdown_text(term.plain)}")
        st.space("stretch")
        act_button("Try again", "learn_again", _again, lesson, number, icon="replay", type="tertiary")


def _show_training(lesson: Lesson, training: Training) -> None:
    key = f"learn_{lesson.outline.key}_training"
    st.markdown(training.words)
    row = st.grid(min(3, len(training.handles)), min_column_width=230)
    positions = []
    for handle in training.handles:
        with row.cell():
            name = f"{key}_{handle.name}"
            st.session_state.setdefault(name, handle.start)
            positions.append(one_handle(handle, name))
    clicked = st.button("Train", key=f"{key}_run", icon=":material/play_arrow:")
    shown = st.container()
    made: dict[tuple[int, ...], Scene] = st.session_state.setdefault(f"{key}_made", {})
    with shown:
        if clicked and tuple(positions) not in made:
            bar = st.progress(0.0, "Starting")

            def report(done: int, total: int, words: str) -> None:
                bar.progress(min(done / total, 1.0), words)

            share_cores()
            made[tuple(positions)] = training.run(tuple(positions), report)
            bar.empty()
        if tuple(positions) in made:
            show_scene(made[tuple(positions)], f"{key}_result")
        elif made:
            quiet(words.TRAIN_AGAIN)


def _go_on(number: int) -> None:
    if number + 1 < len(COURSE):
        act_button(
            f"Next: {COURSE[number + 1].outline.title}",
            "learn_next",
            place.go_to,
            number + 1,
            icon="arrow_forward",
            icon_position="right",
        )


def _commit(number: int, choice: int) -> None:
    place.keep(place.current_progress().with_guess(number, choice))
    hand_in(number, "guess", choice)


def _answer(number: int, choice: int) -> None:
    place.keep(place.current_progress().with_check(number, choice))
    hand_in(number, "check", choice)


def _again(lesson: Lesson, number: int) -> None:
    place.keep(place.current_progress().without(number))
    for name in list(st.session_state):
        if str(name).startswith(f"learn_{lesson.outline.key}_"):
            del st.session_state[name]


_JUMP = """
export default function ({ data }) {
  if (window.recapLesson !== undefined && window.recapLesson !== data) {
    document.querySelector('[data-testid=stMain]')?.scrollTo(0, 0);
  }
  window.recapLesson = data;
}
"""
_jump = st.components.v2.component("recap_page_top", js=_JUMP)


def start_at_top(lesson: str) -> None:
    """Scroll up where the lesson is another one than before; call it below everything."""
    _jump(key="page-top", data=lesson, width=1, height=1)
