"""The edit tray of Explain: a sequence of edits as data, undone and redone, in the address."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

import streamlit as st

from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import (
    Edit,
    EditSequence,
    RemoveVisit,
    SetEdge,
    SetHour,
    SetWeekday,
    SwitchOff,
    parse_edit,
    parse_edits,
    write_edits,
)
from analysis.explain.explanation import FullExplanation
from analysis.figures.case_layout import part_is_active, shown_parts
from analysis.formatting import ordinal, signed_points
from analysis.glossary import COMPONENT_NAMES, TERMS
from app import state
from app.cached import datasets, explanations
from app.cached.explanations import open_ranker
from app.components.explain.edit_words import describe_edit
from app.components.explain.more_edits import more_edits
from app.components.text import quiet, section
from app.sources import Source
from recap.errors import RecapError
from recap.printable import markdown_text

_KEY = "edit_sequence"
EDITED = ("case", "edits")
"""The fields of the address that tell what the controls of the tray show."""
WEEKDAY_NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def current_edits(source: Source, case: int) -> EditSequence:
    """The edits of this case; those of a link that do not fit get a sentence and are left out."""
    asked = state.incoming("edits")
    owner = (source.token, case)
    if asked is not None:
        try:
            edits = parse_edits(asked)
            build_edited_case(open_ranker(source), case, edits)
            st.session_state[_KEY] = (owner, EditSequence(done=edits))
        except RecapError as error:
            st.session_state[_KEY] = (owner, EditSequence())
            st.warning("The link's edits were left out: " + markdown_text(str(error)))
    kept, sequence = st.session_state.get(_KEY, (owner, EditSequence()))
    if kept != owner:
        sequence = EditSequence()
    _keep(owner, sequence)
    return sequence


def change_edits(source: Source, case: int, transform: Callable[[EditSequence], EditSequence]) -> None:
    """Transform the sequence, unless the result does not fit the case."""
    _, sequence = st.session_state.get(_KEY, (None, EditSequence()))
    changed = transform(sequence)
    try:
        build_edited_case(open_ranker(source), case, changed.done)
    except RecapError as error:
        st.session_state["edit_refused"] = str(error)
        return
    _keep((source.token, case), changed)


def add_edit(source: Source, case: int, edit: Edit) -> None:
    """One more edit, unless the result does not fit the case."""
    change_edits(source, case, lambda now: now.add(edit))


def way_back(source: Source, case: int, sequence: EditSequence) -> None:
    """The buttons Undo, Redo and Reset, into the row at hand."""
    for label, possible, step in (
        ("Undo", sequence.done, EditSequence.undo),
        ("Redo", sequence.undone, EditSequence.redo),
        ("Reset", sequence.done, EditSequence.reset),
    ):
        st.button(label, disabled=not possible, on_click=change_edits, args=(source, case, step))


def show_refused() -> None:
    """Why the last edit was refused, once."""
    refused = st.session_state.pop("edit_refused", None)
    if refused:
        st.warning(markdown_text(refused))


def _keep(owner: tuple[str, int], sequence: EditSequence) -> None:
    st.session_state[_KEY] = (owner, sequence)
    state.write_param("edits", write_edits(sequence.done) or None)


def show_what_if(
    source: Source, case: int, before: FullExplanation, shown: FullExplanation, sequence: EditSequence
) -> None:
    """Controls, and what they did."""
    add = partial(add_edit, source, case)
    section("What if")
    _result(source, case, before, shown, sequence)
    now = shown.revisits[0]
    st.session_state["edit_hour"] = int(now.now_hour)
    st.slider(
        f"Local hour (was {int(before.revisits[0].now_hour):02d}:00)",
        0,
        23,
        key="edit_hour",
        on_change=state.unless_late(lambda: add(SetHour(hour=st.session_state["edit_hour"])), *EDITED),
    )
    st.session_state["edit_weekday"] = now.now_weekday
    st.segmented_control(
        "Weekday",
        range(7),
        key="edit_weekday",
        format_func=lambda day: WEEKDAY_NAMES[day][:2],
        on_change=state.unless_late(lambda: _set_weekday(add), *EDITED),
    )
    _visit_pills(before, shown, sequence, add)
    has_evidence = "evidence" in shown_parts(before)
    known = [name for name in COMPONENT_NAMES if name != "evidence" or has_evidence]
    on = [name for name in known if part_is_active(name, before)]
    st.session_state["edit_parts"] = [name for name in on if name not in shown.inactive_terms]
    st.pills(
        "Switched on",
        on,
        selection_mode="multi",
        key="edit_parts",
        format_func=lambda part: TERMS[part].word,
        on_change=state.unless_late(lambda: _switch(source, case, on), *EDITED),
    )
    with st.popover("More edits", icon=":material/edit:", type="tertiary", key="more-edits"):
        more_edits(source, shown, add)
    _smallest_edit(source, shown, add)


def _smallest_edit(source: Source, shown: FullExplanation, add: Callable[[Edit], None]) -> None:
    """The smallest edit that reverses the two places; searched when asked."""
    key = (source.token, shown.case, shown.target, shown.rival, shown.edits)
    if st.button("Smallest edit that reverses them", icon=":material/search:", key="search", type="tertiary"):
        st.session_state["searched"] = key
    if st.session_state.get("searched") != key:
        return
    with st.spinner("Trying edits"):
        flip, tried = explanations.smallest_edit(source, shown.case, shown.target, shown.rival, shown.edits)
    if flip is None:
        quiet(f"None of {tried} single edits reverses the order.")
        return
    told = describe_edit(flip.edit, datasets.open_dataset(source).labels, shown)
    quiet(f"Smallest of {tried} edits: {markdown_text(told)}. Then the lead is {signed_points(flip.margin)}.")
    st.button("Apply it", key="apply_smallest", on_click=add, args=(flip.edit,))


def _result(source: Source, case: int, before: FullExplanation, shown: FullExplanation, sequence: EditSequence) -> None:
    """What the edits did, with the way back, on top of the tray."""
    _effect(before, shown)
    with st.container(horizontal=True, vertical_alignment="center"):
        way_back(source, case, sequence)
        number = f"{len(sequence.done)} edit" + ("" if len(sequence.done) == 1 else "s")
        quiet(f"{number}, all {shown.num_places:,} places re-ranked", width="content")
    if sequence.done:
        labels = datasets.open_dataset(source).labels
        told = "; ".join(describe_edit(edit, labels, before) for edit in sequence.done)
        quiet(f"Edits: {markdown_text(told)}.")
    show_refused()


def _set_weekday(add: Callable[[Edit], None]) -> None:
    chosen = st.session_state["edit_weekday"]
    if chosen is not None:
        add(SetWeekday(weekday=int(chosen)))


def _visit_pills(
    before: FullExplanation, shown: FullExplanation, sequence: EditSequence, add: Callable[[Edit], None]
) -> None:
    """The last visits to both places; a click removes one."""
    visits = {
        visit.visit: markdown_text(f"{evidence.name[:22]}, {_day_and_time(visit.local_time)}")
        for evidence in before.revisits
        for visit in evidence.visits[-4:]
    }
    removed = {edit.visit for edit in sequence.done if isinstance(edit, RemoveVisit)}
    open_visits = [visit for visit in visits if visit not in removed]
    if not open_visits:
        quiet("No visit to either place is left to remove." if visits else "Neither place was visited before.")
        return
    st.session_state["edit_visit"] = None
    st.pills(
        "Remove a visit",
        open_visits,
        key="edit_visit",
        format_func=visits.__getitem__,
        on_change=state.unless_late(lambda: add(RemoveVisit(visit=int(st.session_state["edit_visit"]))), *EDITED),
    )


def _day_and_time(local_time: str) -> str:
    moment = datetime.fromisoformat(local_time)
    return f"{moment.day} {moment:%b %H:%M}"


def _switch(source: Source, case: int, on: list[str]) -> None:
    """Components off are rebuilt from the pills, in order, after the other edits."""
    wanted = set(st.session_state["edit_parts"])

    def step(sequence: EditSequence) -> EditSequence:
        rest = tuple(edit for edit in sequence.done if not isinstance(edit, SwitchOff))
        off = [name for name in on if name not in wanted]
        if "prior" in off:
            off = [name for name in off if name in ("graph_token", "prior")]
        switched = tuple(parse_edit(f"off:{name}") for name in off)
        return EditSequence(done=(*rest, *switched))

    change_edits(source, case, step)


def cut_edge(source: Source, case: int, start: int, end: int) -> None:
    """Cut a path by removing its first edge (recounted)."""
    add_edit(source, case, SetEdge(source=start, destination=end, count=0))


def _effect(before: FullExplanation, shown: FullExplanation) -> None:
    """Rank and lead, before and after."""
    lead = shown.contrast.margin if shown.rival == before.rival else None
    with st.container(horizontal=True):
        st.metric(
            f"Rank of {markdown_text(shown.target_name)}",
            f"{ordinal(before.target_rank)} → {ordinal(shown.target_rank)}",
        )
        if lead is not None:
            st.metric(
                f"Lead on {markdown_text(shown.contrast.b.name)}",
                signed_points(lead),
                delta=f"was {signed_points(before.contrast.margin)}",
                delta_color="off",
                delta_arrow="off",
            )
