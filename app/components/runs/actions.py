"""Buttons for the chosen run."""

from collections.abc import Callable

import streamlit as st

from app import state
from app.pages import COMPARE, EXPLAIN, OVERVIEW
from app.sources import Source
from recap.errors import RecapError
from recap.runs.execution import control
from recap.runs.store.description import RunRow
from recap.runs.store.run_folder import RunFolder
from recap.runs.store.run_store import RunStore
from recap.runs.store.spec import MAX_NOTES
from recap.runs.store.state import RESUMABLE


def open_buttons(trained: Source, better: Source) -> None:
    """Buttons from a finished run to its model; Open opens the better of it and `pretrained`."""
    with st.container(horizontal=True):
        for label, page in (("Compare", COMPARE), ("Explain", EXPLAIN), ("Open", OVERVIEW)):
            source = better if page is OVERVIEW else trained
            if st.button(label, icon=":material/arrow_forward:", key=f"run_to_{page.name}"):
                state.choose_source(source.token)
                st.switch_page(page.path, query_params=state.link_to(source))


def show_actions(store: RunStore, run: RunFolder, row: RunRow) -> None:
    with st.container(horizontal=True):
        _act("Stop", ":material/stop:", row["state"] in ("queued", "running"), lambda: control.stop(store, run))
        _act("Resume", ":material/resume:", row["state"] in RESUMABLE, lambda: control.resume(store, run))
        notes = st.text_input(
            "Note",
            value=row["notes"],
            max_chars=MAX_NOTES,
            key=f"notes_{run.id}",
            label_visibility="collapsed",
            placeholder="Note",
        )
    if notes != row["notes"]:
        control.write_notes(store, run, notes)
        st.rerun()


def _act(label: str, icon: str, possible: bool, act: Callable[[], object]) -> None:
    if st.button(label, icon=icon, disabled=not possible, key=f"run_{label.lower()}"):
        try:
            act()
        except RecapError as error:
            st.session_state["run_refusal"] = str(error)
        st.rerun()
