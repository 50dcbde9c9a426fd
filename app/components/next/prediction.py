"""One prediction of Next: headline, map with stops as chips, and the list of places."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import pandas as pd
import streamlit as st

from analysis.trajectories.cameras import NEXT_HEIGHT_PX
from analysis.trajectories.itinerary import Itinerary
from analysis.trajectories.next_place import REASON, NextPlace
from app import state
from app.cached import next_places
from app.cached.workspace import open_workspace
from app.components.next import choice, words
from app.components.next.stops import add_stop, show_stops
from app.components.text import quiet
from app.components.toolbar import downloads, legend
from app.components.walk.predictions import list_columns, list_rows
from app.pages import EXPLAIN
from app.sources import Source
from recap import columns as c
from recap.errors import VocabularyError
from recap.moments import Moment
from recap.printable import markdown_text

_FIFTH_PX: Final = 190


def show_prediction(source: Source, part: str, itinerary: Itinerary, *, only_new: bool, show_truth: bool) -> None:
    """Draw the prediction from an itinerary, or the empty map where nothing was chosen yet."""
    opened = open_workspace(source)
    found = None
    if itinerary.row is not None or itinerary.added:
        try:
            found = next_places.predict_from(source, itinerary, only_new=only_new, show_truth=show_truth)
        except VocabularyError as error:  # a new user
            st.title(words.NO_NEW_USER, anchor=False)
            st.markdown(markdown_text(f"{error}."))
            return
    with st.container(gap="xsmall"):
        _headline(source, itinerary, found, only_new, show_truth)
    picked = state.current_place(itinerary, opened.dataset.num_pois)
    if found is None or picked not in set(found.listed[c.POI]):
        picked = None
    grid = st.grid(5, min_column_width=_FIFTH_PX)
    with grid.cell(column_span=3):
        _map(source, part, itinerary, found, {"only_new": only_new, "show_truth": show_truth, "chosen": picked})
        if found is not None:
            reads = found.prediction
            has_probability = bool(found.listed["probability"].notna().all())
            legend(*words.legend(probability=has_probability, truth=found.shows_truth, visits=reads.reads_visits))
        show_stops(source, part, itinerary, found)
    with grid.cell(column_span=2):
        if found is None:
            quiet(words.BEGIN_HOW)
            return
        _list(itinerary, found)
        _buttons(source, part, itinerary, found, picked)


def _headline(source: Source, itinerary: Itinerary, found: NextPlace | None, only_new: bool, show_truth: bool) -> None:
    if found is None or found.listed.empty:
        st.title(words.BEGIN if found is None else words.NO_PLACE, anchor=False)
        return
    best, last = found.listed.iloc[0], found.stops.iloc[-1]
    probability = None if best["probability"] != best["probability"] else float(best["probability"])
    changed = not itinerary.is_recorded
    user = None if itinerary.user is None else open_workspace(source).user_name(itinerary.user)
    st.title(words.headline(user, str(best["name"]), probability, new=only_new, changed=changed), anchor=False)
    lines = [words.last_stop(str(last["name"]), last["local_time"])]
    lines.append(words.held_line(found.held_by, is_calibrated=next_places.is_calibrated(source)))
    if itinerary.is_recorded:
        truth = None if found.truth is None else open_workspace(source).labels[found.truth]
        lines.append(words.truth_line(truth, found.prediction.target_rank, shown=show_truth))
    st.markdown(" ".join(filter(None, lines)))


def _map(source: Source, part: str, itinerary: Itinerary, found: NextPlace | None, shown: dict[str, Any]) -> None:
    """The map; a click on a place adds it as a stop."""
    discs = [] if found is None else found.listed[c.POI].head(found.prediction.num_best).tolist()[::-1]
    clickable = {"candidates": discs, "places": next_places.place_dots(source)[c.POI].tolist()}
    names = [] if found is None else found.listed["name"].head(3).tolist()
    st.pydeck_chart(
        next_places.next_map(source, itinerary, state.theme_palette().theme, **shown),
        height=NEXT_HEIGHT_PX,
        key="next-map",
        on_select=state.unless_late(partial(_clicked, source, part, itinerary, clickable), *choice.FIELDS),
        alt=words.map_alt(names),
    )


def _clicked(source: Source, part: str, itinerary: Itinerary, clickable: dict[str, list[int]]) -> None:
    """Add the clicked place. A second click on the same mark arrives as an empty choice."""
    chosen = st.session_state["next-map"]["selection"]["indices"]
    mark = next(((layer, at[0]) for layer, at in chosen.items() if at), st.session_state.get("next_mark"))
    st.session_state["next_mark"] = mark
    if mark is not None and mark[0] in clickable and mark[1] < len(clickable[mark[0]]):
        add_stop(source, part, itinerary, clickable[mark[0]][mark[1]])


def _list(itinerary: Itinerary, found: NextPlace) -> None:
    listed = found.listed
    rows, columns = list_rows(listed), list_columns(listed)
    rows["name"] = words.dotted(rows["name"], listed["revisit"])
    columns["name"] = st.column_config.TextColumn("Place", width=160, help=words.DOT_HELP)
    columns["km"] = st.column_config.NumberColumn("km", format="%.1f", width=48)
    if listed[REASON].any():
        rows["reason"] = [words.reason(group) for group in listed[REASON]]
        columns["reason"] = st.column_config.TextColumn("Stands out by", width=122, help=words.REASON_HELP)
    st.dataframe(
        rows,
        hide_index=True,
        column_config=columns,
        selection_mode="single-row",
        on_select=state.unless_late(partial(_choose, itinerary, listed[c.POI].tolist()), *choice.FIELDS),
        key="next-list",
        height="content",
        alt=words.LIST_ALT,
    )


def _choose(itinerary: Itinerary, pois: list[int]) -> None:
    rows = st.session_state["next-list"]["selection"]["rows"]
    if rows and int(rows[0]) < len(pois):
        state.choose_place(itinerary, pois[int(rows[0])])


def _buttons(source: Source, part: str, itinerary: Itinerary, found: NextPlace, picked: int | None) -> None:
    place = int(found.listed[c.POI].iloc[0]) if picked is None else picked
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Go there",
            icon=":material/add_location:",
            key="go-there",
            on_click=partial(add_stop, source, part, itinerary, place),
        )
        if part == choice.ONE and source.checkpoint_folder is not None:
            _explain_button(source, itinerary, picked)
        tables: Callable[[], dict[str, pd.DataFrame]] = lambda: {"Next places": found.listed}  # noqa: E731
        downloads(tables, source=source, key="next")
    minutes = next_places.gap_minutes(source, itinerary)
    quiet(f"{words.gap_line(minutes, usual=itinerary.row is not None)} {words.PROBABLE}")


def _explain_button(source: Source, itinerary: Itinerary, picked: int | None) -> None:
    about = {} if picked is None else {"about": str(picked)}
    if st.button(
        "Explain",
        icon=":material/arrow_forward:",
        icon_position="right",
        key="next-explain",
        disabled=not itinerary.is_recorded,
        help=None if itinerary.is_recorded else words.EXPLAIN_HELP,
    ):
        assert itinerary.user is not None and itinerary.row is not None
        moment = open_workspace(source).moment(Moment(itinerary.user, itinerary.row))
        state.set_moment(moment)  # Explain takes a link's row only if this session did not write it
        st.switch_page(EXPLAIN.path, query_params=state.link_to(source, **state.fields_of(moment), **about))
