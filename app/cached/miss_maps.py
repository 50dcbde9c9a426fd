"""What the map of misses shows, made once for each model."""

from typing import Final

import pandas as pd
import streamlit as st

from analysis.figures.miss_map import miss_deck
from analysis.figures.palette import Theme, palette_of
from analysis.long_tail.miss_map import miss_cells
from app.cached import datasets, maps
from app.cached.figures import BY_CONTENT
from app.cached.keys import BY_MODEL
from app.cached.per_object import PerObject
from app.cached.records import read_records
from app.sources import Source


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
