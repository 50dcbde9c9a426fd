"""Edits beyond the tray's own: a kind is chosen, places and visits are picked by name, on the map or in a list."""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Final, Literal, get_args

import streamlit as st

from analysis.explain.edits import AddVisit, Edit, MoveVisit, SetEdge, SetHour, SetSource
from analysis.explain.explanation import CaseExplanation
from analysis.formatting import day
from app.cached.workspace import open_workspace
from app.components.explain.candidate_pair import find_place
from app.components.text import quiet
from app.sources import Source
from recap.printable import markdown_text

Kind = Literal["add", "move", "source", "edge", "time"]
_KINDS: Final[dict[Kind, str]] = {
    "add": "Add a visit",
    "move": "Move a visit",
    "source": "Start elsewhere",
    "edge": "Change a transition",
    "time": "Exact time",
}
_NEEDS: Final[dict[Kind, str]] = {
    "add": "visits",
    "move": "visits",
    "source": "source",
    "edge": "transitions",
    "time": "times",
}
_PICKED: Final = "picked_place"
_VISITS: Final = 30


def pick_place(where: str, poi: int) -> bool:
    """Take a place that was clicked on the map or in a list as the one that edits are about.

    Args:
        where: the chart that was clicked; its selection stays, so only a new one counts.

    Returns:
        Whether it is new: then what was drawn before does not show it yet.
    """
    seen = f"picked-{where}"
    if st.session_state.get(seen) == poi:
        return False
    st.session_state[seen] = st.session_state[_PICKED] = poi
    return True


def more_edits(source: Source, shown: CaseExplanation, add: Callable[[Edit], None]) -> None:
    """The popover's content."""
    kinds = [kind for kind in get_args(Kind) if _NEEDS[kind] in shown.supported_edits]
    kind = st.segmented_control(
        "Edit", kinds, default=kinds[0], required=True, format_func=_KINDS.__getitem__, key="edit_kind"
    )
    here = datetime.fromisoformat(shown.local_time)
    yesterday, at = (here - timedelta(days=1)).date(), time(here.hour, here.minute)
    edit: Edit | None = None
    if kind == "add":
        poi = _place(source, shown, "Place", "edit_place", st.session_state.get(_PICKED, shown.target))
        moment = _moment(yesterday, at)
        edit = None if poi is None else AddVisit(poi=poi, local_time=moment)
    elif kind == "move":
        visits = {
            visit.visit: f"{place.name}, {_told(visit.local_time)}"
            for place in shown.visits
            for visit in place.visits[-_VISITS:]
        }
        if not visits:
            quiet("Neither place was visited before, so there is no visit to move.")
            return
        visit = st.selectbox("Visit", list(visits), key="edit_moved", format_func=visits.__getitem__)
        moment = _moment(yesterday, at)
        edit = MoveVisit(visit=visit, local_time=moment)
    elif kind == "source":
        poi = _place(source, shown, "Leave from", "edit_source", st.session_state.get(_PICKED, shown.runner_up))
        edit = None if poi is None else SetSource(poi=poi)
    elif kind == "edge":
        start = _place(source, shown, "From", "edit_from", shown.source)
        end = _place(source, shown, "To", "edit_to", st.session_state.get(_PICKED, shown.target))
        count = st.number_input("Times in training", 0, 100_000, shown.transition_count, key="edit_count")
        edit = None if start is None or end is None else SetEdge(source=start, destination=end, count=int(count))
    else:
        chosen = st.time_input("Local time", at, key="edit_time", step=300)
        edit = None if chosen is None else SetHour(hour=chosen.hour, minute=chosen.minute)
    # Not as a callback: that would apply the edit of the form as it was before a field changed together with the click.
    if st.button("Apply", key="edit_apply", disabled=edit is None) and edit is not None:
        add(edit)
        st.rerun()
    quiet("A click on the map, or on a row of the paths, picks the place here.")


def _moment(today: date, here: time) -> datetime:
    """A local day and time; one that is too late is refused with a sentence when it is applied."""
    with st.container(horizontal=True):
        chosen = st.date_input("Day", today, key="edit_day", width=150)
        at = st.time_input("Time", here, key="edit_at", step=300, width=130)
    return datetime.combine(chosen if isinstance(chosen, date) else today, at or here)


def _place(source: Source, shown: CaseExplanation, label: str, key: str, usual: int) -> int | None:
    """A place by name: the ones this page speaks of are listed, any other is typed."""
    labels = open_workspace(source).labels
    spoken_of = [shown.target, shown.runner_up, shown.source]
    spoken_of += [entry.poi for entry in shown.candidates] + [path.middle for path in shown.paths]
    options = list(dict.fromkeys([usual, *spoken_of]))
    chosen = st.selectbox(
        label,
        options,
        key=f"{key}-{usual}",
        format_func=lambda poi: labels[poi] if isinstance(poi, int) else str(poi),
        accept_new_options=True,
        help="One of the page's places, or type the name of any other and press Enter.",
    )
    if isinstance(chosen, int):
        return chosen
    found = None if chosen is None else find_place(source, shown.case, chosen, -1)
    if found is None:
        st.warning(f"No place here is called {markdown_text(str(chosen)[:80])}.")
        return None
    quiet(f"That is {markdown_text(labels[found])}.")
    return found


def _told(local_time: str) -> str:
    moment = datetime.fromisoformat(local_time)
    return f"{day(moment)} {moment:%H:%M}"
