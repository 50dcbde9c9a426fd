"""The control of Next that asks where at a given time: a day and a clock."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

import streamlit as st

from analysis.workspace import Workspace
from app import state
from app.components.next import choice, words
from app.components.text import pick, quiet
from app.settings import AppSettings
from app.sources import Source, find_sources, other_question
from recap.asking.itinerary import Itinerary, usual_pause
from recap.history.moments import link_time, local_text
from recap.history.tensors import SECONDS_PER_DAY

WHENEVER, AT = "Whenever", "At"
_STEP: Final = 15 * 60
_DAYS: Final = 7
_LAST: Final = time(23, 45)
_EVERYONE: Final = "next_everyone_at"


def pick_question(source: Source) -> None:
    """Whenever the next check-in comes, or at a given time; nothing where the model knows only one question."""
    other = other_question(find_sources(AppSettings.from_environment()), source)
    if other is None:
        return

    def ask() -> None:
        if st.session_state["next-question"] != (AT if source.given_time else WHENEVER):
            state.choose_source(other.token)

    look: dict[str, Any] = {"required": True, "value": AT if source.given_time else WHENEVER}
    pick(st.segmented_control, "When", [WHENEVER, AT], ask, "source", key="next-question", **look)


def timed(opened: Workspace, itinerary: Itinerary, *, reads_time: bool) -> Itinerary:
    """The itinerary with a time asked for, where the model reads it, else without one."""
    if itinerary.is_empty or not reads_time:
        at = None
    else:
        last = last_seconds(opened, itinerary)
        pause = usual_pause(itinerary.history(opened.dataset, opened.checkins))
        at = _next_quarter(last + 60 * pause[1] if pause and itinerary.at is None else last)
        at = at if itinerary.at is None or itinerary.at < last else itinerary.at
    if at != itinerary.at:
        itinerary = replace(itinerary, at=at)
        choice.show(itinerary)
    return itinerary


def last_seconds(opened: Workspace, itinerary: Itinerary) -> int:
    """Local seconds of the last stop."""
    return int(itinerary.history(opened.dataset, opened.checkins).local_seconds_H[-1])


def pick_own_time(opened: Workspace, itinerary: Itinerary) -> None:
    """Day and clock of one user's time."""
    assert itinerary.at is not None
    last = last_seconds(opened, itinerary)
    _pick_time(last, itinerary.at, lambda at: choice.show(replace(itinerary, at=max(at, _next_quarter(last)))))


def say_usual_pause(opened: Workspace, itinerary: Itinerary) -> None:
    """Where this user's pauses usually end."""
    found = usual_pause(itinerary.history(opened.dataset, opened.checkins))
    if found is not None:
        quiet(words.pause_line(*found))


def pick_time_of_all(opened: Workspace, known_until: date) -> datetime:
    """The time at which everyone is asked for; ``known_until``: the last day with known check-ins."""
    last = int(datetime.combine(known_until, time(), UTC).timestamp())
    asked = link_time(state.incoming("at"))
    if asked is not None:
        st.session_state[_EVERYONE] = asked
    at = max(st.session_state.get(_EVERYONE) or last + SECONDS_PER_DAY * 3 // 2, last)
    state.write_param("at", local_text(at))
    _pick_time(last, at, lambda chosen: st.session_state.update({_EVERYONE: chosen}))
    return datetime.fromtimestamp(at, UTC).replace(tzinfo=None)


def _pick_time(last: int, at: int, show: Callable[[int], None]) -> None:
    """The days from that of the last check-in on, any other date, and a clock in quarters of an hour."""
    start, clock = at - at % SECONDS_PER_DAY, at % SECONDS_PER_DAY
    first = last - last % SECONDS_PER_DAY
    days = {first + number * SECONDS_PER_DAY: number for number in range(_DAYS)}

    def on_day() -> None:
        chosen: int | None = st.session_state["at-day"]
        if chosen is not None:  # not a click on the day that is on
            show(chosen + clock)

    def on_date() -> None:
        chosen: date | None = st.session_state["at-date"]
        if chosen is not None:
            show(int(datetime.combine(chosen, time(), UTC).timestamp()) + clock)

    def on_clock() -> None:
        chosen: time = st.session_state["at-clock"]
        show(start + 3600 * chosen.hour + 60 * chosen.minute)

    with st.container(horizontal=True, vertical_alignment="center"):
        look: dict[str, Any] = {"value": start if start in days else None, "format_func": lambda at: _day_name(at)}
        pick(st.pills, "Day", list(days), on_day, "at", key="at-day", **look)
        look = {"value": _as_time(start).date(), "format": "YYYY-MM-DD", "width": 140}
        look |= {"min_value": _as_time(first).date(), "max_value": _as_time(max(first, start)).date() + timedelta(3660)}
        pick(st.date_input, "Date", "today", on_date, "at", key="at-date", **look)
        look = {"value": min(_as_time(clock).time(), _LAST), "max_value": _LAST, "step": timedelta(minutes=15)}
        look |= {"format": "HH:mm", "width": 190}
        pick(st.slider, "Clock", time(), on_clock, "at", key="at-clock", **look)


def _day_name(seconds: int) -> str:
    when = _as_time(seconds)
    return f"{when:%a} {when.day}"


def _as_time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def _next_quarter(seconds: int) -> int:
    return -(-seconds // _STEP) * _STEP
