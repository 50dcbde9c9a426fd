"""What can be done to the chosen run, and what can be read off it when it is over."""

from typing import Any

import streamlit as st

from analysis.formatting import ordinal, signed
from app import state
from app.cached import run_store
from app.components.text import quiet
from app.pages import PAGES
from recap import columns as c
from recap.errors import RecapError
from recap.printable import markdown_text
from recap.runs.execution import control
from recap.runs.execution.snapshots import PARTS, SNAPSHOTS, read_case_history
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
        for page in (page for page in PAGES if page.title in ("Walk", "Explain")):
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


def show_time_machine(run: RunFolder) -> None:
    """One case over the epochs, where the run kept them."""
    if not (run.path / SNAPSHOTS).is_dir():
        return
    with st.expander("Time machine: one case over training", icon=":material/history:"):
        case = st.number_input("Test case", min_value=0, step=1, key="run_case")
        try:
            history = read_case_history(run, int(case))
        except RecapError as error:
            quiet(markdown_text(str(error)))
            return
        last = int(history["epoch"].iloc[-1])
        epoch = st.slider("Epoch", 1, last, last, key="run_epoch") if last > 1 else last
        words = state.words()
        moment = history[history["epoch"] <= epoch].iloc[-1]
        with st.container(horizontal=True):
            st.metric("Rank", ordinal(moment[c.RANK]), width="content")
            for part in PARTS:
                on = part == "core" or moment[f"{part}_on"]
                shown = signed(moment[c.part_column(part)], 2) if on else "inactive"
                st.metric(words.term(part), shown, width="content")
        lines = {c.part_column(part): words.term(part) for part in PARTS}
        drawn = history.rename(columns={"epoch": "Epoch"} | lines)
        st.line_chart(drawn, x="Epoch", y=list(lines.values()), y_label="Points")
