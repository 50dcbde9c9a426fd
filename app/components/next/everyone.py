"""Everyone's next places: a table that opens a user, and expected next visits per place."""

from datetime import date, timedelta
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.figures.next_map import EVERYONE_HEIGHT_PX, draw_expected, offered_places
from analysis.glossary import tooltip
from analysis.records.case_filters import matching_places
from analysis.trajectories.everyone import EXPECTED, FIRST, SECOND, Everyone, last_day
from app import state
from app.cached import next_places
from app.cached.figures import drawn
from app.cached.workspace import MOST_SCORES, open_workspace
from app.components.chart_table import show_figure
from app.components.next import choice, words
from app.components.text import choose_one, quiet
from app.components.toolbar import downloads
from app.sources import Source
from recap import columns as c
from recap.itinerary import Itinerary
from recap.printable import shortened
from recap.privacy import Generalisation

_FIFTH_PX: Final = 190
_LONGEST_NAME: Final = 21
_TABLE_PX: Final = EVERYONE_HEIGHT_PX - 80
_PASSES: Final = 10
"""A prediction for everyone costs about so many times as much as the ranking of as many cases."""


def as_of_control(source: Source) -> int:
    """The day up to which check-ins are known; the address says how many days before the last one it is."""
    opened = open_workspace(source)
    last, first = last_day(opened), opened.dataset.local_time.min().date()
    back = state.current_choice("days", {str(days): days for days in range((last - first).days + 1)}, 0)
    st.session_state["as-of-day"] = last - timedelta(days=back)

    def choose() -> None:
        chosen: date | None = st.session_state["as-of-day"]
        if chosen is not None:
            state.choose("days", (last - chosen).days)

    st.date_input(
        "As of",
        min_value=first,
        max_value=last,
        key="as-of-day",
        label_visibility="collapsed",
        width=160,
        format="YYYY-MM-DD",
        help=words.AS_OF_DAY,
        on_change=state.unless_late(choose, "days"),
    )
    return back


def show_everyone(source: Source, back: int) -> None:
    opened = open_workspace(source)
    if opened.dataset.num_users * opened.dataset.num_pois * _PASSES > MOST_SCORES:
        st.title(words.many_users(opened.dataset.num_users), anchor=False)
        quiet(words.TOO_MANY)
        return
    found = next_places.everyone(source, back)
    users, places = len(found.users), found.places
    if places.empty:
        st.title(words.many_users(users), anchor=False)
        st.markdown(words.ONLY_SCORES)
    else:
        st.title(words.everyone_headline(str(places["name"][0]), places[EXPECTED][0], users), anchor=False)
        calibrated = words.calibration(users, found.followed, *found.calibration()) if found.followed else ""
        st.markdown(" ".join([calibrated or words.expected_line(users, last_day(opened)), *found.notes]))
    grid = st.grid(5, min_column_width=_FIFTH_PX)
    with grid.cell(column_span=3):
        _table(source, found.users)
        with st.container(horizontal=True, vertical_alignment="center"):
            _downloads(source, found, back)
            quiet(words.OPEN_ROW, width="content")
    if not places.empty:
        with grid.cell(column_span=2):
            _places(source, found, back)


def _places(source: Source, found: Everyone, back: int) -> None:
    shown = "map"
    if found.followed:
        named = {"map": "Expected on the map", "chart": "Expected and counted"}
        shown = choose_one("Places", list(named), key="everyone-places", named=named.__getitem__)
    if shown == "map":
        deck = next_places.expected_map(source, back, state.theme_palette().theme)
        st.pydeck_chart(deck, height=EVERYONE_HEIGHT_PX, key="expected-map", alt=words.EXPECTED_ALT)
    else:
        show_figure(drawn(draw_expected, found.places), "expected-chart", words.CHART_ALT)


def _table(source: Source, every: pd.DataFrame) -> None:
    opened, users = open_workspace(source), _filtered(source, every)
    if users.empty:
        quiet(words.NOBODY)
        return

    def open_user() -> None:
        rows = st.session_state["everyone-table"]["selection"]["rows"]
        if rows and int(rows[0]) < len(users):
            chosen = users.iloc[int(rows[0])]
            state.choose("part", choice.ONE)
            choice.show(Itinerary(int(chosen[c.USER]), int(chosen[c.ROW])))

    table = users[[c.USER, c.POI, "local_time", FIRST, "probability", SECOND]].copy()
    table["probability"] *= 100
    table[c.USER] = [opened.user_name(user) for user in users[c.USER]]
    for name in (c.POI, FIRST, SECOND):
        table[name] = [shortened(opened.labels[poi], _LONGEST_NAME) for poi in users[name]]
    bar: dict[str, Any] = {"format": "%.0f %%", "min_value": 0, "max_value": 100, "color": "blue", "width": 95}
    columns: dict[str, Any] = {
        c.USER: st.column_config.TextColumn("User", width=75),
        c.POI: st.column_config.TextColumn("Last place", width=150),
        "local_time": st.column_config.DatetimeColumn("When", format="D MMM, HH:mm", width=95),
        FIRST: st.column_config.TextColumn("First choice", width=150, help=tooltip("next_place")),
        "probability": st.column_config.ProgressColumn("Probability", help=tooltip("model_share"), **bar),
        SECOND: st.column_config.TextColumn("Second choice", width=140),
    }
    st.dataframe(
        table.dropna(axis="columns", how="all"),
        hide_index=True,
        column_config=columns,
        selection_mode="single-row",
        on_select=state.unless_late(open_user, "days"),
        key="everyone-table",
        height=_TABLE_PX,
        alt=words.TABLE_ALT,
    )


def _filtered(source: Source, users: pd.DataFrame) -> pd.DataFrame:
    """The users that pass the filters: a place, a least probability, last seen since a day."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = st.text_input("Place", key="everyone-place", placeholder="Last place or choices", width=190)
        least = 0
        if users["probability"].notna().all():
            least = st.slider("Probability from", 0, 100, 0, 5, format="%d %%", key="everyone-least", width=170)
        since: date | None = st.date_input(
            "Last seen since", None, key="everyone-since", format="YYYY-MM-DD", width=160
        )
    if place.strip():
        fits_P = matching_places(open_workspace(source).dataset, place)
        fits: np.ndarray = np.any(fits_P[users[[c.POI, FIRST, SECOND]]], axis=1)
        users = users.loc[fits]
    if least:
        users = users.loc[100 * users["probability"] >= least]
    return users if since is None else users.loc[users["local_time"] >= pd.Timestamp(since)]


def _downloads(source: Source, found: Everyone, back: int) -> None:
    people = Generalisation().min_users
    downloads(
        lambda: {"Expected next visits": offered_places(found.places, people)},
        source=source,
        key="everyone",
        exact_tables={"Predictions": lambda: pd.concat(next_places.as_recorded(source, back), ignore_index=True)},
        notes=(words.DEFAULT_ROWS.format(people=people), words.EXACT_ROWS),
    )
