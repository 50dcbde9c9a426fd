"""The bar or cell whose cases Long tail lists: chosen by a click, kept in the session and in the link."""

from collections.abc import Iterable

import pandas as pd
import streamlit as st

from analysis.records.case_selection import CaseSelection
from app import state
from app.components.chart_table import chart_table
from recap import columns as c
from recap.errors import RecapError
from recap.printable import markdown_text

PARAM = "cases"
_KEPT = "selected_cases"


def current_selection() -> CaseSelection | None:
    """What is selected; a link's selection that cannot be read gets a sentence, and nothing is selected."""
    asked = state.incoming(PARAM)
    if asked is not None:
        try:
            select(CaseSelection.parse(asked))
        except RecapError:
            st.warning("The link's choice of cases cannot be read, so all cases are listed.")
            select(None)
    kept = st.session_state.get(_KEPT)
    state.write_param(PARAM, kept)
    return None if kept is None else CaseSelection.parse(kept)


def select(selection: CaseSelection | None) -> None:
    """Select a bar or cell; None for all cases."""
    st.session_state[_KEPT] = None if selection is None else selection.text
    state.write_param(PARAM, st.session_state[_KEPT])


def chart_key(name: str) -> str:
    """The key of a chart; another one once its selection must be forgotten, which no command does."""
    version = st.session_state.get(f"{name}_version", 0)
    return f"{name}-{version}" if version else name


def select_clicked(*names: str, eta: int) -> None:
    """Select what was clicked in one of the charts since the last run, before anything is drawn.

    Args:
        names: of the charts; their marks carry ``[column, low, high]`` or ``[in_history, within_two_hops]``.
        eta: a transition is rare up to this count.
    """
    for name in names:
        key = chart_key(name)
        points = (st.session_state.get(key) or {"selection": {"points": []}})["selection"]["points"]
        data = next((list(point["customdata"]) for point in points if point.get("customdata")), None)
        if data is not None and data != st.session_state.get(f"{key}_clicked"):
            cohort = CaseSelection.of_cohort(bool(data[0]), bool(data[1]), eta)
            select(CaseSelection.of_bin(*data) if len(data) == 3 else cohort)
            _forget(other for other in names if other != name)
        st.session_state[f"{key}_clicked"] = data


def _forget(names: Iterable[str]) -> None:
    """Draw charts again whose last click would otherwise hide the next one on the same mark."""
    for name in names:
        if st.session_state.get(f"{chart_key(name)}_clicked") is not None:
            st.session_state[f"{name}_version"] = st.session_state.get(f"{name}_version", 0) + 1


def selection_chip(*names: str) -> None:
    """What is selected; a click lists all cases again.

    Args:
        names: of the charts in which one selects.
    """
    chosen = current_selection()
    if chosen is not None and st.button(
        markdown_text(chosen.label), icon=":material/close:", icon_position="right", key="selected"
    ):
        select(None)
        _forget(names)
        st.rerun()


def show_bins(name: str, table: pd.DataFrame, key: str, eta: int) -> None:
    """The table behind a chart, whose rows select what its marks do."""

    def select_row(_: str, row: int) -> None:
        chosen = table.iloc[row]
        if key == "cohorts":
            flags = bool(chosen[c.IN_HISTORY]), bool(chosen[c.WITHIN_TWO_HOPS])
            selection = CaseSelection.of_cohort(*flags, eta)
        else:
            selection = CaseSelection.of_bin(key, int(chosen["low"]), int(chosen["high"]))
        kept = st.session_state.get(_KEPT)
        if kept != selection.text:
            select(selection)
            st.rerun()

    chart_table({name: table}, f"{key}-table", select_row)
