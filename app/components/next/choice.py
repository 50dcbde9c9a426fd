"""What Next predicts from, in the session and in the address: a user's number, a row, and stops; and their controls."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.formatting import day
from analysis.trajectories.case_names import around, find_place, places_by_visits
from analysis.workspace import Workspace
from app import address, state
from app.components.next import words
from app.components.text import pick, pick_number
from app.components.walk.case_choice import MOST_USERS
from recap import columns as c
from recap.errors import CaseError, ConfigError
from recap.history.moments import MOST_ADDED, Moment
from recap.history.one_user import NEW_GAP_MINUTES, median_gap
from recap.machine.printable import markdown_text, shortened

ONE, EVERYONE, TRY = "one", "everyone", "try"
PARTS: Final = {ONE: "One user", EVERYONE: "Everyone", TRY: "Try it"}
_KEPT: Final = "next_itineraries"
"""The dataset's hash, and the itinerary by part."""
_MOST_MOMENTS: Final = 200
"""Check-ins in the list, near the chosen one."""
_POPULAR: Final = 10
_LONGEST_NAME: Final = 26
_LONGEST_LISTED: Final = 20


def current_itinerary(opened: Workspace, part: str) -> Moment:
    """The chosen or linked itinerary; of a bad link the user, with a message. For everyone, an empty one."""
    if st.session_state.get(_KEPT, ("", {}))[0] != opened.dataset.hash:
        st.session_state[_KEPT] = (opened.dataset.hash, {})
    if part == EVERYONE:
        return Moment()
    itinerary = st.session_state[_KEPT][1].get(part)
    asked = address.linked(*state.ITINERARY)
    if asked is not None:
        itinerary = _linked(opened, asked if part == ONE else {"stops": asked["stops"]})
    if itinerary is None or itinerary.is_new_user != (part == TRY):
        itinerary = Moment() if part == TRY else _at_last(opened, _usual_user(opened))
    show(itinerary)
    return itinerary


def show(itinerary: Moment) -> None:
    """Predict from this."""
    st.session_state[_KEPT][1][TRY if itinerary.is_new_user else ONE] = itinerary


def _at_last(opened: Workspace, user: int) -> Moment:
    return Moment.read({"user": str(user)}, opened.dataset, opened.checkins)


def _linked(opened: Workspace, asked: Mapping[str, str | None]) -> Moment | None:
    for fields in (asked, {"user": asked.get("user")}):
        try:
            return Moment.read(fields, opened.dataset, opened.checkins)
        except (CaseError, ConfigError):
            if fields is asked:
                address.refuse(words.UNREADABLE)
    return None


def _usual_user(opened: Workspace) -> int:
    """The user of the case that other views show, else who checked in last."""
    case = st.session_state.get("case")
    if case is not None and case < len(opened.cases):
        return int(opened.cases[c.USER].iloc[case])
    return int(opened.checkins.user_T[opened.checkins.seconds_T.argmax()])


def pick_user(opened: Workspace, itinerary: Moment) -> None:
    """A list of users."""
    users = around(range(opened.dataset.num_users), itinerary.user, MOST_USERS)
    names = {user: opened.user_name(user) for user in users}
    look: dict[str, Any] = {"key": "next-user", "value": itinerary.user, "width": 130}
    pick_number("User", names, lambda user: show(_at_last(opened, user)), *state.ITINERARY, **look)


def pick_moment(opened: Workspace, itinerary: Moment) -> None:
    """A list of the user's check-ins, the latest first."""
    first, stop = np.searchsorted(opened.checkins.user_T.numpy(), [itinerary.user, itinerary.user + 1]).tolist()
    rows = around(range(first, stop), itinerary.row - first, _MOST_MOMENTS)[::-1]
    poi_N, time_N = opened.checkins.poi_T[rows].tolist(), opened.dataset.local_time.iloc[rows]
    names = {  # with a year, because a user's check-ins may span several
        row: f"{day(when)} {when:%Y, %H:%M} · {shortened(opened.labels[poi], _LONGEST_LISTED)}"
        for row, poi, when in zip(rows, poi_N, time_N, strict=True)
    }
    look: dict[str, Any] = {"key": "next-row", "value": itinerary.row, "width": 310, "help": words.AS_OF_HELP}
    pick_number("As of", names, lambda row: show(Moment(itinerary.user, row)), *state.ITINERARY, **look)


def show_stops(opened: Workspace, itinerary: Moment, stops: pd.DataFrame) -> None:
    """Stops as chips, whose click gives one another time or removes it; a search; a button that undoes all changes.

    Args:
        stops: see `read_stops`.
    """
    # A user's only check-in must stay.
    fixed = not itinerary.is_new_user and len(itinerary.numbers(opened.checkins)) == 1
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for stop in stops.to_dict("records"):
            _chip(itinerary, stop["name"], stop["local_time"], stop["change"], fixed=fixed)
        _search(opened, itinerary)
        if itinerary.is_changed:
            again = partial(show, Moment(itinerary.user, itinerary.row))
            st.button("Start again", icon=":material/undo:", type="tertiary", key="next-reset", on_click=again)


def add_stop(opened: Workspace, itinerary: Moment, poi: int) -> None:
    """Go to a place: the next stop, after the usual gap or at the time asked for; a new user's first is at noon."""
    if len(itinerary.added) >= MOST_ADDED:
        st.toast(words.MOST_STOPS)
        return
    gap = 0 if itinerary.is_empty else median_gap(opened.checkins, itinerary) or NEW_GAP_MINUTES
    if itinerary.at is not None:
        gap = (itinerary.at - int(opened.any_ranker.known_at(itinerary).local_seconds_H[-1])) // 60
    show(replace(itinerary.plus(poi, gap), at=None))


def _chip(itinerary: Moment, name: str, when: pd.Timestamp, change: int, *, fixed: bool) -> None:
    key = f"stop-{'added' if change < 0 else 'known'}-{abs(change)}"

    def move() -> None:
        chosen = st.session_state[f"{key}-time"]
        if chosen is not None:
            show(itinerary.later(change, 60 * (chosen.hour - when.hour) + chosen.minute - when.minute))

    with st.popover(f"{markdown_text(shortened(name, _LONGEST_NAME))} {when:%H:%M}", key=key):
        look: dict[str, Any] = {"value": when.time().replace(second=0, microsecond=0), "label_visibility": "visible"}
        pick(st.time_input, "Time", "now", move, *state.ITINERARY, key=f"{key}-time", step=300, **look)
        remove = partial(show, itinerary.without(change))
        st.button("Remove", icon=":material/close:", key=f"{key}-remove", disabled=fixed, on_click=remove)


def _search(opened: Workspace, itinerary: Moment) -> None:
    """Add a stop by name: the most visited places are listed, any other name can be typed."""

    def add() -> None:
        typed = st.session_state["add-stop"] or ""
        poi = find_place(opened, typed)
        if poi is not None:
            add_stop(opened, itinerary, poi)
        elif typed:
            st.toast(words.NO_SUCH_PLACE.format(typed=markdown_text(typed[:80])))

    popular = [opened.labels[poi] for poi in places_by_visits(opened)[:_POPULAR]]
    look: dict[str, Any] = {"index": None, "placeholder": words.ADD_HINT, "accept_new_options": True, "width": 230}
    pick(st.selectbox, "Add a stop", popular, add, *state.ITINERARY, key="add-stop", value=None, **look)
