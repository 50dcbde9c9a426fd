"""Lessons of a city, each with the model it explains."""

import streamlit as st

from analysis.learn.course import COURSE
from analysis.learn.lesson import Lesson, Scene
from app.cached.workspace import BY_MODEL, open_workspace, read_ablations
from app.settings import AppSettings
from app.sources import Source, find_sources
from app.threads import share_cores

_FOLDERS = {"curves": "checkpoint", "prior": "paper"}
"""Of a bundle's models."""


def _model_of(source: Source, number: int) -> Source:
    """The bundle's model that the lesson explains, or else the source itself."""
    reads = COURSE[number].outline.reads
    if source.bundle is None or reads == "any":
        return source
    folder = source.bundle / _FOLDERS[reads]
    others = find_sources(AppSettings.from_environment())
    return next((other for other in others if other.checkpoint_folder == folder and not other.is_elsewhere), source)


def lesson(source: Source, number: int) -> Lesson:
    """Build a lesson once.

    Raises:
        LessonUnavailableError: the city cannot show it.
    """
    source = _model_of(source, number)
    read_ablations(source)  # here: the cache below must not play back a progress bar
    return _lesson(source, number)


@st.cache_resource(max_entries=64, show_spinner="Making the lesson", hash_funcs=BY_MODEL)
def _lesson(source: Source, number: int) -> Lesson:
    share_cores()
    return COURSE[number].build(open_workspace(source))


@st.cache_resource(max_entries=512, show_spinner=False, hash_funcs=BY_MODEL)
def scene(source: Source, number: int, positions: tuple[int, ...]) -> Scene:
    """The scene at these positions of the lesson's handles."""
    return _lesson(_model_of(source, number), number).scene(positions)
