"""Explain for a published model: ranks, edits of the check-ins, and visits removed one at a time."""

from collections.abc import Callable
from functools import partial
from typing import Final

import pandas as pd
import streamlit as st

from analysis.explain.edits import Edit, EditSequence, RemoveVisit, SetHour, SetSource, SetWeekday, write_edits
from analysis.explain.ranks_only import RanksOnly
from analysis.formatting import ordinal
from app import state
from app.cached import explanations
from app.cached.workspace import open_workspace
from app.components.explain.candidate_pair import find_place
from app.components.explain.case_input import case_input
from app.components.explain.what_if import EDITED, WEEKDAY_NAMES, add_edit, current_edits, show_refused, way_back
from app.components.text import quiet, section
from app.components.toolbar import downloads, source_picker, truth_toggle
from app.sources import Source
from recap.history import SECONDS_PER_DAY, local_weekday
from recap.printable import markdown_text

_SIDE: Final = 330


def show_ranks_only(source: Source) -> None:
    """The whole page."""
    opened = open_workspace(source)
    case = state.current_case(len(opened.cases))
    sequence = current_edits(source, case)
    with st.container(horizontal=True, vertical_alignment="center"):
        source_picker(source, width=175, lists=True)
        case_input(len(opened.cases))
        hide_truth = not truth_toggle()
        st.space("stretch")
        exports = st.container(horizontal=True, width="content")
    edits = write_edits(sequence.done)
    before = explanations.explain_ranks(source, case, hide_truth=hide_truth)
    shown = before
    if edits:
        shown = explanations.explain_ranks(source, case, about=before.about.poi, edits=edits, hide_truth=hide_truth)
    tables = {"Best places": _best(shown), "Without a visit": _removed(shown)}
    with exports:
        downloads(lambda: tables, source=source, key="explain")
    with st.container():
        _answer(shown)
    halves = st.grid(2, min_column_width=_SIDE)
    with halves.cell():
        section("Best places")
        score = st.column_config.NumberColumn(format="%.3f")
        st.dataframe(tables["Best places"], hide_index=True, key="ranks-best", column_config={"Score": score})
    with halves.cell(), st.container(border=True):
        _tray(source, case, before, shown, sequence)
    section("Without one visit", help="Each visit is removed alone, and all places are ranked again.")
    if not shown.removed:
        quiet("There is no visit to remove.")
        return
    st.dataframe(tables["Without a visit"], hide_index=True, key="ranks-left-out")
    quiet(f"The {len(shown.removed)} latest visits before the current one.")


def _answer(shown: RanksOnly) -> None:
    about, best = shown.about, shown.best[0]
    model = markdown_text(shown.model)
    name = markdown_text(about.name)
    st.title(f"{model} ranks {name} {ordinal(about.rank)} of {shown.num_places:,}", anchor=False)
    first = "" if best.poi == about.poi else f" First is {markdown_text(best.name)}."
    truth = "" if shown.truth is None else f" The user went to {markdown_text(shown.truth)}."
    st.markdown(f"From {markdown_text(shown.source)}.{first}{truth}")
    quiet(f"{model} gives one score for each place, no contributions.")


def _best(shown: RanksOnly) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Rank": [ordinal(place.rank) for place in shown.best],
            "Place": [place.name for place in shown.best],
            "Score": [place.score for place in shown.best],
        }
    )


def _removed(shown: RanksOnly) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Visit": [entry.visit for entry in shown.removed],
            "Place": [entry.name for entry in shown.removed],
            "When": [entry.local_time.replace("T", " ")[:16] for entry in shown.removed],
            "Rank without it": [ordinal(entry.rank_without) for entry in shown.removed],
        }
    )


def _tray(source: Source, case: int, before: RanksOnly, shown: RanksOnly, sequence: EditSequence) -> None:
    add = partial(add_edit, source, case)
    section("What if")
    if shown.what_if is not None:
        change = shown.what_if.target
        st.markdown(
            f"{markdown_text(change.name)}: **{ordinal(change.rank_before)} → {ordinal(change.rank)}**, "
            f"all {shown.num_places:,} places ranked again"
        )
    with st.container(horizontal=True):
        way_back(source, case, sequence)
    show_refused()
    if sequence.done:
        quiet(f"Edits: {markdown_text(write_edits(sequence.done))}")
    local = explanations.local_now(source, case, write_edits(sequence.done))
    st.session_state["ranks_hour"] = local % SECONDS_PER_DAY // 3600
    st.slider(
        "Local hour",
        0,
        23,
        key="ranks_hour",
        on_change=state.unless_late(lambda: add(SetHour(hour=st.session_state["ranks_hour"])), *EDITED),
    )
    st.session_state["ranks_weekday"] = local_weekday(local)
    st.segmented_control(
        "Weekday",
        range(7),
        key="ranks_weekday",
        format_func=lambda day: WEEKDAY_NAMES[day][:2],
        on_change=state.unless_late(lambda: _weekday(add), *EDITED),
    )
    visits = {entry.visit: f"{entry.name}, {entry.local_time.replace('T', ' ')[:16]}" for entry in before.removed}
    gone = {edit.visit for edit in sequence.done if isinstance(edit, RemoveVisit)}
    st.session_state["ranks_visit"] = None
    st.selectbox(
        "Remove a visit",
        [visit for visit in visits if visit not in gone],
        index=None,
        key="ranks_visit",
        format_func=lambda visit: visits[visit],
        on_change=state.unless_late(lambda: add(RemoveVisit(visit=int(st.session_state["ranks_visit"]))), *EDITED),
    )
    st.text_input(
        "Start elsewhere",
        key="ranks_source",
        placeholder="A place's name",
        on_change=lambda: _start_at(source, case, before, add),
    )


def _start_at(source: Source, case: int, before: RanksOnly, add: Callable[[Edit], None]) -> None:
    typed = str(st.session_state["ranks_source"])
    poi = find_place(source, case, typed, taken=-1)
    if poi is not None:
        add(SetSource(poi=poi))
    elif typed.strip():
        st.session_state["edit_refused"] = f"no place is called {typed.strip()[:40]!r}"
    st.session_state["ranks_source"] = ""


def _weekday(add: Callable[[Edit], None]) -> None:
    chosen = st.session_state["ranks_weekday"]
    if chosen is not None:
        add(SetWeekday(weekday=int(chosen)))
