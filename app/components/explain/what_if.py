"""The edit tray of Explain: a sequence of edits as data, undone and redone, in the address."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

import streamlit as st

from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import (
    CutPath,
    Edit,
    EditSequence,
    RemoveVisit,
    SetHour,
    SetWeekday,
    SwitchOff,
    parse_edits,
    write_edits,
)
from analysis.explain.explanation import CaseExplanation
from analysis.explain.sentences import part_label
from analysis.formatting import ordinal, signed_points
from analysis.records.ablations import slug
from app import state
from app.cached import explanations
from app.cached.explanations import open_ranker
from app.cached.workspace import open_workspace
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
    source: Source, case: int, before: CaseExplanation, shown: CaseExplanation, sequence: EditSequence
) -> None:
    """What the edits did, and controls for more."""
    add = partial(add_edit, source, case)
    section("What if")
    _result(source, case, before, shown, sequence)
    _remove_parts(source, case, before, sequence)
    if "times" in shown.supported_edits:
        _clock(before, shown, add)
    if "visits" in shown.supported_edits:
        _visit_pills(before, sequence, add)
    with st.popover("More edits", icon=":material/edit:", type="tertiary", key="more-edits"):
        more_edits(source, shown, add)
    _smallest_edit(source, shown, add)


def _remove_parts(source: Source, case: int, before: CaseExplanation, sequence: EditSequence) -> None:
    parts = [entry.name for entry in before.without]
    off = {slug(edit.name) for edit in sequence.done if isinstance(edit, SwitchOff)}
    st.session_state["edit_parts"] = [name for name in parts if slug(name) in off]

    def switch() -> None:
        wanted = tuple(SwitchOff(name=name) for name in st.session_state["edit_parts"])
        change_edits(source, case, lambda now: now.with_parts_off(wanted))

    st.pills(
        "Remove",
        parts,
        selection_mode="multi",
        key="edit_parts",
        format_func=part_label,
        on_change=state.unless_late(switch, *EDITED),
    )


def _clock(before: CaseExplanation, shown: CaseExplanation, add: Callable[[Edit], None]) -> None:
    was, now = (datetime.fromisoformat(each.local_time) for each in (before, shown))
    st.session_state["edit_hour"] = now.hour
    st.slider(
        f"Leave at (was {was:%H:%M})",
        0,
        23,
        key="edit_hour",
        format="%d:00",
        on_change=state.unless_late(lambda: add(SetHour(hour=st.session_state["edit_hour"])), *EDITED),
    )
    st.session_state["edit_weekday"] = now.weekday()
    st.segmented_control(
        "Weekday",
        range(7),
        key="edit_weekday",
        format_func=lambda day: WEEKDAY_NAMES[day][:2],
        on_change=state.unless_late(lambda: _set_weekday(add), *EDITED),
    )


def _set_weekday(add: Callable[[Edit], None]) -> None:
    chosen = st.session_state["edit_weekday"]
    if chosen is not None:
        add(SetWeekday(weekday=int(chosen)))


def _visit_pills(before: CaseExplanation, sequence: EditSequence, add: Callable[[Edit], None]) -> None:
    """The last visits to both places; a click removes one."""
    visits = {
        visit.visit: markdown_text(f"{place.name[:22]}, {_day_and_time(visit.local_time)}")
        for place in before.visits
        for visit in place.visits[-3:]
    }
    removed = {edit.visit for edit in sequence.done if isinstance(edit, RemoveVisit)}
    open_visits = [visit for visit in visits if visit not in removed]
    if not open_visits:
        return
    st.session_state["edit_visit"] = None
    st.pills(
        "Remove a visit",
        open_visits,
        key="edit_visit",
        format_func=visits.__getitem__,
        on_change=state.unless_late(lambda: add(RemoveVisit(visit=int(st.session_state["edit_visit"]))), *EDITED),
    )


def _smallest_edit(source: Source, shown: CaseExplanation, add: Callable[[Edit], None]) -> None:
    """The smallest edit that turns the two places round; searched when asked."""
    key = (source.token, shown.case, shown.target, shown.runner_up, shown.edits)
    if st.button("Smallest edit that turns them round", icon=":material/search:", key="search", type="tertiary"):
        st.session_state["searched"] = key
    if st.session_state.get("searched") != key:
        return
    with st.spinner("Trying edits"):
        flip, tried = explanations.smallest_edit(source, shown.case, shown.target, shown.runner_up, shown.edits)
    if flip is None:
        quiet(f"None of {tried} single edits does.")
        return
    told = describe_edit(flip.edit, open_workspace(source).labels, shown)
    quiet(f"Smallest of {tried} edits: {markdown_text(told)}. Then the lead is {signed_points(flip.lead)}.")
    st.button("Apply it", key="apply_smallest", on_click=add, args=(flip.edit,))


def _result(source: Source, case: int, before: CaseExplanation, shown: CaseExplanation, sequence: EditSequence) -> None:
    """Rank and lead before and after, with the way back."""
    with st.container(horizontal=True):
        rank = ordinal(shown.target_rank)
        was = "" if not sequence.done else f"{ordinal(before.target_rank)} → "
        st.metric(f"Rank of {markdown_text(shown.target_name)}", was + rank)
        st.metric(f"Lead over {markdown_text(shown.b.name)}", signed_points(shown.lead))
    with st.container(horizontal=True, vertical_alignment="center"):
        way_back(source, case, sequence)
        number = f"{len(sequence.done)} change" + ("" if len(sequence.done) == 1 else "s")
        quiet(f"{number} · all {shown.num_places:,} places re-ranked", width="content")
    if sequence.done:
        labels = open_workspace(source).labels
        quiet(markdown_text("; ".join(describe_edit(edit, labels, before) for edit in sequence.done)).capitalize())
    show_refused()


def _day_and_time(local_time: str) -> str:
    moment = datetime.fromisoformat(local_time)
    return f"{moment.day} {moment:%b %H:%M}"


def cut_path(source: Source, case: int, middle: int, destination: int) -> None:
    """Remove a two-hop path."""
    add_edit(source, case, CutPath(middle=middle, destination=destination))


def remove_visit(source: Source, case: int, visit: int) -> None:
    """Remove a visit."""
    add_edit(source, case, RemoveVisit(visit=visit))
