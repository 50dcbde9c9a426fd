"""Figures and tables, drawn and serialised once, cached by content.

Building a plotly chart or an Arrow table takes longer than sending it.
"""

import hashlib
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from types import FunctionType
from typing import Any, Final, Generic, TypeVar

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st

from analysis.cases.case_filter import CaseFilter, hide_truth
from analysis.cases.case_table import CAUSE_NAMES, REASON, REFERENCE_RANK, TRANSITION, USER_NAME
from analysis.figures.palette import Theme, palette_of
from analysis.formatting import rank_column
from analysis.long_tail.misses import MISS_LABELS
from analysis.records.ablations import ABLATION_LABELS
from app import state
from app.cached.workspace import HashFuncs
from recap import columns as c
from recap.machine.printable import shortened

Thing = TypeVar("Thing")
_Made = TypeVar("_Made")


class PerObject(Generic[Thing, _Made]):
    """Compute ``make(thing)`` once per object, and forget it with the object.

    All visitors share the same tables and explanations. Looking up an object is faster than comparing or serialising
    its content.
    """

    def __init__(self, make: Callable[[Thing], _Made]) -> None:
        self._make = make
        self._made: dict[int, tuple[weakref.ref[Thing], _Made]] = {}
        self._lock = threading.Lock()

    def __call__(self, thing: Thing) -> _Made:
        number = id(thing)
        known = self._made.get(number)
        if known is not None and known[0]() is thing:
            return known[1]
        made = self._make(thing)

        def forget(gone: "weakref.ref[Thing]") -> None:
            with self._lock:  # unless the number has gone to another object by now
                if number in self._made and self._made[number][0] is gone:
                    del self._made[number]

        with self._lock:
            self._made[number] = weakref.ref(thing, forget), made
        return made


class DrawnFigure(go.Figure):
    """A figure in the form that Streamlit sends; plotly would copy the whole figure for every visitor."""

    def __init__(self, figure: go.Figure) -> None:
        super().__init__()
        self._original, self._sent = figure, figure.to_dict()

    @property
    def original(self) -> go.Figure:
        """The figure itself, to be written to a file."""
        return self._original

    def to_dict(self) -> dict[str, Any]:
        """The figure as plain shared values; do not change them."""
        return self._sent


def _content_of_table(table: pd.DataFrame) -> bytes:
    described = repr((list(table.columns), list(map(str, table.dtypes)), len(table)))
    try:
        content = pd.util.hash_pandas_object(table).to_numpy().tobytes()
    except TypeError:  # cells that hold lists
        content = table.to_json().encode()
    return hashlib.blake2b(described.encode() + content).digest()


BY_FUNCTION: Final[HashFuncs] = {FunctionType: lambda make: f"{make.__module__}.{make.__qualname__}"}
BY_CONTENT: Final[HashFuncs] = BY_FUNCTION | {
    pd.DataFrame: PerObject(_content_of_table),
    "analysis.explain.explanation.CaseExplanation": PerObject(lambda shown: shown.model_dump_json()),
}
"""Explanations and tables with the same content have the same figure.

Classes by name: theirs would bring torch into views that need none."""


def drawn(plot: Callable[..., Any], *shown: Any, **options: Any) -> Any:
    """Draw ``plot(*shown, palette=..., **options)`` in the visitor's theme; the result is shared, so do not change it.

    Args:
        shown: tables, explanations, numbers; do not change them later.

    Returns:
        The figure or figures, for `st.plotly_chart`.
    """
    # By name, because Streamlit looks up the signature for every positional argument.
    return _draw(plot=plot, shown=shown, options=options, theme=state.theme_palette().theme)


@st.cache_resource(max_entries=512, show_spinner=False, hash_funcs=BY_CONTENT)
def _draw(plot: Callable[..., Any], shown: tuple[Any, ...], options: dict[str, Any], theme: Theme) -> Any:
    figures = plot(*shown, palette=palette_of(theme), **options)
    return tuple(map(DrawnFigure, figures)) if isinstance(figures, tuple) else DrawnFigure(figures)


def as_sent(table: pd.DataFrame) -> pa.Table | pd.DataFrame:
    """A table in Arrow's form, or the table itself if Streamlit must repair mixed cells."""
    try:
        return pa.Table.from_pandas(table)
    except pa.ArrowException:
        return table


sent: Final = PerObject(as_sent)
"""A shared table for `st.dataframe`; it must not change after it was shown."""


_numbers = count()
BY_OBJECT: Final[HashFuncs] = {pd.DataFrame: PerObject(lambda table: next(_numbers))}
"""Hashing a table of 25,000 cases takes longer than filtering it, so tables are compared by identity."""

known_before: Final = PerObject(hide_truth)


OPEN_COLUMN: Final = "open"
"""Column of the buttons that open cases."""


TWO_LINES_PX: Final = 66
"""Height of a row whose texts wrap, in windows that are not wide."""
_LONGEST_NAME: Final = 20


@dataclass(frozen=True)
class ListedCases:
    """The rows that pass a filter, as sent to the browser, and their cases in the same order."""

    cases: np.ndarray
    rows: pa.Table | pd.DataFrame


@st.cache_resource(max_entries=24, show_spinner=False, hash_funcs=BY_OBJECT)
def list_cases(table: pd.DataFrame, chosen: str, columns: tuple[str, ...], opens: str) -> ListedCases:
    """Filter a table of `analysis.cases.case_table` and write it in words.

    Args:
        chosen: text of the filter, without the truth for a table of `known_before`.
        columns: to show, if the table has them.
        opens: label of each row's button.
    """
    shown = table[CaseFilter.from_text(chosen).mask(table)]
    rows = _readable(shown, columns)
    rows[OPEN_COLUMN] = pd.Categorical([opens] * len(rows))
    return ListedCases(shown[c.CASE].to_numpy(), as_sent(rows))


def short_way(transition: str) -> str:
    """A transition whose places fit a list."""
    return " → ".join(shortened(place, _LONGEST_NAME) for place in transition.split(" → "))


def _readable(shown: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """The table in words, as categories, which take a tenth of the text to send."""
    readable = shown[[name for name in columns if name in shown]].copy()
    if c.USER in readable:
        readable[c.USER] = shown[USER_NAME]
    if TRANSITION in readable:
        readable[TRANSITION] = shown[TRANSITION].map(short_way)
    for name in {c.RANK, REFERENCE_RANK} & set(readable):
        readable[name] = rank_column(shown[name])
    in_words = [name for name in readable if not pd.api.types.is_numeric_dtype(readable[name])]
    return readable.astype(dict.fromkeys(in_words, "category"))


def _options(table: pd.DataFrame) -> dict[str, list[str]]:
    reasons, causes = set(table[REASON]), {cause for names in table[CAUSE_NAMES] for cause in names}
    return {
        "categories": sorted(set(table[c.CATEGORY])),
        "reasons": [name for name in MISS_LABELS if name in reasons],
        "causes": [name for name in ABLATION_LABELS if name in causes],
    }


options_of: Final = PerObject(_options)
"""Categories, reasons and causes that a table can be filtered by."""
