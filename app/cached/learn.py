"""The city that lessons are computed from, and lessons as they were made for it."""

from typing import TYPE_CHECKING

import streamlit as st

from analysis.learn.course import COURSE
from analysis.learn.lesson import Lesson, Scene
from analysis.learn.vocabulary import Say
from analysis.learn.world import World
from analysis.records.kept_seeds import seed_tables
from app.cached import datasets, tables
from app.cached.ablations import read_ablations
from app.cached.keys import BY_MODEL
from app.cached.records import read_records
from app.settings import AppSettings
from app.sources import Source, find_sources

if TYPE_CHECKING:
    import pandas as pd

    from recap.predictor import Predictor


def _with_the_papers_prior(source: Source) -> Source:
    """The bundle's model with the paper's prior in place of its default: lessons take count, recency and gate apart."""
    if source.bundle is None or source.checkpoint_folder != source.bundle / "checkpoint":
        return source
    others = find_sources(AppSettings.from_environment())
    return next((other for other in others if other.checkpoint_folder == source.bundle / "paper"), source)


def open_world(source: Source) -> World:
    """A source as lessons ask for it."""
    model = _with_the_papers_prior(source)

    def find_predictor() -> "Predictor":
        from app.cached.explanations import open_predictor  # here: half of the lessons need no torch

        return open_predictor(model)

    def find_case_ablations() -> "pd.DataFrame":
        table = read_ablations(model)
        assert table is not None
        return table

    def find_seeds() -> "dict[int, pd.DataFrame]":
        assert model.checkpoint_hash is not None
        rows = len(datasets.open_dataset(model).cases)
        return seed_tables(model.dataset_hash, model.checkpoint_hash, rows=rows, bundle=model.bundle)

    has_model = model.has_parts
    return World(
        opened=datasets.open_dataset(source),
        records=lambda baseline: read_records(source, baseline),
        hops=lambda: tables.hops(source),
        lift=lambda: tables.lift(source),
        ablations=lambda metric, group: tables.ablations(source, metric, group),
        find_predictor=find_predictor if has_model else None,
        find_case_ablations=find_case_ablations if has_model else None,
        find_seeds=find_seeds if has_model else None,
    )


def lesson(source: Source, number: int) -> Lesson:
    """A lesson of the course, made once.

    Raises:
        LessonUnavailableError: the city cannot show it.
    """
    world = open_world(source)
    if world.find_case_ablations is not None:
        world.find_case_ablations()  # here: the cache below must not play back what is drawn while a table is made
    return _lesson(source, number)


@st.cache_resource(max_entries=64, show_spinner="Making the lesson", hash_funcs=BY_MODEL)
def _lesson(source: Source, number: int) -> Lesson:
    return COURSE[number].build(open_world(source), Say())


@st.cache_resource(max_entries=512, show_spinner=False, hash_funcs=BY_MODEL)
def scene(source: Source, number: int, at: tuple[int, ...]) -> Scene:
    """What positions of a lesson's handles show."""
    return _lesson(source, number).scene(at)
