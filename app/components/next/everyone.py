"""Everyone's next places: a table that opens a user, and expected next visits per place."""

from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.figures.next_map import EVERYONE_HEIGHT_PX, expected_deck, offered_places
from analysis.glossary import tooltip
from analysis.records.case_filters import matching_places
from analysis.trajectories.everyone import (
    BEFORE,
    CHANGE,
    COUNTED,
    EXPECTED,
    EXPECTED_COUNTED,
    FIRST,
    KNOWN_BY,
    Everyone,
    everyone_as_recorded,
    last_day,
    shown_names,
)
from analysis.workspace import Workspace
from app import address, state
from app.cached import explanations, maps
from app.cached.workspace import MOST_SCORES
from app.components.chart_table import ticked_list
from app.components.next import choice, words
from app.components.next.slide import say_everyone
from app.components.present.add import slides_button
from app.components.text import choose_one, pick, quiet
from app.components.toolbar import downloads, offer_figure
from app.components.walk.predictions import LIST_NINTHS, MAP_NINTHS, NINTH_PX, probability_column
from app.pages import NEXT
from app.sources import Source
from recap import columns as c
from recap.history.asked_times import whole_seconds
from recap.history.moments import Moment, link_number
from recap.machine.printable import shortened
from recap.privacy import Generalisation

_DAY: Final = "YYYY-MM-DD"
_LONGEST_NAME: Final = {"wide": 17, "narrow": 14, "phone": 14}
_MOST_OFFERED: Final = 500
"""Places in the list of those to close, the most expected ones."""
_TABLE_PX: Final = EVERYONE_HEIGHT_PX - 80
_PASSES: Final = 10
"""A prediction for everyone costs about so many times as much as the ranking of as many cases."""


def as_of_control(opened: Workspace) -> date | None:
    """The day up to which check-ins are known, None for the last; the address says how many days before it that is."""
    last, first = last_day(opened), opened.dataset.local_time.min().date()
    back = address.current_choice("days", {str(days): days for days in range((last - first).days + 1)}, 0)
    day = last - timedelta(days=back)

    def choose() -> None:
        chosen: date | None = st.session_state["as-of-day"]
        if chosen is not None:
            address.choose("days", (last - chosen).days)

    look: dict[str, Any] = {"min_value": first, "max_value": last, "format": _DAY, "width": 160}
    pick(st.date_input, "As of", "today", choose, "days", key="as-of-day", value=day, help=words.AS_OF_DAY, **look)
    return day if back else None


def show_everyone(source: Source, as_of: date | None, at: datetime | None = None) -> None:
    opened = explanations.ready(source).known
    if opened.dataset.num_users * opened.dataset.num_pois * _PASSES > MOST_SCORES:
        st.title(words.MANY_USERS.format(users=opened.dataset.num_users), anchor=False)
        quiet(words.TOO_MANY)
        return
    closed = address.choice_of_data(opened.dataset.hash, "without", partial(_numbers, opened), words.NOT_HERE)
    address.write(without=".".join(map(str, closed)) or None)
    found = explanations.predict_everyone(source, as_of, at, closed)
    title, line = words.everyone(found, as_of or last_day(opened), at)
    st.title(title, anchor=False)
    st.markdown(line)
    grid = st.grid(9, min_column_width=NINTH_PX)
    with grid.cell(column_span=MAP_NINTHS):
        _table(opened, found.users, at)
        with st.container(horizontal=True, vertical_alignment="center"):
            people = Generalisation().min_users
            offered = offered_places(found.places, people)
            if not offered.empty:
                make, theme = partial(expected_deck, opened, offered), state.theme_palette().theme
                offer_figure("expected-map", partial(maps.counts_image, source, make, theme))
            downloads(
                lambda: {words.expected_heading(at): offered},
                source=source,
                key="everyone",
                exact_tables={
                    "Predictions": lambda: pd.concat(everyone_as_recorded(opened, as_of, at, closed), ignore_index=True)
                },
                notes=(words.DEFAULT_ROWS.format(people=people), words.EXACT_ROWS),
            )
            if not found.places.empty:
                say = partial(say_everyone, found, as_of or last_day(opened), at)
                slides_button(source, NEXT, ("everyone", as_of, at), say)
            quiet(words.OPEN_ROW, width="content")
    if not found.places.empty:
        with grid.cell(column_span=LIST_NINTHS):
            _places(source, opened, found, at)


def _places(source: Source, opened: Workspace, found: Everyone, at: datetime | None) -> None:
    key, named = "everyone-places", {"map": "On the map", "table": "Places"}
    if found.closed:
        key, named = "everyone-changes", {"table": "Where they go", "map": "On the map"}
    with st.container(horizontal=True, vertical_alignment="center"):
        shown = choose_one("Places", list(named), key=key, named=named.__getitem__)
        _pick_closed(opened, found)
    if shown == "map":
        deck = maps.draw_map(source, expected_deck, opened, found.places)
        st.pydeck_chart(deck, height=EVERYONE_HEIGHT_PX, key="expected-map", alt=words.EXPECTED_ALT)
    else:
        _place_table(found, at)


def _numbers(opened: Workspace, text: str | None) -> tuple[int, ...]:
    """Places as a link names them."""
    numbers = (link_number(part, opened.dataset.num_pois) for part in (text or "").split("."))
    return tuple(dict.fromkeys(number for number in numbers if number >= 0))


def _pick_closed(opened: Workspace, found: Everyone) -> None:
    """Places to leave out as candidates, of those that have a name here."""
    names = dict(zip(found.places[c.POI], shown_names(found.places), strict=True))
    is_named = found.places[KNOWN_BY] >= Generalisation().min_users
    offered = list(dict.fromkeys([*found.closed, *found.places.loc[is_named, c.POI].head(_MOST_OFFERED)]))

    def close() -> None:
        address.choose("without", (opened.dataset.hash, tuple(st.session_state["everyone-without"])))

    look: dict[str, Any] = {"format_func": names.__getitem__, "placeholder": "Close a place", "width": 240}
    chosen = list(found.closed)
    pick(st.multiselect, "Close a place", offered, close, "without", key="everyone-without", value=chosen, **look)


def _place_table(found: Everyone, at: datetime | None) -> None:
    """Every place, the number expected there, and of users whose next check-in counts, how many went there."""
    columns: dict[str, Any] = {
        "name": st.column_config.TextColumn("Place", width=170),
        EXPECTED: st.column_config.NumberColumn(words.expected_heading(at), format="%.1f", width=110),
    }
    if found.followed:
        who, help_text = f"{found.followed:,}", None if at is None else words.COUNTED_HELP
        columns[EXPECTED_COUNTED] = st.column_config.NumberColumn(f"Of these {who}", format="%.1f", width=90)
        columns[COUNTED] = st.column_config.NumberColumn(f"Counted (n = {who})", width=110, help=help_text)
    if found.closed:
        for name, heading in ((BEFORE, "Before"), (EXPECTED, "After"), (CHANGE, "Difference")):
            columns[name] = st.column_config.NumberColumn(heading, format="%.2f", width=90)
        columns = {name: columns[name] for name in ("name", BEFORE, EXPECTED, CHANGE)}
    table = (found.changes if found.closed else found.places).assign(name=shown_names)[list(columns)]
    st.dataframe(table, column_config=columns, hide_index=True, height=_TABLE_PX, key="place-table")


def _table(opened: Workspace, every: pd.DataFrame, at: datetime | None) -> None:
    users = _filtered(opened, every)
    if users.empty:
        quiet(words.NOBODY)
        return

    def open_user(row: int) -> None:
        address.choose("part", choice.ONE)
        user, last = int(users[c.USER].iloc[row]), int(users[c.ROW].iloc[row])
        choice.show(Moment(user, last, at=None if at is None else whole_seconds(at)))

    table = users[[c.USER, c.POI, "local_time", FIRST, "probability"]].copy()
    table["probability"] *= 100
    table[c.USER] = [opened.user_name(user) for user in users[c.USER]]
    window = state.window_width()
    for name in (c.POI, FIRST):
        table[name] = [shortened(opened.labels[poi], _LONGEST_NAME[window]) for poi in users[name]]
    columns: dict[str, Any] = {
        c.USER: st.column_config.TextColumn("User", width=66),
        c.POI: st.column_config.TextColumn("Last place", width=120),
        "local_time": st.column_config.DatetimeColumn("When", format="D MMM, HH:mm", width=88),
        FIRST: st.column_config.TextColumn("First choice", width=122, help=tooltip("next_place")),
        "probability": probability_column("%.0f %%", 80),
    }
    if window != "wide":
        table = table.drop(columns=["local_time"])
    look: dict[str, Any] = {"column_config": columns, "height": _TABLE_PX, "alt": words.TABLE_ALT}
    ticked_list(table.dropna(axis="columns", how="all"), open_user, "days", key="everyone-table", **look)


def _filtered(opened: Workspace, users: pd.DataFrame) -> pd.DataFrame:
    """The users whose last place or first choice a search names, by place or category; a heading sorts them."""
    look: dict[str, Any] = {"placeholder": "Last place or first choice", "label_visibility": "collapsed"}
    place = st.text_input("Place", key="everyone-place", width=240, **look)
    if not place.strip():
        return users
    return users.loc[np.any(matching_places(opened.dataset, place)[users[[c.POI, FIRST]]], axis=1)]
