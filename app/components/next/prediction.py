"""One prediction of Next: headline, map with stops as chips, and the list of places."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis.figures.walk_map import places_deck
from analysis.trajectories.cameras import NEXT_HEIGHT_PX
from analysis.trajectories.predictions import CasePrediction, standing_out
from analysis.trajectories.trajectory import Trajectory, read_stops
from analysis.workspace import Workspace
from app import address, state
from app.cached import explanations, maps
from app.components.chart_table import ticked_list
from app.components.next import choice, words
from app.components.next.slide import say_prediction
from app.components.present.add import slides_button
from app.components.text import late_popover, quiet
from app.components.toolbar import downloads, legend, offer_figure, open_case_button
from app.components.walk import words as walk_words
from app.components.walk.predictions import LIST, LIST_NINTHS, MAP_NINTHS, NINTH_PX, list_table, say_never_visited
from app.pages import EXPLAIN, NEXT
from app.settings import AppSettings
from app.sources import Source, find_sources, other_question
from recap import columns as c
from recap.errors import VocabularyError
from recap.history.moments import Moment
from recap.history.one_user import median_gap
from recap.machine.printable import markdown_text, shortened


def show_prediction(source: Source, itinerary: Moment, *, only_new: bool, show_truth: bool) -> None:
    """Draw the prediction from an itinerary; before a new user's first stop, the map of all places."""
    opened = explanations.ready(source).known
    if itinerary.is_empty:
        st.title(words.BEGIN, anchor=False)
        grid = st.grid(9, min_column_width=NINTH_PX)
        with grid.cell(column_span=MAP_NINTHS):
            _map(source, itinerary, [], words.BEGIN, places_deck, opened.latitude, opened.longitude)
            choice.show_stops(opened, itinerary, pd.DataFrame())
        with grid.cell(column_span=LIST_NINTHS):
            quiet(words.BEGIN_HOW)
        return
    try:
        options: dict[str, Any] = {"only_new": only_new, "counts_now": True, "paths_per_place": 0}
        prediction, whenever = explanations.predict(source, itinerary, **options), None
        other = None if itinerary.at is None else other_question(find_sources(AppSettings.from_environment()), source)
        if other is not None:
            whenever = explanations.predict(other, replace(itinerary, at=None), **options)
    except VocabularyError as error:  # a new user
        st.title(words.NO_NEW_USER, anchor=False)
        st.markdown(markdown_text(f"{error}."))
        return
    walked = read_stops(opened, itinerary)
    with st.container(gap="xsmall"):
        asked: dict[str, Any] = {"show_truth": show_truth, "whenever": whenever}
        title, *lines = words.answer(opened, itinerary, prediction, walked.stops.iloc[-1], **asked)
        st.title(title, anchor=False)
        if lines:
            st.markdown(" ".join(lines))
    if not show_truth:  # from here on, nothing knows the truth
        prediction = prediction.without_truth()
    picked = state.current_place(itinerary, opened.dataset.num_pois)
    picked = picked if picked in set(prediction.candidates[c.POI]) else None
    grid = st.grid(9, min_column_width=NINTH_PX)
    with grid.cell(column_span=MAP_NINTHS):
        best = prediction.candidates.head(prediction.num_best)
        alt = walk_words.map_alt(best["name"].head(3).tolist())
        shown = {"show_truth": show_truth, "chosen": picked}
        _map(source, itinerary, best[c.POI].tolist(), alt, maps.next_map, opened, walked, prediction, **shown)
        legend(*walk_words.legend(prediction, truth=show_truth, paths=False), words.OTHER_PLACES)
        choice.show_stops(opened, itinerary, walked.stops)
    with grid.cell(column_span=LIST_NINTHS):
        _list(itinerary, prediction)
        _buttons(source, opened, itinerary, prediction, picked, walked)


def _map(source: Source, itinerary: Moment, best: list[int], alt: str, *drawn: Any, **options: Any) -> None:
    """The map, see `maps.draw_map`; a click on a place adds it as a stop."""
    clickable = {"candidates": best[::-1], "places": maps.place_dots(source)[0]}

    def add() -> None:
        """A second click on the same mark arrives as an empty choice."""
        chosen = st.session_state["next-map"]["selection"]["indices"]
        mark = next(((layer, marks[0]) for layer, marks in chosen.items() if marks), st.session_state.get("next_mark"))
        st.session_state["next_mark"] = mark
        if mark is not None and mark[0] in clickable and mark[1] < len(clickable[mark[0]]):
            choice.add_stop(explanations.ready(source).known, itinerary, clickable[mark[0]][mark[1]])

    deck, on_select = maps.draw_map(source, *drawn, **options), address.unless_late(add, *state.ITINERARY)
    st.pydeck_chart(deck, height=NEXT_HEIGHT_PX, key="next-map", on_select=on_select, alt=alt)


def _list(itinerary: Moment, prediction: CasePrediction) -> None:
    listed, reasons = prediction.candidates, standing_out(prediction)
    rows, columns = list_table(listed)
    rows["name"] = rows["name"].map(lambda name: shortened(name, 17)) + np.where(listed["revisit"], " ●", "")
    columns["name"] = st.column_config.TextColumn("Place", width=150, help=words.DOT_HELP)
    if reasons and state.window_width() == "wide":
        rows["reason"] = [words.reason(group) for group in reasons]
        columns["reason"] = st.column_config.TextColumn("Stands out by", width=122, help=words.REASON_HELP)

    def choose(row: int) -> None:
        state.choose_place(itinerary, int(listed[c.POI].iloc[row]))

    ticked_list(rows, choose, *state.ITINERARY, key="next-list", column_config=columns, **LIST)
    say_never_visited(listed)


@st.fragment
def _all_held(source: Source, prediction: CasePrediction) -> None:
    """A button that shows all places of the list on which the next place is nine times in ten."""
    button = late_popover(f"All {prediction.held_by:,} places", "next-held", type="tertiary")
    if button:
        listed = explanations.predict(
            source, prediction.moment, top=prediction.held_by, counts_now=True, paths_per_place=0
        )
        rows, columns = list_table(listed.without_truth().candidates)
        button.dataframe(rows, column_config=columns, hide_index=True, key="next-held-list")


def _buttons(
    source: Source,
    opened: Workspace,
    itinerary: Moment,
    prediction: CasePrediction,
    picked: int | None,
    walked: Trajectory,
) -> None:
    listed = prediction.candidates[c.POI].tolist()
    with st.container(horizontal=True, vertical_alignment="center"):
        if listed:
            go = partial(choice.add_stop, opened, itinerary, listed[0] if picked is None else picked)
            st.button("Go there", icon=":material/add_location:", key="go-there", on_click=go)
        if source.checkpoint_hash is not None:
            open_case_button(EXPLAIN, source, prediction.moment, key="next-explain", about=picked)
        shown: dict[str, Any] = {"show_truth": prediction.has_truth, "show_paths": False}
        offer_figure("map", partial(maps.walk_image, source, walked, prediction, state.theme_palette().theme, **shown))
        downloads(lambda: {"Next places": prediction.candidates}, source=source, key="next")
        if listed:
            say = partial(say_prediction, source, opened, itinerary, prediction, walked)
            slides_button(source, NEXT, (repr(itinerary), prediction.only_new), say)
        if prediction.held_by and prediction.held_by > prediction.num_best and not prediction.only_new:
            _all_held(source, prediction)
    line = words.GO_AT
    if itinerary.at is None:
        line = words.gap_line(median_gap(opened.checkins, itinerary))
    quiet(f"{line} {words.PROBABLE}")
