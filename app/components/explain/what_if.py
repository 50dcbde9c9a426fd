"""What if: leave out parts and visits or change the time; all places are scored again."""

from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Any, Final

import pandas as pd
import streamlit as st

from analysis.explain import sentences
from analysis.explain.case_words import describe_changes, describe_flip
from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import (
    CutPath,
    Edit,
    RemoveVisit,
    SetArrival,
    SetHour,
    SwitchOff,
    parse_edits,
    with_edits,
    write_edits,
)
from analysis.explain.explanation import CaseExplanation
from analysis.explain.sentences import part_pill
from analysis.explain.types import Visit
from analysis.formatting import ordinal, signed_points
from analysis.records.ablations import slug
from app import address, state
from app.cached import explanations
from app.cached.explanations import open_ranker
from app.cached.workspace import open_workspace
from app.components.text import act_button, pick, quiet, say_once, section
from app.sources import Source
from recap.errors import RecapError
from recap.history.moments import Moment
from recap.machine.printable import markdown_text, shortened

Edits = tuple[Edit, ...]
_KEY: Final = "edits_made"
_EDITED: Final = (*state.MOMENT, "edits")
"""Fields of the address that the controls show."""
_PILLS: Final[dict[str, Any]] = {"selection_mode": "multi", "label_visibility": "visible"}
_VISITS: Final = 3
_LINE_PX: Final = 240
_LONGEST_NAME: Final = 20
_MORE: Final = -1
TAB: Final = "explain-tab"
TAB_CHOSEN: Final = "tab_chosen"
"""Whether the visitor has opened a tab; until then the one with something to show is open."""
PAST_VISITS: Final = "Past visits"


def current_edits(source: Source, moment: Moment) -> Edits:
    """The edits of this case or moment; a link's edits that do not fit are left out with a message."""
    link = address.linked("edits")
    owner = (source.token, moment)
    kept, edits = st.session_state.get(_KEY, (owner, ()))
    if kept != owner or link is not None:
        edits = ()
    if link is not None and link["edits"]:
        try:
            edits = parse_edits(link["edits"])
            build_edited_case(open_ranker(source, moment), moment, edits)
        except RecapError as error:
            edits = ()
            address.refuse(sentences.left_out_edits(str(error)))
    st.session_state[_KEY] = (owner, edits)
    address.write(edits=write_edits(edits) or None)
    return edits


def change_edits(source: Source, moment: Moment, transform: Callable[[Edits], Edits]) -> None:
    """Transform the edits, unless the result does not fit the case."""
    _, edits = st.session_state.get(_KEY, (None, ()))
    changed = transform(edits)
    try:
        build_edited_case(open_ranker(source, moment), moment, changed)
    except RecapError as error:
        st.session_state["edit_refused"] = str(error)
        return
    st.session_state[_KEY] = ((source.token, moment), changed)


def remove_visits(source: Source, moment: Moment, listed: set[int], removed: set[int]) -> None:
    """Remove these of the listed visits; other visits stay as they are."""

    def change(edits: Edits) -> Edits:
        gone = {edit.visit for edit in edits if isinstance(edit, RemoveVisit)} - listed | removed
        return with_edits(edits, RemoveVisit, tuple(RemoveVisit(visit=visit) for visit in sorted(gone)))

    change_edits(source, moment, change)


def cut_paths(source: Source, moment: Moment, destination: int, middles: set[int], part: str, *, off: bool) -> None:
    """Choose the two-hop paths to a place to cut, and whether to leave out the part that reads them."""

    def change(edits: Edits) -> Edits:
        cuts = [edit for edit in edits if isinstance(edit, CutPath) and edit.destination != destination]
        cuts += [CutPath(middle=middle, destination=destination) for middle in sorted(middles)]
        parts = [edit for edit in edits if isinstance(edit, SwitchOff) and slug(edit.name) != slug(part)]
        parts += [SwitchOff(name=part)] if off else []
        return with_edits(with_edits(edits, CutPath, tuple(cuts)), SwitchOff, tuple(parts))

    change_edits(source, moment, change)


def show_what_if(source: Source, before: CaseExplanation, shown: CaseExplanation, edits: Edits) -> None:
    section("What if")
    _result(before, shown)
    _remove_parts(source, before, edits)
    if "times" in shown.supported_edits:
        clock(source, shown.moment, before.local_time, shown.local_time)
        if shown.time_given:
            clock(source, shown.moment, before.time_given, shown.time_given, SetArrival)
    if "visits" in shown.supported_edits:
        _visit_pills(source, before, edits)
    undo(source, shown.moment, edits, describe_changes(edits, open_workspace(source).at(shown.moment).labels, before))
    say_once("edit_refused")
    _smallest_edit(source, shown)


def _result(before: CaseExplanation, shown: CaseExplanation) -> None:
    rank, lead = ordinal(shown.target_rank), signed_points(shown.lead)
    if shown.edits:
        rank = f"{ordinal(before.target_rank)} → {rank}"
        was = shown.what_if.lead_before if shown.what_if is not None else before.lead
        lead = f"{signed_points(was)} → {lead}"
    with st.container(horizontal=True, gap="medium"):
        st.metric("Rank", rank, width="content")
        st.metric(sentences.lead_over(shortened(shown.b.name, _LONGEST_NAME)), lead, width="content")


def _remove_parts(source: Source, before: CaseExplanation, edits: Edits) -> None:
    parts = [entry.name for entry in before.without]
    off = {slug(edit.name) for edit in edits if isinstance(edit, SwitchOff)}

    def switch() -> None:
        wanted = tuple(SwitchOff(name=name) for name in st.session_state["edit_parts"])
        change_edits(source, before.moment, lambda now: with_edits(now, SwitchOff, wanted))

    shown = [name for name in parts if slug(name) in off]
    pick(st.pills, "Remove", parts, switch, *_EDITED, key="edit_parts", value=shown, format_func=part_pill, **_PILLS)


def clock(source: Source, moment: Moment, before: str, shown: str, kind: type[SetHour | SetArrival] = SetHour) -> None:
    """A slider of the local time of leaving, or of arriving (ISO 8601, without and with edits); the original time
    removes the edit.
    """
    key, verb = ("edit_time", "Leave") if kind is SetHour else ("edit_arrival", "Arrive")
    was, now = (datetime.fromisoformat(text).time().replace(second=0) for text in (before, shown))

    def move() -> None:
        chosen = st.session_state[key]
        wanted = () if chosen == was else (kind(hour=chosen.hour, minute=chosen.minute),)
        change_edits(source, moment, lambda edits: with_edits(edits, kind, wanted))

    label = f"{verb} at {was:%H:%M}" if now == was else f"{verb} at {now:%H:%M}, not {was:%H:%M}"
    look: dict[str, Any] = {"max_value": time(23, 59), "step": timedelta(minutes=30), "format": "HH:mm"}
    look |= {"value": now, "label_visibility": "visible"}
    pick(st.slider, label, time(0, 0), move, *_EDITED, key=key, **look)


def _visit_pills(source: Source, before: CaseExplanation, edits: Edits) -> None:
    """The visits that change the score most; a click removes one, the last pill opens the full list."""
    every = [(place.name, visit) for place in before.visits for visit in place.visits]
    removed = {edit.visit for edit in edits if isinstance(edit, RemoveVisit)}
    telling = sorted(every, key=lambda pair: (pair[1].visit not in removed, -abs(pair[1].points or 0.0)))
    first = sorted(telling[: max(_VISITS, len(removed))], key=lambda pair: -pair[1].visit)
    labels = {visit.visit: _visit_label(name, visit) for name, visit in first}
    if not labels:
        return
    if len(every) > len(labels):
        labels[_MORE] = f"{len(every) - len(labels):,} more…"

    def remove() -> None:
        chosen = set(st.session_state["edit_visits"])
        if _MORE in chosen:
            st.session_state[TAB], st.session_state[TAB_CHOSEN] = PAST_VISITS, True
            return
        remove_visits(source, before.moment, set(labels), chosen)

    look = {"key": "edit_visits", "value": [visit for visit in labels if visit in removed], **_PILLS}
    pick(st.pills, "Remove a visit", list(labels), remove, *_EDITED, format_func=labels.__getitem__, **look)


def _visit_label(name: str, visit: Visit) -> str:
    moment = datetime.fromisoformat(visit.local_time)
    return markdown_text(f"{shortened(name, _LONGEST_NAME)}, {moment.day} {moment:%b}")


def undo(source: Source, moment: Moment, edits: Edits, line: str) -> None:
    """Buttons to undo, next to the changes in words."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Undo", disabled=not edits, on_click=change_edits, args=(source, moment, lambda now: now[:-1]))
        if len(edits) > 1:
            act_button(f"Undo all {len(edits)}", "reset", change_edits, source, moment, lambda now: ())
        with st.container(width=_LINE_PX if len(edits) < 2 else "stretch"):
            quiet(markdown_text(line))


def visits_table(
    source: Source, moment: Moment, edits: Edits, numbers: list[int], rows: list[dict[str, str]], key: str, **look: Any
) -> None:
    """A row for each visit of these numbers; those that edits remove are ticked, and a tick removes one."""
    removed = {edit.visit for edit in edits if isinstance(edit, RemoveVisit)}
    st.session_state[key] = ticked_rows([row for row, number in enumerate(numbers) if number in removed])

    def remove() -> None:
        chosen = st.session_state[key]["selection"]["rows"]
        remove_visits(source, moment, set(numbers), {numbers[row] for row in chosen if row < len(numbers)})

    st.dataframe(pd.DataFrame(rows), hide_index=True, key=key, on_select=remove, selection_mode="multi-row", **look)


def ticked_rows(rows: list[int]) -> dict[str, dict[str, list[int]]]:
    """The selection of a table with ticked rows."""
    return {"selection": {"rows": rows, "columns": [], "cells": []}}


def _smallest_edit(source: Source, shown: CaseExplanation) -> None:
    key = (source.token, shown.moment, shown.target, shown.runner_up, shown.edits)
    if st.session_state.get("searched") != key:
        if st.button(sentences.SMALLEST_EDIT, icon=":material/search:", key="search", type="tertiary"):
            st.session_state["searched"] = key
            st.rerun()
        return
    with st.spinner("Trying changes"):
        flip, tried = explanations.smallest_edit(source, shown.moment, shown.target, shown.runner_up, shown.edits)
    quiet(markdown_text(describe_flip(flip, tried, open_workspace(source).at(shown.moment).labels, shown)))
    if flip is not None:
        add = flip.edit
        act_button("Apply it", "apply_smallest", change_edits, source, shown.moment, lambda now: (*now, add))
