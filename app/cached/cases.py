"""What the views Cases and Present ask: recipes over all cases, cards' pictures drawn once, and told cases."""

import hashlib
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Final

import streamlit as st

from analysis.cases import picture
from analysis.cases.picture import Marks, draw_for_room, draw_thumbnail, marks_of_record
from analysis.cases.recipes import FoundCases, RecipeName, RecipeTables, find_all
from analysis.cases.story import Story, tell_case
from analysis.figures.palette import Theme, palette_of
from analysis.records.accuracy import is_hit
from analysis.records.evaluation_records import records_key
from analysis.records.loaded_dataset import MODEL_LABELS
from app.cached import datasets, maps
from app.cached.ablations import kept_causes
from app.cached.keys import BY_MODEL
from app.cached.records import read_lists, read_records
from app.settings import AppSettings
from app.sources import Source, find_sources
from recap import columns as c
from recap.errors import RecapError
from recap.storage.atomic import replace_bytes
from recap.storage.user_folder import user_subfolder

FIRST_CARDS: Final = 12
COUNTERS: Final = ("visit_count", "markov")
"""Recipes compare with these; cases flip against the first."""
_DRAWING: Final = 1
"""Version of the drawing; a new one draws kept pictures again."""


def other_models(source: Source) -> dict[str, Source | str]:
    """The models that recipes compare with, by label: two counters, and what came with the dataset.

    What the user trained is not among them, so that no training changes what a recipe finds.
    """
    mine = datasets.model_key(source)
    found: dict[str, Source | str] = {MODEL_LABELS[name]: name for name in COUNTERS if name != mine}
    for other in find_sources(AppSettings.from_environment()):
        came_along = other.bundle is not None and other.checkpoint_folder is not None
        if not came_along or other.dataset_hash != source.dataset_hash or other.checkpoint_hash == mine:
            continue
        is_shipped = other.checkpoint_folder.parent == other.bundle  # type: ignore[union-attr]  # it came along
        if is_shipped and records_key(other.dataset_hash, str(other.checkpoint_hash)).is_kept(other.bundle):
            found[datasets.folder_label(other)] = other
    return found


def recipe_tables(source: Source) -> RecipeTables:
    """The tables that recipes search; without ablations where none are kept, since a view does not wait for them."""
    return _tables(source, _with_records(source), kept_causes(source) is not None)


def _with_records(source: Source) -> tuple[str, ...]:
    """The names of the other models, once all records are there: no cached function should wait for them."""
    beside = other_models(source)
    read_records(source)
    for other in beside.values():
        if isinstance(other, str):
            read_records(source, other)
        else:
            read_records(other)
    return tuple(beside)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_MODEL)
def _tables(source: Source, names: tuple[str, ...], has_causes: bool) -> RecipeTables:
    beside = other_models(source)
    others = {}
    for name in names:
        other = beside[name]
        others[name] = read_records(source, other) if isinstance(other, str) else read_records(other)
    return RecipeTables(
        model=datasets.model_label(source),
        records=read_lists(source),
        train_checkins=datasets.open_dataset(source).dataset.pois[c.TRAIN_CHECKINS].to_numpy(),
        others=others,
        ablations=kept_causes(source) if has_causes else None,
        probabilistic=source.has_parts,
    )


def recipes(source: Source) -> dict[RecipeName, FoundCases]:
    """Every recipe's cases, see `analysis.cases.recipes`."""
    return _recipes(source, _with_records(source), kept_causes(source) is not None)


@st.cache_resource(max_entries=8, show_spinner="Searching all cases", hash_funcs=BY_MODEL)
def _recipes(source: Source, names: tuple[str, ...], has_causes: bool) -> dict[RecipeName, FoundCases]:
    return find_all(_tables(source, names, has_causes), first=FIRST_CARDS)


def thumbnail(source: Source, case: int, theme: Theme, *, paths: bool) -> bytes:
    """A card's map, drawn once and kept on disk by what it shows."""
    drawn = _thumbnail(source, case, theme, paths)
    _drawn_here().add(_thumbnail_name(source, case, theme, paths))
    return drawn


def is_drawn(source: Source, case: int, theme: Theme, *, paths: bool) -> bool:
    """Whether a card's map is there already, so that nobody waits for it."""
    name = _thumbnail_name(source, case, theme, paths)
    if name in _drawn_here():
        return True
    path = _thumbnail_file(name)
    return path is not None and path.is_file()


@st.cache_resource(show_spinner=False)
def _drawn_here() -> set[str]:
    return set()


def _thumbnail_name(source: Source, case: int, theme: Theme, paths: bool) -> str:
    said = (source.dataset_hash, datasets.model_key(source), case, theme, paths, picture.THUMBNAIL_PX, _DRAWING)
    return hashlib.sha256(repr(said).encode()).hexdigest()[:32]


def _thumbnail_file(name: str) -> Path | None:
    """Where a map is kept; None where nothing may be written."""
    if AppSettings.from_environment().read_only:
        return None
    with suppress(OSError, RecapError):
        return user_subfolder("cache") / "thumbnails" / f"{name}.png"
    return None


@st.cache_data(max_entries=512, show_spinner=False, hash_funcs=BY_MODEL)
def _thumbnail(source: Source, case: int, theme: Theme, paths: bool) -> bytes:
    path = _thumbnail_file(_thumbnail_name(source, case, theme, paths))
    with suppress(OSError):
        if path is not None and path.is_file():
            return path.read_bytes()
    opened = datasets.open_dataset(source)
    marks = marks_of_record(opened, read_lists(source).iloc[case], paths=paths)
    drawn = draw_thumbnail(opened, marks, palette=palette_of(theme), basemap=maps.read_basemap(source))
    if path is not None:
        with suppress(OSError):  # a cache that cannot be written is done without
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_bytes(path, drawn, durable=False)
    return drawn


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_MODEL)
def story(source: Source, case: int, edits: str = "") -> Story:
    """One case told in screens, see `analysis.cases.story`; the source has a checkpoint."""
    from app.cached.explanations import open_predictor  # here: torch is loaded to tell a case, not to list cards

    return tell_case(open_predictor(source), datasets.open_dataset(source), case, edits)


@st.cache_data(max_entries=128, show_spinner=False, hash_funcs=BY_MODEL | {Marks: astuple})
def room_picture(source: Source, marks: Marks, shown: tuple[int, ...], theme: Theme) -> bytes:
    """A screen's picture."""
    opened = datasets.open_dataset(source)
    return draw_for_room(opened, marks, shown=shown, palette=palette_of(theme), basemap=maps.read_basemap(source))


def share_found(source: Source, k: int) -> float:
    """Share of test cases whose truth ranks within K, see `is_hit`."""
    return float(is_hit(read_records(source), k).mean())
