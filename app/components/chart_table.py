"""The table behind a chart: the same numbers for those who cannot see or click it; a row leads where its mark does."""

from collections.abc import Callable, Mapping

import pandas as pd
import streamlit as st


def chart_table(
    tables: Mapping[str, pd.DataFrame], key: str, open_row: Callable[[str, int], None] | None = None
) -> None:
    """A button that shows the tables of a figure.

    Args:
        open_row: told (table, row) when a cell is chosen, by mouse or by keyboard.
    """
    with st.popover("Table", icon=":material/table_rows:", type="tertiary", key=f"{key}-twin"):
        for name, table in tables.items():
            if open_row is None:
                st.dataframe(table, hide_index=True, key=f"{key}-{name}")
                continue
            event = st.dataframe(
                table, hide_index=True, key=f"{key}-{name}", on_select="rerun", selection_mode="single-cell"
            )
            cells = event["selection"]["cells"] if event else []
            if cells and int(cells[0][0]) < len(table):
                open_row(name, int(cells[0][0]))
