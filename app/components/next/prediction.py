"""One prediction of Next: headline, map with stops as chips, and the list of places."""

from functools import partial
from typing import Any, Final

import streamlit as st

from analysis.trajectories.cameras import NEXT_HEIGHT_PX
from analysis.trajectories.predictions import CasePrediction, standing_out
from app import state
from app.cached import next_places
from app.cached.workspace import open_workspace
from app.components.next import choice, words
from app.components.next.stops import add_stop, show_stops
from app.components.text import quiet
from app.components.toolbar import downloads, legend, open_case_button
from app.components.walk.predictions import list_columns, list_rows, show_list
from app.pages import EXPLAIN
from app.sources import Source
from recap import columns as c
from recap.errors import VocabularyError
from recap.itinerary import Itinerary
from recap.printable import markdown_text

_FIFTH_PX: Final = 190


def show_prediction(source: Source, part: str, itinerary: Itinerary, *, only_new: bool, show_truth: bool) -> None:
    """Draw the prediction from an itinerary, or the empty map where nothing was chosen yet."""
    opened = open_workspace(source)
    found = None
    if not itinerary.is_empty:
        try:
            found = next_places.predict_from(source, itinerary, only_new=only_new)
        except VocabularyError as error:  # a new user
            st.title(words.NO_NEW_USER, anchor=False)
            st.markdown(markdown_text(f"{error}."))
            return
    with st.container(gap="xsmall"):
        _headline(source, itinerary, found, show_truth)
    if found is not None and not show_truth:  # from here on, nothing knows the truth
        found = found.without_truth()
    picked = state.current_place(itinerary, opened.dataset.num_pois)
    if found is None or picked not in set(found.candidates[c.POI]):
        picked = None
    grid = st.grid(5, min_column_width=_FIFTH_PX)
    with grid.cell(column_span=3):
        _map(source, part, itinerary, found, {"show_truth": show_truth, "chosen": picked})
        if found is not None:
            has_probability = bool(found.candidates["probability"].notna().all())
            legend(*words.legend(probability=has_probability, truth=show_truth, visits=found.reads_visits))
        stops = [] if found is None else next_places.stops(source, itinerary).stops.to_dict("records")
        fixed = part == choice.ONE and len(stops) == 1 and next_places.num_checkins(source, itinerary) == 1
        show_stops(source, part, itinerary, stops, fixed=fixed)
    with grid.cell(column_span=2):
        if found is None:
            quiet(words.BEGIN_HOW)
        else:
            _list(source, itinerary, found)
            _buttons(source, part, itinerary, found, picked)


def _headline(source: Source, itinerary: Itinerary, found: CasePrediction | None, show_truth: bool) -> None:
    if found is None or not found.num_best:
        st.title(words.BEGIN if found is None else words.NO_PLACE, anchor=False)
        return
    opened, last = open_workspace(source), next_places.stops(source, itinerary).stops.iloc[-1]
    user = None if itinerary.is_new_user else opened.user_name(itinerary.user)
    st.title(words.headline(user, found, changed=itinerary.is_changed), anchor=False)
    lines = [words.last_stop(str(last["name"]), last["local_time"])]
    lines.append(words.held_line(found.held_by, is_calibrated=next_places.is_calibrated(source)))
    if not itinerary.is_changed:
        truth = opened.labels[int(found.case[c.TARGET])] if found.has_truth else None
        lines.append(words.truth_line(truth, found.target_rank, shown=show_truth))
    st.markdown(" ".join(filter(None, lines)))


def _map(source: Source, part: str, itinerary: Itinerary, found: CasePrediction | None, shown: dict[str, Any]) -> None:
    """The map; a click on a place adds it as a stop."""
    best: list[int] = []
    names: list[str] = []
    if found is not None:
        listed = found.candidates.head(found.num_best)
        best, names = listed[c.POI].tolist(), listed["name"].tolist()
    clickable = {"candidates": best[::-1], "places": next_places.place_dots(source)[c.POI].tolist()}
    st.pydeck_chart(
        next_places.next_map(source, itinerary, found, state.theme_palette().theme, **shown),
        height=NEXT_HEIGHT_PX,
        key="next-map",
        on_select=state.unless_late(partial(_clicked, source, part, itinerary, clickable), *choice.FIELDS),
        alt=words.map_alt(names[:3]),
    )


def _clicked(source: Source, part: str, itinerary: Itinerary, clickable: dict[str, list[int]]) -> None:
    """Add the clicked place. A second click on the same mark arrives as an empty choice."""
    chosen = st.session_state["next-map"]["selection"]["indices"]
    mark = next(((layer, at[0]) for layer, at in chosen.items() if at), st.session_state.get("next_mark"))
    st.session_state["next_mark"] = mark
    if mark is not None and mark[0] in clickable and mark[1] < len(clickable[mark[0]]):
        add_stop(source, part, itinerary, clickable[mark[0]][mark[1]])


def _list(source: Source, itinerary: Itinerary, found: CasePrediction) -> None:
    listed, reasons = found.candidates, standing_out(found)
    rows, columns = list_rows(listed), list_columns(listed)
    rows["name"] = words.dotted(rows["name"], listed["revisit"])
    columns["name"] = st.column_config.TextColumn("Place", width=160, help=words.DOT_HELP)
    columns["km"] = st.column_config.NumberColumn("km", format="%.1f", width=48)
    if reasons:
        rows["reason"] = [words.reason(group) for group in reasons]
        columns["reason"] = st.column_config.TextColumn("Stands out by", width=122, help=words.REASON_HELP)
    show_list(rows, columns, itinerary, listed[c.POI].tolist(), choice.FIELDS, key="next-list", alt=words.LIST_ALT)


def _buttons(source: Source, part: str, itinerary: Itinerary, found: CasePrediction, picked: int | None) -> None:
    best = [int(poi) for poi in found.candidates[c.POI][: found.num_best]]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Go there",
            icon=":material/add_location:",
            key="go-there",
            disabled=not best,
            on_click=lambda: add_stop(source, part, itinerary, best[0] if picked is None else picked),
        )
        if source.checkpoint_hash is not None:
            open_case_button(EXPLAIN, source, found.moment, key="next-explain", about=picked)
        downloads(lambda: {"Next places": found.candidates}, source=source, key="next")
    minutes = next_places.gap_minutes(source, itinerary)
    quiet(f"{words.gap_line(minutes, usual=not itinerary.is_new_user)} {words.PROBABLE}")
