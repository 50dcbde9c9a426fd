"""One lesson on its page: question, guess, reveal, handle, check, further."""

from collections.abc import Callable
from functools import partial
from typing import Final

import streamlit as st

from analysis.glossary import TERMS
from analysis.learn.course import COURSE
from analysis.learn.lesson import Audience, Lesson, LessonUnavailableError, Question, Scene, Training
from analysis.learn.progress import Progress
from app import (
    state,
    threads,  # noqa: F401 # one thread
)
from app.cached import learn as cached
from app.components.learn import place
from app.components.learn.scenes import move_handles, one_handle, show_scene
from app.components.text import quiet
from app.pages import PAGES
from app.sources import Source
from recap.printable import markdown_text

LAST_WORDS: Final = (
    "That was the course. Say it to somebody in three sentences: why rare steps, and not rare places, are the long "
    "tail; what RECAP does about it; where it cannot help."
)


def show_lesson(source: Source, number: int, progress: Progress, audience: Audience) -> None:
    """The lesson as far as its reader has come."""
    outline = COURSE[number].outline
    st.title(outline.title, anchor=False)
    try:
        lesson = cached.lesson(source, number)
    except LessonUnavailableError as error:
        st.info(markdown_text(str(error)))
        _go_on(number)
        return
    st.markdown(lesson.intro)
    with st.popover("Words", icon=":material/menu_book:", type="tertiary", key="learn_words"):
        for key in outline.terms:
            term = TERMS[key]
            said = term.plain if audience != "researcher" else term.exact
            st.markdown(f"**{term.word}**: {markdown_text(said)}")
    _cards(lesson)
    guess = progress.guesses[number]
    guess = guess if guess is not None and guess < len(lesson.prediction.choices) else None
    _ask_prediction(lesson.prediction, f"learn_{outline.key}_guess", guess, partial(_commit, number))
    if guess is None:
        return
    at = _reveal(source, lesson, number, audience, guess)
    _check(lesson, number, progress)
    _further(source, lesson, number, at)
    if number + 1 == len(COURSE) and progress.is_done(number):
        st.markdown(LAST_WORDS)


def _cards(lesson: Lesson) -> None:
    if lesson.cards:
        cards = st.grid(len(lesson.cards), min_column_width=300, border=True)
        for card in lesson.cards:
            with cards.cell():
                st.markdown(f"**{card.title}**")
                st.markdown(card.words)


def _reveal(source: Source, lesson: Lesson, number: int, audience: Audience, guess: int) -> tuple[int, ...]:
    """The answer, the scene with its handles, the idea, and a training where there is one; where the handles stand."""
    is_right = guess == lesson.prediction.right
    st.info(
        lesson.prediction.choices[guess].reply, icon=":material/check_circle:" if is_right else ":material/lightbulb:"
    )
    at = move_handles(lesson)
    show_scene(cached.scene(source, number, at), f"learn_{lesson.outline.key}", lesson)
    st.markdown(lesson.lesson_learned)
    quiet(f"For you as a {place.READERS[audience].lower()}: {lesson.aside[audience]}")
    if lesson.training is not None:
        with st.container(border=True):
            _show_training(lesson, lesson.training, audience)
    if lesson.contrast is not None:
        show_scene(lesson.contrast, f"learn_{lesson.outline.key}_contrast")
    return at


def _check(lesson: Lesson, number: int, progress: Progress) -> None:
    st.header("Check yourself", anchor=False)
    given = progress.checks[number]
    given = given if given is not None and given < len(lesson.check.choices) else None
    _ask_check(lesson.check, f"learn_{lesson.outline.key}_check", given, partial(_answer, number))


def _further(source: Source, lesson: Lesson, number: int, at: tuple[int, ...]) -> None:
    """On to the next lesson, into the matching view, or once more."""
    with st.container(horizontal=True, vertical_alignment="center"):
        _go_on(number)
        if st.button(lesson.deeper.label, icon=":material/map:", type="tertiary", key="learn_deeper"):
            page = next(page for page in PAGES if page.name == lesson.deeper.view)
            params = {**lesson.deeper.params, **lesson.deeper.moved(at)}
            st.switch_page(page.path, query_params=state.link_to(source, **params))
        st.space("stretch")
        st.button(
            "Try again",
            icon=":material/replay:",
            type="tertiary",
            key="learn_again",
            on_click=_again,
            args=(lesson, number),
        )


def _ask_prediction(question: Question, key: str, given: int | None, commit: Callable[[int], None]) -> None:
    """The prediction; once committed it can no longer be changed."""
    st.markdown(f"**{question.prompt}**")
    if given is not None:
        st.markdown(f"Your guess: {question.choices[given].label}.")
        return
    chosen = st.radio(
        "Your guess",
        range(len(question.choices)),
        index=None,
        format_func=lambda at: question.choices[at].label,
        key=key,
    )
    st.button(
        "Commit to this guess",
        key=f"{key}_commit",
        icon=":material/lock:",
        disabled=chosen is None,
        help="The answer comes after your guess." if chosen is None else None,
        on_click=commit,
        args=(chosen,),
    )


def _ask_check(question: Question, key: str, given: int | None, answer: Callable[[int], None]) -> None:
    """The check; each answer gets its reply, and another may be tried."""
    st.markdown(f"**{question.prompt}**")
    chosen = st.radio(
        "Your answer",
        range(len(question.choices)),
        index=given,
        format_func=lambda at: question.choices[at].label,
        key=key,
    )
    st.button(
        "Check my answer",
        key=f"{key}_answer",
        icon=":material/check:",
        disabled=chosen is None,
        on_click=answer,
        args=(chosen,),
    )
    if given is not None:
        is_right = given == question.right
        st.info(question.choices[given].reply, icon=":material/check_circle:" if is_right else ":material/replay:")


def _show_training(lesson: Lesson, training: Training, audience: Audience) -> None:
    """Set up, train while the bar moves, and show the result until something else is trained."""
    key = f"learn_{lesson.outline.key}_training"
    st.markdown(training.words)
    row = st.grid(min(3, len(training.handles)), min_column_width=230)
    at = []
    for handle in training.handles:
        with row.cell():
            name = f"{key}_{handle.name}"
            st.session_state.setdefault(name, handle.start)
            at.append(one_handle(handle, name))
    clicked = st.button(training.label, key=f"{key}_run", icon=":material/play_arrow:")
    shown = st.container()
    made: dict[tuple[int, ...], Scene] = st.session_state.setdefault(f"{key}_{audience}_made", {})
    if clicked and tuple(at) not in made:
        with shown:
            bar = st.progress(0.0, "Starting")

            def tell(done: int, total: int, words: str) -> None:
                bar.progress(min(done / total, 1.0), words)

            made[tuple(at)] = training.run(tuple(at), tell)
            bar.empty()
    with shown:
        if tuple(at) in made:
            show_scene(made[tuple(at)], f"{key}_result")
        elif made:
            quiet("You moved something: train again to see what it changes.")


def _go_on(number: int) -> None:
    if number + 1 < len(COURSE):
        title = COURSE[number + 1].outline.title
        st.button(
            f"Next: {title[0].lower()}{title[1:]}",
            icon=":material/arrow_forward:",
            icon_position="right",
            key="learn_next",
            on_click=place.go_to,
            args=(number + 1,),
        )
    else:
        quiet("This was the last lesson.", width="content")


def _commit(number: int, choice: int | None) -> None:
    if choice is not None:
        place.keep(place.current_progress().with_guess(number, choice))


def _answer(number: int, choice: int | None) -> None:
    if choice is not None:
        place.keep(place.current_progress().with_check(number, choice))


def _again(lesson: Lesson, number: int) -> None:
    place.keep(place.current_progress().without(number))
    for name in list(st.session_state):
        if str(name).startswith(f"learn_{lesson.outline.key}_"):
            del st.session_state[name]
    state.write_param("at", None)
