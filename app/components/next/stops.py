"""The stops under Next's map as chips: a click gives one another time or removes it."""

from collections.abc import Hashable
from functools import partial
from typing import Any

import streamlit as st

from app import state
from app.cached import next_places
from app.cached.workspace import open_workspace
from app.components.next import choice, words
from app.sources import Source
from recap.itinerary import MOST_ADDED, Itinerary


def show_stops(
    source: Source, part: str, itinerary: Itinerary, stops: list[dict[Hashable, Any]], *, fixed: bool
) -> None:
    """Chips, a search, and a button that undoes all changes.

    Args:
        stops: rows of `read_stops`.
        fixed: whether the only stop must stay.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for stop in stops:
            _chip(source, part, itinerary, stop, fixed=fixed)
        _search(source, part, itinerary)
        if itinerary.is_changed:
            st.button(
                "Start again",
                icon=":material/undo:",
                type="tertiary",
                key="next-reset",
                on_click=partial(choice.show, open_workspace(source), part, Itinerary(itinerary.user, itinerary.row)),
            )


def add_stop(source: Source, part: str, itinerary: Itinerary, poi: int) -> None:
    """Go to a place: the next stop, after the usual gap; the first stop of a new user is at noon."""
    if len(itinerary.added) >= MOST_ADDED:
        st.toast(words.MOST_STOPS)
        return
    minutes = 0 if itinerary.is_empty else next_places.gap_minutes(source, itinerary)
    choice.show(open_workspace(source), part, itinerary.plus(poi, minutes))


def _chip(source: Source, part: str, itinerary: Itinerary, stop: dict[Hashable, Any], *, fixed: bool) -> None:
    opened, when, change = open_workspace(source), stop["local_time"], stop["change"]
    key = f"stop-{'added' if change < 0 else 'known'}-{abs(change)}"
    with st.popover(words.chip(stop["name"], when), key=key):
        st.session_state[f"{key}-time"] = when.time().replace(second=0, microsecond=0)

        def move() -> None:
            chosen = st.session_state[f"{key}-time"]
            if chosen is not None:
                minutes = 60 * (chosen.hour - when.hour) + chosen.minute - when.minute
                choice.show(opened, part, itinerary.later(change, minutes))

        st.time_input("Time", key=f"{key}-time", step=300, on_change=state.unless_late(move, *choice.FIELDS))
        st.button(
            "Remove",
            icon=":material/close:",
            key=f"{key}-remove",
            disabled=fixed,
            on_click=partial(choice.show, opened, part, itinerary.without(change)),
        )


def _search(source: Source, part: str, itinerary: Itinerary) -> None:
    """Add a stop by name: the most visited places are listed, any other name can be typed."""
    names = next_places.popular_places(source)

    def add() -> None:
        typed = st.session_state["add-stop"]
        poi = next_places.find_place(source, typed) if isinstance(typed, str) else typed
        if poi is not None:
            add_stop(source, part, itinerary, int(poi))
        elif typed:
            st.toast(words.no_such_place(typed))

    st.session_state["add-stop"] = None
    st.selectbox(
        "Add a stop",
        list(names),
        index=None,
        key="add-stop",
        placeholder=words.ADD_HINT,
        format_func=lambda poi: str(names.get(poi, poi)),
        accept_new_options=True,
        label_visibility="collapsed",
        width=230,
        on_change=state.unless_late(add, *choice.FIELDS),
    )
