"""Where misses happen, on the map of the city."""

import streamlit as st

from analysis.formatting import percent
from analysis.long_tail.miss_map import MIN_USERS
from app import state
from app.cached import maps, miss_maps
from app.components.chart_table import chart_table
from app.components.text import quiet, section
from app.sources import Source
from recap.printable import markdown_text


@st.fragment
def show_miss_map(source: Source, model: str | None) -> None:
    """Cells by the share of their cases that are missed; cells of few walkers are left out."""
    section("Where misses happen")
    k = st.segmented_control("Missed means a rank above", (1, 5, 10, 20), default=20, required=True, key="map_k") or 20
    cells = miss_maps.cells_of_misses(source, model, k)
    if cells.empty:
        st.info(f"No cell of the city has test cases of {MIN_USERS} walkers or more, so none is shown.")
        return
    st.pydeck_chart(
        miss_maps.map_of_misses(source, cells, k, state.theme_palette().theme),
        height=400,
        key="miss-map",
        alt=f"Map of {len(cells)} cells; the table holds the same numbers",
    )
    credit = maps.attribution(source, online=bool(st.session_state.get("tiles")))
    missed, total = int(cells["missed"].sum()), int(cells["cases"].sum())
    quiet(
        "Test cases by the place they start from; the stronger a cell, the larger the share of its cases that is "
        f"missed. Over all cells shown {missed:,} of {total:,}, {percent(missed / total)}. Cells with cases of fewer "
        f"than {MIN_USERS} walkers are left out. {markdown_text(credit)}"
    )
    chart_table({"Cells": miss_maps.rows_of_cells(cells)}, "miss-map")
