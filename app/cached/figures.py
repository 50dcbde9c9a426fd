"""Drawn figures, kept by what they show: plotly takes longer to put a chart together than to send it."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis.figures.palette import Theme, palette_of
from app import state


def drawn(plot: Callable[..., go.Figure], *tables: pd.DataFrame, **options: Any) -> go.Figure:
    """``plot(*tables, palette=..., **options)`` in the visitor's theme; the figure is shared, so do not change it."""
    return _draw(plot, tables, options, state.theme_palette().theme)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs={FunctionType: lambda plot: plot.__qualname__})
def _draw(
    plot: Callable[..., go.Figure], tables: tuple[pd.DataFrame, ...], options: dict[str, Any], theme: Theme
) -> go.Figure:
    return plot(*tables, palette=palette_of(theme), **options)
