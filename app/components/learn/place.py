"""A learner's lesson, answers and handles, in the session and in the link."""

from typing import Final

import streamlit as st

from analysis.learn.course import COURSE
from analysis.learn.lesson import Handle, Lesson
from analysis.learn.progress import CourseProgress
from app import address

_KEYS: Final = tuple(entry.outline.key for entry in COURSE)


def current_lesson() -> int:
    """The lesson of the link, or the last open one, or the first."""
    link = address.linked("lesson")
    if link is not None and link["lesson"] in _KEYS:
        go_to(_KEYS.index(str(link["lesson"])))
    number = int(st.session_state.get("learn_lesson", 0))
    address.write(lesson=_KEYS[number])
    return number


def go_to(number: int) -> None:
    st.session_state["learn_lesson"] = number


def is_teachers_page() -> bool:
    return address.current_choice("page", {"teacher": True, "": False}, False)


def turn_to(page: str | None) -> None:
    """The page for teachers, or with None the lessons."""
    address.choose("page", page == "teacher")


def current_progress() -> CourseProgress:
    """All answers so far, or those of the link."""
    link = address.linked("answers")
    if link is not None and link["answers"]:
        st.session_state["learn_answers"] = link["answers"]
    progress = CourseProgress.parse(st.session_state.get("learn_answers", ""), len(COURSE))
    keep(progress)
    address.write(answers=progress.text or None)
    return progress


def keep(progress: CourseProgress) -> None:
    st.session_state["learn_answers"] = progress.text


def handle_key(lesson: Lesson, handle: Handle) -> str:
    return f"learn_{lesson.outline.key}_{handle.name}"


def start_handles(lesson: Lesson) -> None:
    """Set handles from the link once; unknown positions stay at the start."""
    positions = ((address.linked("at") or {}).get("at") or "").split(".")
    fits = len(positions) == len(lesson.handles) and all(part.isascii() and part.isdigit() for part in positions)
    for number, handle in enumerate(lesson.handles):
        key = handle_key(lesson, handle)
        if fits and len(positions[number]) < 4 and int(positions[number]) < len(handle.positions):
            st.session_state[key] = int(positions[number])
        elif not 0 <= st.session_state.get(key, -1) < len(handle.positions):
            st.session_state[key] = handle.start


def handle_positions(lesson: Lesson) -> tuple[int, ...]:
    """The positions of the handles; moved ones are written into the link."""
    positions = tuple(int(st.session_state[handle_key(lesson, handle)]) for handle in lesson.handles)
    address.write(at=None if positions == lesson.start else ".".join(map(str, positions)))
    return positions
