"""Where Long tail's model misses: a table of kinds whose rows list their cases, and a map.

Only "outvoted" is a cause, shown by an ablation; the other kinds say what coincides.
"""

from typing import Final

import pandas as pd
import streamlit as st

from analysis.formatting import percent, share
from analysis.glossary import TERMS, tooltip_of_order
from analysis.long_tail.miss_map import MIN_USERS
from analysis.long_tail.misses import MISSES, count_misses, misses_by_step
from app import state
from app.cached import maps, tables
from app.cached.workspace import open_workspace, waits_for_causes
from app.components.case_table import change_filter
from app.components.chart_table import chart_table, ticked_row
from app.components.text import quiet, section
from app.sources import Source
from recap.printable import markdown_text

CASES: Final = "cases"
"""Key of Long tail's list of cases."""
MISS_K: Final = "miss_k"
"""The K of Long tail's reasons, and of its list."""
WHY_HELP: Final = (
    f"{TERMS['outvoted'].plain} Else the label says what coincides, which is no cause. "
    f"{tooltip_of_order('out_of_reach', 'near_miss', 'same_category')}"
)


def show_misses(source: Source) -> None:
    """Counts by reason and by how often the step was seen, for a chosen K; they sum to the misses."""
    if not source.has_parts:
        return
    section("Kinds of misses", help=WHY_HELP)
    if waits_for_causes(source):
        quiet("Not measured yet: for so many test cases, run `recap long-tail --full`.")
        return
    k = st.segmented_control("Missed means a rank above", (1, 5, 10, 20), default=20, required=True, key=MISS_K) or 20
    labels = tables.miss_labels(source, k)
    counts, by_step = count_misses(labels), misses_by_step(labels, open_workspace(source).cases)
    table = pd.DataFrame(
        {
            "Kind": [TERMS[label].word for label in counts["label"]],
            "Cases": [f"{n:,}" for n in counts["n"]],
            "Share": [share(value) for value in counts["share"]],
            **{name: [f"{n:,}" for n in by_step[name]] for name in by_step},
        }
    )

    def list_cases() -> None:
        row = ticked_row(st.session_state["misses"], len(MISSES))
        change_filter(CASES, in_link=True, reasons=() if row is None else (MISSES[row],))

    st.dataframe(table, hide_index=True, key="misses", on_select=list_cases, selection_mode="single-row")
    quiet(f"n = {int(counts['n'].sum()):,} test cases missed at K = {k}. Tick a row to list its cases below.")


@st.fragment
def show_miss_map(source: Source, model: str | None) -> None:
    """Cells by the share of their cases that are missed; cells of few users are left out."""
    section("Where misses happen")
    k = st.segmented_control("Missed means a rank above", (1, 5, 10, 20), default=20, required=True, key="map_k") or 20
    cells = tables.cells_of_misses(source, model, k)
    if cells.empty:
        st.info(f"No cell of the city has test cases of {MIN_USERS} users or more, so none is shown.")
        return
    st.pydeck_chart(
        maps.map_of_misses(source, cells, k, state.theme_palette().theme),
        height=400,
        key="miss-map",
        alt=f"Map of {len(cells)} cells; the table holds the same numbers",
    )
    credit = maps.attribution(source)
    missed, total = int(cells["missed"].sum()), int(cells["cases"].sum())
    quiet(
        "Test cases by the place they start from; the stronger a cell, the larger the share of its cases that is "
        f"missed. Over all cells shown {missed:,} of {total:,}, {percent(missed / total)}. Cells with cases of fewer "
        f"than {MIN_USERS} users are left out. {markdown_text(credit)}"
    )
    chart_table({"Cells": tables.rows_of_cells(cells)}, "miss-map")
