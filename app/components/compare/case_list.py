"""The cases of one list: a cell of the 2x2, or the paper's Figure 1; a row opens the case for both sides."""

import pandas as pd
import streamlit as st

from analysis.compare.cells import CELLS, FIGURE_1, HitSelection, cell_label
from analysis.compare.comparison import Comparison
from analysis.formatting import rank_word
from app import state
from app.cached import comparisons, datasets
from app.cached.comparisons import Option
from app.components.chart_table import ticked_row
from app.components.text import quiet, section
from app.pages import WALK
from app.sources import Source
from recap import columns as c

CHIPS = {"Revisit": "violet", "2 hops": "green"}
_LONGEST = 500
_ORDER = ("only_b", "only_a", FIGURE_1, "both", "neither")


def current_cell() -> str:
    """The list that a link, a cell or the control chose."""
    asked = state.incoming("cell")
    if asked in _ORDER:
        st.session_state["cell"] = asked
    cell = str(st.session_state.get("cell") or _ORDER[0])
    state.write_param("cell", cell if cell != _ORDER[0] else None)
    return cell


def show_case_list(source: Source, a: Option, b: Option, found: Comparison, cell: str) -> None:
    """Which cases, largest change of rank first."""
    section("Cases, one by one")
    row = found.row("all")
    figure_1 = len(comparisons.cell_cases(source, a, b, found.k, FIGURE_1))
    counts = {**{name: int(row[name]) for name in CELLS}, FIGURE_1: figure_1}
    words = {"only_b": "Only B", "only_a": "Only A", "both": "Both", "neither": "Neither", FIGURE_1: "Figure 1"}
    st.session_state["cell_control"] = cell
    st.segmented_control(
        "Cases of",
        _ORDER,
        required=True,
        key="cell_control",
        format_func=lambda name: f"{words[name]} {counts[name]:,}",
        label_visibility="collapsed",
        on_change=lambda: st.session_state.update(cell=st.session_state["cell_control"]),
        help="Figure 1 of the paper: a popular place (the most visited tenth) by a step never seen, which A misses.",
    )
    table = comparisons.cell_cases(source, a, b, found.k, cell)
    label = cell_label(cell, found.a, found.b)
    with st.container(horizontal=True, vertical_alignment="center"):
        quiet(f"{label} within {found.k}: {len(table):,} cases.", width="content")
        st.space("stretch")
        if len(table) and st.button(
            "All in Walk", icon=":material/arrow_forward:", icon_position="right", type="tertiary", key="cell-walk"
        ):
            chosen = HitSelection(a.token, b.token, found.k, cell)
            model = b.source or a.source
            params = {"cases": chosen.text, "case": str(table[c.CASE].iloc[0])}
            st.switch_page(WALK.path, query_params=params | ({"source": model.token} if model else {}))
    if table.empty:
        return
    shown = table.head(_LONGEST)
    event = st.dataframe(
        _shown(source, shown),
        hide_index=True,
        key=f"cell-list-{cell}",
        height=min(36 * (len(shown) + 1) + 2, 330),
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "Step": st.column_config.TextColumn(width="large"),
            **{name: st.column_config.TextColumn(alignment="right") for name in ("Seen", "Rank, A → B")},
            "Evidence": st.column_config.MultiselectColumn(options=list(CHIPS), color=list(CHIPS.values())),
        },
        alt=f"{label}: step, how often it was seen, rank by A and by B, evidence",
    )
    more = f" The first {_LONGEST} are listed." if len(table) > _LONGEST else ""
    quiet(f"Largest change of rank first. A ticked row opens the case with both side by side, below.{more}")
    ticked = ticked_row(event, len(shown))
    if ticked is not None:
        picked = int(shown[c.CASE].iloc[ticked])
        if st.session_state.get("_listed_case") != picked:
            st.session_state["_listed_case"] = picked
            st.session_state["open"] = picked


def _shown(source: Source, table: pd.DataFrame) -> pd.DataFrame:
    labels = datasets.open_dataset(source).labels
    return pd.DataFrame(
        {
            "Step": [
                f"{labels[source_]} → {labels[target]}"
                for source_, target in zip(table[c.SOURCE], table[c.TARGET], strict=True)
            ],
            "Seen": table[c.TRANSITION_COUNT].map("{:,}".format),
            "Rank, A → B": [
                f"{rank_word(first)} → {rank_word(second)}"
                for first, second in zip(table["rank_a"], table["rank_b"], strict=True)
            ],
            "Evidence": [
                [name for name, there in zip(CHIPS, pair, strict=True) if there]
                for pair in zip(table[c.IN_HISTORY], table[c.WITHIN_TWO_HOPS], strict=True)
            ],
        }
    )
