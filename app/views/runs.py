"""Runs: configure, estimate, launch, watch, stop, resume, open."""

from typing import Final

import streamlit as st

from analysis.link_hashes import compare_hashes, link_hashes
from analysis.training_progress import queue_table
from app import address
from app.cached import run_store
from app.components.chart_table import ticked_row
from app.components.error_boundary import error_boundary
from app.components.runs import words
from app.components.runs.form import show_form
from app.components.runs.live import show_actions, show_example, show_gpus, show_live
from app.components.text import say_once, section
from recap.errors import RecapError
from recap.runs.store.description import RunRow, describe_run
from recap.runs.store.estimates import seconds_left
from recap.runs.store.files import ACTIVE
from recap.runs.store.run_store import RunStore

_NARROW: Final = 245  # three columns from a width of 800 pixels on
STATE_COLOURS: Final = {
    "running": "blue",
    "stopping": "blue",
    "queued": "gray",
    "finished": "gray",
    "stopped": "gray",
    "failed": "red",
    "lost": "red",
}


@error_boundary
def view() -> None:
    store = run_store.open_store()
    rows = run_store.list_rows(store)
    chosen = _chosen(store, rows)
    if st.session_state.get("source"):  # a reload keeps the dataset that a new run begins on
        address.write(source=st.session_state["source"])
    st.title(_title(store, chosen), anchor=False)
    say_once("run_refusal")
    grid = st.grid(3, min_column_width=_NARROW)
    if not store.read_only:
        with grid.cell():
            with st.container(border=True):
                error_boundary(show_form)(store)
            if chosen is not None:
                show_gpus(store, rows)
    with grid.cell(column_span=3 if store.read_only else 2):
        if chosen is None:
            st.markdown(words.FIRST_RUN)
            show_example()
            return
        show_live(store, chosen)
        show_queue(store, rows, chosen)
        if store.read_only:
            show_gpus(store, rows)


def show_queue(store: RunStore, rows: list[RunRow], chosen: str) -> None:
    section("Queue")
    table, colours = queue_table(rows), list(STATE_COLOURS.values())
    event = st.dataframe(
        table,
        hide_index=True,
        key="run_queue",
        column_order=["run", "state", "progress", "what", "hr20", "time", "note"],  # progress shows at 800 pixels too
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "run": st.column_config.TextColumn("Run", width=44),
            "what": st.column_config.TextColumn("What"),
            "state": st.column_config.MultiselectColumn("State", options=list(STATE_COLOURS), color=colours, width=90),
            "progress": st.column_config.ProgressColumn("Progress", format="percent", color="blue", width=110),
            "hr20": st.column_config.TextColumn("Validation HR@20", width=130, alignment="right"),
            "time": st.column_config.TextColumn("Time", width=70, alignment="right"),
            "note": st.column_config.TextColumn("Note"),
        },
    )
    row = ticked_row(event, len(table))
    if row is not None and (picked := str(table["run"].iloc[row])) not in (chosen, st.session_state.get("seen")):
        st.session_state["run"] = st.session_state["seen"] = picked
        st.rerun()
    if not store.read_only:
        show_actions(store, store.get(chosen), next(row for row in rows if row["id"] == chosen))


def _chosen(store: RunStore, rows: list[RunRow]) -> str | None:
    """The run of a link, or the last chosen, or the latest active, or the latest one.

    The address has its number and its dataset's hash, since numbers differ between folders. A link to a missing run or
    to other data gives a message.
    """
    numbers = [row["id"] for row in rows]
    link = address.linked("run", "dataset") or {}
    linked, made_with = link.get("run"), link.get("dataset")
    if linked is not None:
        st.session_state["run"] = linked
    asked = st.session_state.get("run")
    active = [row["id"] for row in rows if row["state"] in ACTIVE and row["state"] != "queued"]
    latest: list[str | None] = [None, *numbers, *active]
    st.session_state["run"] = chosen = asked if asked in numbers else latest[-1]
    try:
        dataset = store.get(chosen).read_spec().dataset_hash if chosen is not None else ""
    except RecapError:  # a damaged run is described by the page
        dataset = ""
    address.write(run=chosen, dataset=link_hashes(dataset, None).get("dataset"))
    if linked is not None and linked != chosen:
        address.refuse(words.UNKNOWN_RUN)
    elif linked is not None and made_with and compare_hashes({"dataset": made_with}, dataset, None).differing:
        address.refuse(words.OF_OTHER_DATA.format(run=chosen))
    return chosen


def _title(store: RunStore, chosen: str | None) -> str:
    if chosen is None:
        return words.NO_RUN
    run = store.get(chosen)
    described = describe_run(run)
    return words.run_headline(described, run.read_summary(), seconds_left(described))


view()
