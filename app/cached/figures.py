"""Drawn figures and tables in the form they are sent in, kept by what they show.

Plotly takes longer to put a chart together than to send it, and pandas to turn a table into Arrow's form.
"""

import hashlib
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st

from analysis.figures.palette import Theme, palette_of
from app import state
from app.cached.keys import HashFuncs
from app.cached.per_object import PerObject


class DrawnFigure(go.Figure):
    """A figure as it is sent: plotly copies a whole figure for every visitor.

    It takes over what the figure holds; to build one again takes plotly longer than to draw it.
    """

    def __init__(self, figure: go.Figure) -> None:
        self.__dict__.update(figure.__dict__)
        self._sent: dict[str, Any] = figure.to_dict()

    def to_dict(self) -> dict[str, Any]:
        """The figure as plain values; shared, so do not change it."""
        return self._sent


def _content_of_table(table: pd.DataFrame) -> bytes:
    described = repr((list(table.columns), list(map(str, table.dtypes)), len(table)))
    try:
        content = pd.util.hash_pandas_object(table).to_numpy().tobytes()
    except TypeError:  # cells that hold lists
        content = table.to_json().encode()
    return hashlib.blake2b(described.encode() + content).digest()


BY_CONTENT: Final[HashFuncs] = {
    FunctionType: lambda plot: f"{plot.__module__}.{plot.__qualname__}",
    pd.DataFrame: PerObject(_content_of_table),
    "analysis.explain.explanation.CaseExplanation": PerObject(lambda shown: shown.model_dump_json()),
}
"""Two explanations that say the same look the same, and so do two tables.

Classes by name: theirs would bring torch into views that need none."""


def drawn(plot: Callable[..., Any], *shown: Any, **options: Any) -> Any:
    """``plot(*shown, palette=..., **options)`` in the visitor's theme; what it gives is shared, so do not change it.

    Args:
        shown: tables, explanations, numbers; never changed once they were shown.

    Returns:
        The figure, or a tuple of figures, to be given to `st.plotly_chart`.
    """
    # By name: for every positional argument Streamlit looks up the function's signature.
    return _draw(plot=plot, shown=shown, options=options, theme=state.theme_palette().theme)


@st.cache_resource(max_entries=512, show_spinner=False, hash_funcs=BY_CONTENT)
def _draw(plot: Callable[..., Any], shown: tuple[Any, ...], options: dict[str, Any], theme: Theme) -> Any:
    figures = plot(*shown, palette=palette_of(theme), **options)
    return tuple(map(DrawnFigure, figures)) if isinstance(figures, tuple) else DrawnFigure(figures)


def as_sent(table: pd.DataFrame) -> pa.Table | pd.DataFrame:
    """A table in Arrow's form; where that needs Streamlit's repairs (cells of several types), the table itself."""
    try:
        return pa.Table.from_pandas(table)
    except pa.ArrowException:
        return table


_as_sent: Final = PerObject(as_sent)


def sent(table: pd.DataFrame) -> pa.Table | pd.DataFrame:
    """A shared table for `st.dataframe`; it never changes once it was shown."""
    return _as_sent(table)
