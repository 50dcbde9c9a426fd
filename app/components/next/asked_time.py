"""The control of Next that asks where at a given time: a day and a clock."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from time import monotonic
from typing import Any, Final, TypeVar

import streamlit as st

from analysis.workspace import Workspace
from app import address, state
from app.components.next import choice, words
from app.components.text import pick, quiet, toggle
from app.components.walk.walk_player import SECONDS_PER_STEP
from app.settings import AppSettings
from app.sources import Source, find_sources, other_question
from recap.history.asked_times import link_time, local_text, whole_seconds
from recap.history.moments import Moment
from recap.history.one_user import usual_pause
from recap.history.tensors import SECONDS_PER_DAY

WHENEVER, AT = "Whenever", "At"
_STEP: Final = 15 * 60
_DAYS: Final = 7
_LAST: Final = time(23, 45)
_HALF_HOUR: Final = 30 * 60
_PLAYS: Final = "everyone-play"
_Moment = TypeVar("_Moment", bound=Moment)


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


def timed(opened: Workspace, itinerary: Moment, *, reads_time: bool) -> Moment:
    """The itinerary with a time asked for, where the model reads it, else without one."""
    asked = replace(itinerary, at=None)
    if reads_time and not itinerary.is_empty:
        asked = at_usual_time(opened, itinerary)
    if asked != itinerary:
        choice.show(asked)
    return asked


def at_usual_time(opened: Workspace, moment: _Moment) -> _Moment:
    """With a time that is not before the last stop: by default where the user's pauses usually end."""
    known = opened.any_ranker.known_at(moment)
    last, pause = int(known.local_seconds_H[-1]), usual_pause(known)
    if moment.at is None:
        return replace(moment, at=_next_quarter(last + 60 * pause[1] if pause else last))
    return moment if moment.at >= last else replace(moment, at=_next_quarter(last))


def pick_own_time(opened: Workspace, itinerary: Moment) -> None:
    """Day and clock of one user's time, and where this user's pauses usually end."""
    assert itinerary.at is not None
    known = opened.any_ranker.known_at(itinerary)
    last, pause = int(known.local_seconds_H[-1]), usual_pause(known)
    _pick_time(last, itinerary.at, lambda at: choice.show(replace(itinerary, at=max(at, _next_quarter(last)))))
    if pause is not None:
        quiet(words.pause_line(*pause))


def pick_time_of_all(opened: Workspace, known_until: date) -> datetime:
    """The time at which everyone is asked for; ``known_until``: the last day with known check-ins."""
    last = int(datetime.combine(known_until, time(), UTC).timestamp())
    asked = address.choice_of_data(opened.dataset.hash, "at", link_time, state.UNREADABLE_TIME)
    at = max(asked or last + SECONDS_PER_DAY * 3 // 2, last)
    is_last = _half_hour_after(at) % SECONDS_PER_DAY == 0
    if is_last:
        st.session_state[_PLAYS] = False
    if not st.session_state.get(_PLAYS):  # each value in the address is a step of the browser's Back
        address.write(at=local_text(at))
    _pick_time(last, at, partial(_show_all_at, opened))

    def play() -> None:
        if is_last:
            _show_all_at(opened, at - at % SECONDS_PER_DAY)

    toggle("Play", key=_PLAYS, help=words.PLAY_HELP, on_change=play)
    return _as_time(at)


def play_on(opened: Workspace, at: datetime) -> None:
    """While playing, ask for the next half hour of the day after a pause, see `show_walk_player`."""
    shown = monotonic()

    def step() -> None:
        if monotonic() - shown >= SECONDS_PER_STEP * 0.8:
            _show_all_at(opened, _half_hour_after(whole_seconds(at)))
            st.rerun()

    if st.session_state.get(_PLAYS):
        st.fragment(run_every=SECONDS_PER_STEP)(step)()


def _show_all_at(opened: Workspace, at: int) -> None:
    address.choose("at", (opened.dataset.hash, at))


def _half_hour_after(seconds: int) -> int:
    return (seconds // _HALF_HOUR + 1) * _HALF_HOUR


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
        look: dict[str, Any] = {"value": start if start in days else None, "format_func": _day_name}
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
