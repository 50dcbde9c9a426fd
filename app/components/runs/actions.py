"""What can be done to the chosen run."""

from typing import Any

import streamlit as st

from app import state
from app.cached import run_store
from app.pages import COMPARE, EXPLAIN, WALK
from recap.errors import RecapError
from recap.runs.execution import control
from recap.runs.store.run_folder import RunFolder
from recap.runs.store.run_store import RunStore
from recap.runs.store.spec import MAX_NOTES
from recap.runs.store.state import RESUMABLE
from recap.runs.store.types import RunRow


def show_actions(store: RunStore, run: RunFolder, row: RunRow) -> None:
    """Buttons under the queue; a read-only app has those that change nothing."""
    with st.container(horizontal=True):
        if not store.read_only:
            _act("Stop", ":material/stop:", row["state"] in ("queued", "running"), lambda: control.stop(store, run))
            _act("Resume", ":material/resume:", row["state"] in RESUMABLE, lambda: control.resume(store, run))
            if st.button("Duplicate", icon=":material/content_copy:", key="run_copy"):
                st.session_state["run_duplicate"] = run.read_spec().model_dump(mode="json") | {"parent": run.id}
                st.rerun()
        source = run_store.source_of(run) if row["checkpoint"] else None
        for page in (WALK, EXPLAIN, COMPARE):
            if st.button(f"Open in {page.title}", icon=":material/arrow_forward:", disabled=source is None):
                assert source is not None
                state.choose_source(source.token)
                st.switch_page(page.path, query_params=state.link_to(source))
    if not store.read_only:
        notes = st.text_input("Note of this run", value=row["notes"], max_chars=MAX_NOTES, key=f"notes_{run.id}")
        if notes != row["notes"]:
            control.write_notes(store, run, notes)
            st.rerun()


def _act(label: str, icon: str, possible: bool, act: Any) -> None:
    if st.button(label, icon=icon, disabled=not possible, key=f"run_{label.lower()}"):
        try:
            act()
        except RecapError as error:
            st.session_state["run_refusal"] = str(error)
        st.rerun()
