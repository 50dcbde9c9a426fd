"""Cases as a list instead of cards: the same ones, to filter, brush and sort; a ticked row chooses its case."""

from collections.abc import Sequence

import streamlit as st

from app.cached.case_tables import all_cases
from app.components.case_table import show_case_table
from app.components.cases.card_grid import Entry, choose, chosen_entry
from app.components.text import quiet
from app.sources import Source


def show_list(source: Source, entries: Sequence[Entry]) -> None:
    """Every case once, in the order of the cards."""
    keys = {entry.case: entry.key for entry in reversed(entries)}
    table = all_cases(source).iloc[list(dict.fromkeys(entry.case for entry in entries))]

    def choose_case(case: int) -> None:
        now = chosen_entry(entries)
        if now is None or now.case != case:
            choose(keys[case])
            st.rerun()
        quiet("The box beside opens it, and keeps it with your notes.")

    show_case_table(table, key="found", open_case=choose_case, in_link=True)
