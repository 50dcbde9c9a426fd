"""What Next predicts from, in the session and in the address: a user's number, a row, and the changed stops."""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from analysis.workspace import Workspace
from app import state
from app.components.next import words
from recap import columns as c
from recap.errors import CaseError, ConfigError
from recap.itinerary import Itinerary

ONE, EVERYONE, TRY = "one", "everyone", "try"
PARTS: Final = {ONE: "One user", EVERYONE: "Everyone", TRY: "Try it"}
FIELDS: Final = ("user", "row", "stops")
_KEPT: Final = "next_itineraries"
"""The dataset's hash, and the itinerary by part."""


def current_itinerary(opened: Workspace, part: str) -> Itinerary:
    """The chosen or linked itinerary; of a bad link the user, with a message. For everyone, an empty one."""
    if st.session_state.get(_KEPT, ("", {}))[0] != opened.dataset.hash:
        st.session_state[_KEPT] = (opened.dataset.hash, {})
    if part == EVERYONE:
        return Itinerary()
    itinerary = st.session_state[_KEPT][1].get(part)
    asked = state.linked(*FIELDS)
    if asked is not None:
        itinerary = _linked(opened, asked if part == ONE else {"stops": asked["stops"]})
    if itinerary is None or itinerary.is_new_user != (part == TRY):
        itinerary = Itinerary() if part == TRY else at_last(opened, _usual_user(opened))
    show(itinerary)
    return itinerary


def show(itinerary: Itinerary) -> None:
    """Predict from this; the address says so."""
    st.session_state[_KEPT][1][TRY if itinerary.is_new_user else ONE] = itinerary
    state.write_params(dict.fromkeys(FIELDS) | state.fields_of(itinerary))


def at_last(opened: Workspace, user: int) -> Itinerary:
    """A user at their last check-in."""
    return Itinerary.read({"user": str(user)}, opened.dataset, opened.checkins)


def _linked(opened: Workspace, asked: Mapping[str, str | None]) -> Itinerary | None:
    for fields in (asked, {"user": asked.get("user")}):
        try:
            return Itinerary.read(fields, opened.dataset, opened.checkins)
        except (CaseError, ConfigError):
            if fields is asked:
                st.warning(words.UNREADABLE)
    return None


def _usual_user(opened: Workspace) -> int:
    """The user of the case that other views show, else who checked in last."""
    case = st.session_state.get("case")
    if case is not None and case < len(opened.cases):
        return int(opened.cases[c.USER].iloc[case])
    return int(opened.checkins.user_T[opened.checkins.seconds_T.argmax()])
