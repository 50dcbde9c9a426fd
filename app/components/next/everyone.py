"""Everyone's next places: a table that opens a user, and expected next visits per place."""

from datetime import date, timedelta
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.figures.next_map import EVERYONE_HEIGHT_PX, draw_expected, offered_places
from analysis.glossary import tooltip
from analysis.records.case_filters import matching_places
from analysis.trajectories.everyone import FIRST, LIKELY_PLACES, SECOND, Everyone, last_day
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
from recap.privacy import Generalisation

_FIFTH_PX: Final = 190
_PASSES: Final = 10
"""A prediction for everyone costs about so many times as much as the ranking of as many cases."""


def as_of_control(source: Source) -> int:
    """The day up to which check-ins are known; the address says how many days before the last one it is."""
    last = last_day(open_workspace(source))
    first = open_workspace(source).dataset.local_time.min().date()
    asked = state.linked("days")
    if asked is not None:
        text = asked["days"] or "0"
        st.session_state["days_back"] = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    back = min(int(st.session_state.get("days_back", 0)), (last - first).days)
    state.write_param("days", str(back) if back else None)
    st.session_state["as-of-day"] = last - timedelta(days=back)

    def choose() -> None:
        chosen: date | None = st.session_state["as-of-day"]
        if chosen is not None:
            st.session_state["days_back"] = (last - chosen).days
            state.write_param("days", str((last - chosen).days) or None)

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
        st.title(words.everyone_headline(None, 0.0, opened.dataset.num_users), anchor=False)
        quiet(words.too_many(opened.dataset.num_users))
        return
    found = next_places.everyone(source, back)
    places = found.places
    first = None if places.empty else places.iloc[0]
    name, expected = (None, 0.0) if first is None else (str(first["name"]), float(first["expected"]))
    st.title(words.everyone_headline(name, expected, len(found.users)), anchor=False)
    if first is None:
        st.markdown(words.ONLY_SCORES)
    elif found.followed:
        of_places = min(LIKELY_PLACES, len(places))
        said = words.calibration(len(found.users), found.followed, of_places, *found.calibration())
        st.markdown(" ".join([said, *found.notes]))
    else:
        st.markdown(words.expected_line(len(found.users), last_day(opened)))
    grid = st.grid(5, min_column_width=_FIFTH_PX)
    with grid.cell(column_span=3):
        _table(source, found)
        with st.container(horizontal=True, vertical_alignment="center"):
            _downloads(source, found, back)
            quiet(words.OPEN_ROW, width="content")
    if first is not None:
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


def _table(source: Source, found: Everyone) -> None:
    users = _filtered(source, found.users)
    if users.empty:
        quiet(words.NOBODY)
        return
    labels = np.asarray(open_workspace(source).labels, dtype=object)
    has_probability = bool(users["probability"].notna().all())
    table = pd.DataFrame(
        {
            "user": users[c.USER].map(open_workspace(source).user_name),
            "last": labels[users[c.POI]],
            "when": users["local_time"],
            "first": labels[users[FIRST]],
            **({"probability": 100 * users["probability"]} if has_probability else {}),
            "second": labels[users[SECOND]],
        }
    )
    bar = st.column_config.ProgressColumn(
        "Probability", format="%.0f %%", min_value=0, max_value=100, color="blue", width=95, help=tooltip("model_share")
    )
    columns: dict[str, Any] = {
        "user": st.column_config.TextColumn("User", width=75),
        "last": st.column_config.TextColumn("Last place", width=150),
        "when": st.column_config.DatetimeColumn("When", format="D MMM, HH:mm", width=95),
        "first": st.column_config.TextColumn("First choice", width=150, help=tooltip("next_place")),
        "probability": bar,
        "second": st.column_config.TextColumn("Second choice", width=140),
    }
    st.dataframe(
        table,
        hide_index=True,
        column_config=columns,
        selection_mode="single-row",
        on_select=state.unless_late(partial(_open_user, source, users), "days"),
        key="everyone-table",
        height=EVERYONE_HEIGHT_PX - 80,
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
    passes = np.ones(len(users), dtype=bool)
    if place.strip():
        fits = matching_places(open_workspace(source).dataset, place)
        passes &= np.any([fits[users[column]] for column in (c.POI, FIRST, SECOND)], axis=0)
    if least:
        passes &= (100 * users["probability"] >= least).to_numpy()
    if since is not None:
        passes &= (users["local_time"] >= pd.Timestamp(since)).to_numpy()
    return users[passes]


def _open_user(source: Source, users: pd.DataFrame) -> None:
    rows = st.session_state["everyone-table"]["selection"]["rows"]
    if rows and int(rows[0]) < len(users):
        chosen = users.iloc[int(rows[0])]
        state.choose("part", choice.ONE)
        choice.show(open_workspace(source), choice.ONE, Itinerary(int(chosen[c.USER]), int(chosen[c.ROW])))


def _downloads(source: Source, found: Everyone, back: int) -> None:
    people = Generalisation().min_users

    def as_recorded() -> pd.DataFrame:
        return pd.concat(next_places.as_recorded(source, back), ignore_index=True)

    def offered() -> dict[str, pd.DataFrame]:
        return {"Expected next visits": offered_places(found.places, people)}

    downloads(
        offered,
        source=source,
        key="everyone",
        exact_tables={"Predictions": as_recorded},
        notes=(words.DEFAULT_ROWS.format(people=people), words.EXACT_ROWS),
    )
