"""The bar or cell whose cases Long tail lists."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from analysis.records.case_selection import CaseSelection
from app import address
from app.components import words
from app.components.chart_table import chart_table
from recap import columns as c
from recap.machine.printable import markdown_text

_KEPT = "selected_cases"


def current_selection() -> CaseSelection | None:
    """The current selection; an unreadable link gives a message and selects nothing."""
    kept = address.current_text("cases", lambda text: CaseSelection.parse(text).text, words.OTHER_CASES, choice=_KEPT)
    return CaseSelection.parse(kept) if kept else None


def selection_at(eta: int) -> CaseSelection | None:
    """The current selection, with the page's threshold for rare transitions."""
    chosen = current_selection()
    if chosen is not None and chosen.kind == "cohort":
        known, near, _ = chosen.numbers
        chosen = CaseSelection.of_cohort(bool(known), bool(near), eta)
        select(chosen)
    return chosen


def select(selection: CaseSelection | None) -> None:
    address.choose(_KEPT, None if selection is None else selection.text)


def select_picked(text: str) -> None:
    """Select the clicked mark of a picture."""
    select(CaseSelection.parse(text))


def selection_chip() -> None:
    """A chip that clears the selection."""
    chosen = current_selection()
    if chosen is not None and st.button(
        markdown_text(chosen.label), icon=":material/close:", icon_position="right", key="selected"
    ):
        select(None)
        st.rerun()


def show_bins(name: str, table: pd.DataFrame, key: str, eta: int, headings: Mapping[str, str]) -> None:
    """The table behind a chart; its rows select like its marks."""

    def select_row(_: str, row: int) -> None:
        chosen = table.iloc[row]
        if key == "cohorts":
            flags = bool(chosen[c.IS_KNOWN]), bool(chosen[c.WITHIN_TWO_HOPS])
            selection = CaseSelection.of_cohort(*flags, eta)
        else:
            selection = CaseSelection.of_bin(key, int(chosen["low"]), int(chosen["high"]))
        if address.chosen(_KEPT) != selection.text:
            select(selection)
            st.rerun()

    chart_table({name: table}, f"{key}-table", select_row, headings)
