"""What the maps of places and of misses show: made once for a checkpoint, then read from memory or the user's cache."""

from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.figures.miss_map import miss_deck
from analysis.figures.palette import Theme, palette_of
from analysis.long_tail.miss_map import miss_cells
from analysis.long_tail.place_embedding import Projection, category_agreement, project_places, shown_places
from analysis.records.table_cache import TableKey, kept_table
from app.cached import datasets, maps, models
from app.cached.figures import BY_CONTENT
from app.cached.keys import BY_MODEL
from app.cached.per_object import PerObject
from app.cached.records import read_records
from app.settings import AppSettings
from app.sources import Source
from recap import columns as c


@st.cache_resource(max_entries=16, show_spinner="Laying out the places; once for each model", hash_funcs=BY_MODEL)
def place_plane(source: Source, how: Projection) -> pd.DataFrame:
    """``poi, name, category, x, y`` of the places shown; the source must have a checkpoint."""
    opened = datasets.open_dataset(source)
    poi = shown_places(opened)
    key = TableKey(source.dataset_hash, str(source.checkpoint_hash), "places", how)
    plane = kept_table(
        key,
        lambda: project_places(_embedding(source)[poi], how),
        rows=len(poi),
        keep=how == "tsne" and not AppSettings.from_environment().read_only,
        bundle=source.bundle,
    )
    facts = {c.POI: poi, "name": np.array(opened.labels)[poi], c.CATEGORY: _categories(source)[poi]}
    return plane.assign(**facts)


def _rows(plane: pd.DataFrame) -> pd.DataFrame:
    return plane[["name", c.CATEGORY]].sort_values([c.CATEGORY, "name"])


rows_of_places: Final = PerObject(_rows)
"""The places of a plane by category and name."""


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=BY_MODEL)
def agreement(source: Source) -> tuple[float, float]:
    """See `analysis.long_tail.place_embedding.category_agreement`."""
    poi = shown_places(datasets.open_dataset(source))
    return category_agreement(_embedding(source)[poi], _categories(source)[poi])


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_MODEL)
def cells_of_misses(source: Source, model: str | None, k: int) -> pd.DataFrame:
    """See `analysis.long_tail.miss_map.miss_cells`."""
    return miss_cells(datasets.open_dataset(source), read_records(source, model), k)


def _cell_rows(cells: pd.DataFrame) -> pd.DataFrame:
    return cells[["cases", "missed", "share", "users", "south", "west"]]


rows_of_cells: Final = PerObject(_cell_rows)
"""The numbers of the cells, as a table shows them."""


def map_of_misses(source: Source, cells: pd.DataFrame, k: int, theme: Theme) -> maps.DrawnDeck:
    """The map of cells; at least one."""
    ground = maps.ground_address(source, theme, online=bool(st.session_state.get("tiles")))
    return _draw_misses(cells, k, ground, theme)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_CONTENT)
def _draw_misses(cells: pd.DataFrame, k: int, ground: str, theme: Theme) -> maps.DrawnDeck:
    return maps.DrawnDeck(miss_deck(cells, k=k, map_style=ground, palette=palette_of(theme)))


def _embedding(source: Source) -> np.ndarray:
    return np.asarray(models.open_checkpoint(source).place_embedding())


def _categories(source: Source) -> np.ndarray:
    return datasets.open_dataset(source).dataset.pois[c.CATEGORY].astype(str).to_numpy()
