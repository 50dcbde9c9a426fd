"""The cases of one list: what one side finds, both or neither; a row opens the case for both sides."""

import pandas as pd
import streamlit as st

from analysis.cases.case_table import FROM, TO
from analysis.compare.cells import CELLS, HitSelection, cell_label
from analysis.compare.comparison import Comparison
from analysis.glossary import tooltip
from analysis.phrases import phrase
from app import state
from app.cached import comparisons
from app.cached.comparisons import Option
from app.cached.tables import cases_of_any_model
from app.components.case_table import show_case_table
from app.components.text import quiet, section
from app.pages import WALK
from app.sources import Source
from recap import columns as c

RANK_A, REACH = "rank_a", "reach"
_ORDER = ("only_b", "only_a", "both", "neither")


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
    counts = {name: int(row[name]) for name in CELLS}
    words = {"only_b": "Only B", "only_a": "Only A", "both": "Both", "neither": "Neither"}
    st.session_state["cell_control"] = cell
    st.segmented_control(
        "Cases of",
        _ORDER,
        required=True,
        key="cell_control",
        format_func=lambda name: f"{words[name]} {counts[name]:,}",
        label_visibility="collapsed",
        on_change=state.unless_late(lambda: st.session_state.update(cell=st.session_state["cell_control"]), "cell"),
    )
    table = comparisons.cell_cases(source, a, b, found.k, cell)
    label = cell_label(cell, *found.names)
    with st.container(horizontal=True, vertical_alignment="center"):
        order = " Largest change of rank first; a row opens below." if len(table) else ""
        quiet(f"{label} within {found.k}: {len(table):,} cases.{order}", width="content")
        st.space("stretch")
        if len(table) and st.button(
            "All in Walk", icon=":material/arrow_forward:", icon_position="right", type="tertiary", key="cell-walk"
        ):
            chosen = HitSelection(a.token, b.token, found.k, cell)
            model = b.shown or a.shown
            case = str(table[c.CASE].iloc[0])
            st.switch_page(WALK.path, query_params=state.link_to(model or source, cases=chosen.text, case=case))
    if table.empty:
        return
    show_case_table(
        listed_table(source, table),
        key=f"compared-{cell}",
        open_case=_open_case,
        opens="Open",
        in_link=True,
        more={
            RANK_A: st.column_config.NumberColumn("Rank, A", width=62, format="%g", help="Of the true place, by A."),
            c.RANK: st.column_config.NumberColumn("Rank, B", width=62, format="%g", help="Of the true place, by B."),
            FROM: st.column_config.TextColumn("From", width=150),
            TO: st.column_config.TextColumn("To", width=150),
            REACH: st.column_config.TextColumn("Reach", width=120, help=tooltip("revisit", c.WITHIN_TWO_HOPS)),
        },
    )


def listed_table(source: Source, listed: pd.DataFrame) -> pd.DataFrame:
    """The rows of a list as the component of all lists takes them, with both ranks and where the place lies."""
    reach = [
        ", ".join(word for word, there in zip(("Revisit", phrase("chip_two")), pair, strict=True) if there)
        for pair in zip(listed[c.IN_HISTORY], listed[c.WITHIN_TWO_HOPS], strict=True)
    ]
    table = cases_of_any_model(source).iloc[listed[c.CASE].to_numpy()].copy()
    table[RANK_A], table[c.RANK] = listed["rank_a"].to_numpy(), listed["rank_b"].to_numpy()
    table[REACH] = reach
    return table


def _open_case(case: int) -> None:
    """Both sides of a case, below."""
    st.session_state["open"] = case
    st.rerun()
