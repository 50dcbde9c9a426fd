"""The city that lessons are computed from, and lessons as they were made for it."""

import streamlit as st

from analysis.learn.course import COURSE
from analysis.learn.lesson import Lesson, Scene
from analysis.learn.vocabulary import Say
from analysis.workspace import Workspace
from app import threads  # noqa: F401 # one thread
from app.cached.workspace import BY_MODEL, open_workspace, read_ablations
from app.settings import AppSettings
from app.sources import Source, find_sources


def _with_the_papers_prior(source: Source) -> Source:
    """The bundle's model with the paper's prior in place of its default: lessons take count, recency and gate apart."""
    if source.bundle is None or source.checkpoint_folder != source.bundle / "checkpoint":
        return source
    others = find_sources(AppSettings.from_environment())
    return next((other for other in others if other.checkpoint_folder == source.bundle / "paper"), source)


def open_world(source: Source) -> Workspace:
    """A source as lessons ask for it."""
    return open_workspace(_with_the_papers_prior(source))


def lesson(source: Source, number: int) -> Lesson:
    """A lesson of the course, made once.

    Raises:
        LessonUnavailableError: the city cannot show it.
    """
    read_ablations(_with_the_papers_prior(source))  # here: the cache below must not play back a progress bar
    return _lesson(source, number)


@st.cache_resource(max_entries=64, show_spinner="Making the lesson", hash_funcs=BY_MODEL)
def _lesson(source: Source, number: int) -> Lesson:
    return COURSE[number].build(open_world(source), Say())


@st.cache_resource(max_entries=512, show_spinner=False, hash_funcs=BY_MODEL)
def scene(source: Source, number: int, at: tuple[int, ...]) -> Scene:
    """What positions of a lesson's handles show."""
    return _lesson(source, number).scene(at)
