"""The stops under Next's map as chips: a click gives one another time or removes it."""

from functools import partial

import pandas as pd
import streamlit as st

from analysis.workspace import Workspace
from app import state
from app.cached import next_places
from app.components.next import choice, words
from app.sources import Source
from recap.itinerary import MOST_ADDED, Itinerary, usual_gap


def show_stops(source: Source, opened: Workspace, itinerary: Itinerary, stops: pd.DataFrame) -> None:
    """Chips, a search, and a button that undoes all changes.

    Args:
        stops: see `read_stops`.
    """
    # A user's only check-in must stay.
    fixed = not itinerary.is_new_user and len(itinerary.numbers(opened.checkins)) == 1
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for stop in stops.to_dict("records"):
            _chip(itinerary, stop["name"], stop["local_time"], stop["change"], fixed=fixed)
        _search(source, opened, itinerary)
        if itinerary.is_changed:
            again = partial(choice.show, Itinerary(itinerary.user, itinerary.row))
            st.button("Start again", icon=":material/undo:", type="tertiary", key="next-reset", on_click=again)


def add_stop(opened: Workspace, itinerary: Itinerary, poi: int) -> None:
    """Go to a place: the next stop, after the usual gap; the first stop of a new user is at noon."""
    if len(itinerary.added) >= MOST_ADDED:
        st.toast(words.MOST_STOPS)
        return
    choice.show(itinerary.plus(poi, 0 if itinerary.is_empty else usual_gap(opened.checkins, itinerary)))


def _chip(itinerary: Itinerary, name: str, when: pd.Timestamp, change: int, *, fixed: bool) -> None:
    key = f"stop-{'added' if change < 0 else 'known'}-{abs(change)}"
    with st.popover(words.chip(name, when), key=key):
        st.session_state[f"{key}-time"] = when.time().replace(second=0, microsecond=0)

        def move() -> None:
            chosen = st.session_state[f"{key}-time"]
            if chosen is not None:
                minutes = 60 * (chosen.hour - when.hour) + chosen.minute - when.minute
                choice.show(itinerary.later(change, minutes))

        st.time_input("Time", key=f"{key}-time", step=300, on_change=state.unless_late(move, *choice.FIELDS))
        remove = partial(choice.show, itinerary.without(change))
        st.button("Remove", icon=":material/close:", key=f"{key}-remove", disabled=fixed, on_click=remove)


def _search(source: Source, opened: Workspace, itinerary: Itinerary) -> None:
    """Add a stop by name: the most visited places are listed, any other name can be typed."""

    def add() -> None:
        typed = st.session_state["add-stop"] or ""
        poi = next_places.find_place(source, typed)
        if poi is not None:
            add_stop(opened, itinerary, poi)
        elif typed:
            st.toast(words.no_such_place(typed))

    st.session_state["add-stop"] = None
    st.selectbox(
        "Add a stop",
        next_places.popular_places(source),
        index=None,
        key="add-stop",
        placeholder=words.ADD_HINT,
        accept_new_options=True,
        label_visibility="collapsed",
        width=230,
        on_change=state.unless_late(add, *choice.FIELDS),
    )
