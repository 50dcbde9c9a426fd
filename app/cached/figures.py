"""Drawn figures, kept by what they show: plotly takes longer to put a chart together than to send it."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis.figures.palette import Theme, palette_of
from app import state


def drawn(plot: Callable[..., go.Figure], *tables: pd.DataFrame, **options: Any) -> go.Figure:
    """``plot(*tables, palette=..., **options)`` in the visitor's theme; the figure is shared, so do not change it."""
    return _drawn(plot.__name__, tables, options, state.theme_palette().theme, plot)


@st.cache_resource(max_entries=256, show_spinner=False)
def _drawn(
    name: str,
    tables: tuple[pd.DataFrame, ...],
    options: dict[str, Any],
    theme: Theme,
    _plot: Callable[..., go.Figure],
) -> go.Figure:
    return _plot(*tables, palette=palette_of(theme), **options)
