"""What Next predicts from, in the session and in the address: a user's number, a row, and the changed stops."""

from typing import Final

import streamlit as st

from analysis.trajectories.itinerary import Itinerary, rows_of_user
from analysis.workspace import Workspace
from app import state
from app.components.next import words
from recap import columns as c
from recap.errors import ConfigError

ONE, EVERYONE, TRY = "one", "everyone", "try"
PARTS: Final = {ONE: "One user", EVERYONE: "Everyone", TRY: "Try it"}
FIELDS: Final = ("user", "row", "stops")
_KEPT: Final = "next_itineraries"
"""By part: the dataset's hash and the itinerary."""


def current_itinerary(opened: Workspace, part: str) -> Itinerary:
    """The chosen or linked itinerary; a link's bad one gives a message."""
    kept = st.session_state.setdefault(_KEPT, {})
    owner, itinerary = kept.get(part) or (None, None)
    if owner != opened.dataset.hash:
        itinerary = None
    asked = state.linked(*FIELDS)
    if asked is not None:
        itinerary = _linked(opened, part, asked)
    if itinerary is None:
        itinerary = Itinerary() if part == TRY else at_last(opened, _usual_user(opened))
    show(opened, part, itinerary)
    return itinerary


def show(opened: Workspace, part: str, itinerary: Itinerary) -> None:
    """Predict from this; the address says so."""
    st.session_state.setdefault(_KEPT, {})[part] = (opened.dataset.hash, itinerary)
    numbers = {"user": itinerary.user, "row": itinerary.row}
    texts = {name: None if number is None else str(number) for name, number in numbers.items()}
    state.write_params(texts | {"stops": itinerary.text or None})


def at_last(opened: Workspace, user: int) -> Itinerary:
    """A user at their last check-in."""
    return Itinerary(user, rows_of_user(opened, user)[-1])


def _linked(opened: Workspace, part: str, asked: dict[str, str | None]) -> Itinerary | None:
    itinerary = Itinerary()
    if part == ONE:
        user, row = _number(asked["user"]), _number(asked["row"])
        if asked["user"] is None and asked["row"] is None:
            return None
        if user is None or user >= opened.dataset.num_users:
            st.warning(words.NOT_THEIRS)
            return None
        rows = rows_of_user(opened, user)
        itinerary = Itinerary(user, row if row in rows else rows[-1])
        if asked["row"] is not None and row not in rows:
            st.warning(words.NOT_THEIRS)
            return itinerary
    try:
        changed = itinerary.with_changes(asked["stops"] or "", opened.dataset.num_pois)
        if changed.added or part == ONE:
            changed.history(opened)
    except ConfigError:
        st.warning(words.UNREADABLE)
        return itinerary
    return changed


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 12 else None


def _usual_user(opened: Workspace) -> int:
    """The user of the case that other views show, else who checked in last."""
    case = st.session_state.get("case")
    if case is not None and case < len(opened.cases):
        return int(opened.cases[c.USER].iloc[case])
    return int(opened.checkins.user_T[opened.checkins.seconds_T.argmax()])
