"""Charts, and the table behind one, for those who cannot see or click it.

Rows are ticked, never cells: Tab would choose a cell, and the page would leave.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis.figures.charts import PLOT_CONFIG
from analysis.formatting import capitalised
from app import address
from app.cached.figures import DrawnFigure, sent
from app.components.text import late_popover
from app.components.toolbar import offer_figure


def show_figure(figure: go.Figure, key: str, alt: str, **select: Any) -> Any:
    """A chart in the app's own colours; with selection options of `st.plotly_chart`, returns the selection."""
    name = offer_figure(key, figure.original if isinstance(figure, DrawnFigure) else figure)
    saved = {**PLOT_CONFIG["toImageButtonOptions"], "filename": f"recap-{name}"}
    config = {**PLOT_CONFIG, "toImageButtonOptions": saved}
    return st.plotly_chart(figure, theme=None, config=config, key=key, alt=alt, **select)


def show_wide(figure: go.Figure, key: str, alt: str, least_px: int = 700, **select: Any) -> Any:
    """A chart that is scrolled sideways in a window too narrow for it."""
    with st.grid(1, min_column_width=least_px, wrap=False).cell():
        return show_figure(figure, key, alt, **select)


@st.fragment
def chart_table(
    tables: Mapping[str, pd.DataFrame],
    key: str,
    open_row: Callable[[str, int], None] | None = None,
    headings: Mapping[str, str] | None = None,
    label: str = "Table",
) -> None:
    """A button that shows the tables of a figure by name, which are sent when it is pressed and must never change.

    Args:
        open_row: receives (table, row) when a row is ticked, by mouse or by keyboard (Shift and Space).
        headings: of the columns to show; None shows all by name.
    """
    button = late_popover(label, f"{key}-twin", icon=":material/table_rows:", type="tertiary")
    if not button:
        return
    with button:
        for name, table in tables.items():
            labels = {column: capitalised(title) for column, title in (headings or {}).items() if column in table}
            shares: dict[Any, Any] = {
                column: st.column_config.NumberColumn(labels.get(str(column)), format="%.3f")
                for column in table
                if pd.api.types.is_float_dtype(table[column])
            }
            for column in table.select_dtypes(["object", "string"]):  # Streamlit fits a column to its first rows only
                label = labels.get(str(column), str(column))
                longest = max(map(len, [label, *table[column].astype(str)]))
                shares[column] = st.column_config.TextColumn(label, width=24 + 7 * longest)
            look: dict[str, Any] = {
                "hide_index": True,
                "key": f"{key}-{name}",
                "width": "content",
                "column_order": list(labels) or None,
                "column_config": labels | shares,
            }
            if open_row is None:
                st.dataframe(sent(table), **look)
                continue
            event = st.dataframe(sent(table), on_select="rerun", selection_mode="single-row", **look)
            row = ticked_row(event, len(table))
            if row is not None:
                open_row(name, row)


def ticked_list(table: pd.DataFrame, open_row: Callable[[int], None], *on: str, key: str, **look: Any) -> None:
    """A list; a ticked row is opened before the page is drawn again. ``on``: see `app.address.unless_late`."""

    def choose() -> None:
        row = ticked_row(st.session_state[key], len(table))
        if row is not None:
            open_row(row)

    on_select = address.unless_late(choose, *on)
    st.dataframe(table, hide_index=True, key=key, selection_mode="single-row", on_select=on_select, **look)


def ticked_row(event: Mapping[str, Mapping[str, list[int]]] | None, length: int) -> int | None:
    """The ticked row in a table of `selection_mode="single-row"`."""
    rows = event["selection"]["rows"] if event else []
    return int(rows[0]) if rows and int(rows[0]) < length else None
