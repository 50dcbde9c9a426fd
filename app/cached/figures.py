"""Drawn figures, kept by what they show: plotly takes longer to put a chart together than to send it."""

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, TypeVar

import streamlit as st

from analysis.figures.palette import Theme, palette_of
from analysis.registers import Words
from app import state
from app.cached.keys import HashFuncs

Drawn = TypeVar("Drawn")
BY_CONTENT: Final[HashFuncs] = {
    FunctionType: lambda plot: f"{plot.__module__}.{plot.__qualname__}",
    "analysis.explain.explanation.FullExplanation": lambda shown: shown.model_dump_json(),
    "analysis.explain.stamps.RowStamp": lambda stamp: stamp.model_dump_json(),
    Words: lambda words: words.register,
}
"""Two explanations that say the same look the same; to write one out takes less than a hundredth of a figure.

Classes by name: theirs would bring torch into views that need none."""


def drawn(plot: Callable[..., Drawn], *shown: Any, **options: Any) -> Drawn:
    """``plot(*shown, palette=..., **options)`` in the visitor's theme; what it gives is shared, so do not change it.

    Args:
        shown: tables, explanations, stamps, numbers.
    """
    kept: Drawn = _draw(plot, shown, options, state.theme_palette().theme)
    return kept


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_CONTENT)
def _draw(plot: Callable[..., Any], shown: tuple[Any, ...], options: dict[str, Any], theme: Theme) -> Any:
    return plot(*shown, palette=palette_of(theme), **options)
