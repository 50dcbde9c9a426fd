"""The stops under Next's map as chips: a click gives one another time or removes it."""

from datetime import datetime, time
from functools import partial

import streamlit as st

from analysis.trajectories.itinerary import MOST_ADDED, Itinerary
from analysis.trajectories.next_place import NextPlace
from app import state
from app.cached import next_places
from app.cached.workspace import open_workspace
from app.components.next import choice, words
from app.sources import Source
from recap import columns as c


def show_stops(source: Source, part: str, itinerary: Itinerary, found: NextPlace | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        stops = [] if found is None else found.stops.to_dict("records")
        is_only = len(stops) == 1 and not _has_earlier(source, itinerary)
        for stop in stops:
            _chip(source, part, itinerary, stop["change"], stop["name"], stop["local_time"], fixed=is_only)
        _search(source, part, itinerary, found)
        if itinerary.text:
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
    first = itinerary.row is None and not itinerary.added
    minutes = 0 if first else next_places.gap_minutes(source, itinerary)
    choice.show(open_workspace(source), part, itinerary.plus(poi, minutes))


def _has_earlier(source: Source, itinerary: Itinerary) -> bool:
    return itinerary.row is not None and len(itinerary.history(open_workspace(source))) > 1


def _chip(
    source: Source, part: str, itinerary: Itinerary, change: int, name: str, when: datetime, *, fixed: bool
) -> None:
    """A stop with its time.

    Args:
        fixed: the only stop of a user, which cannot be removed.
    """
    opened, key = open_workspace(source), f"stop-{'added' if change < 0 else 'known'}-{abs(change)}"
    with st.popover(words.chip(name, when), key=key):
        clock = f"{key}-time"
        st.session_state[clock] = when.time().replace(second=0, microsecond=0)

        def move() -> None:
            chosen: time | None = st.session_state[clock]
            if chosen is not None:
                minutes = 60 * (chosen.hour - when.hour) + chosen.minute - when.minute
                choice.show(opened, part, itinerary.later(change, minutes))

        st.time_input("Time", key=clock, step=300, on_change=state.unless_late(move, *choice.FIELDS))
        st.button(
            "Remove",
            icon=":material/close:",
            key=f"{key}-remove",
            disabled=fixed and part == choice.ONE,
            on_click=partial(choice.show, opened, part, itinerary.without(change)),
        )


def _search(source: Source, part: str, itinerary: Itinerary, found: NextPlace | None) -> None:
    """Add a stop by name: the places listed, and any other name."""
    if found is None:
        names = next_places.popular_places(source)
    else:
        names = dict(zip(found.listed[c.POI], found.listed["name"], strict=True))

    def add() -> None:
        typed = st.session_state["add-stop"]
        poi = next_places.find_place(source, typed) if isinstance(typed, str) else typed
        if poi is not None:
            add_stop(source, part, itinerary, int(poi))
        elif typed:
            st.session_state["stop_missing"] = str(typed)

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
    missing = st.session_state.pop("stop_missing", None)
    if missing:
        st.toast(words.no_such_place(missing))
