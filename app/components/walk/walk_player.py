"""The player of Walk: map, controls and the list of predictions, redrawn alone on every stop."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from analysis.explain.types import NOT_KNOWN_YET
from analysis.trajectories.cameras import MAP_HEIGHT_PX
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory, last_moment, read_trajectory
from app import address, state
from app.cached import explanations, maps
from app.cached.workspace import open_workspace
from app.components.cases.present_button import present_button
from app.components.chart_table import chart_table
from app.components.error_boundary import error_boundary
from app.components.text import key_button, pick
from app.components.toolbar import downloads, legend, offer_figure, open_case_button, switch, truth_toggle
from app.components.walk import words
from app.components.walk.predictions import LIST_NINTHS, MAP_NINTHS, NINTH_PX, show_predictions
from app.headings import STOP_HEADINGS
from app.pages import EXPLAIN
from app.sources import Source
from recap import columns as c
from recap.history.moments import Moment

SECONDS_PER_STEP = 1.6


def show_walk_player(source: Source, trajectory: Trajectory, following: int | None) -> None:
    """Draw the current case of a trajectory; playing moves on every 1.6 s, after the last one to ``following``."""
    playing = bool(st.session_state.get("playing"))
    player: Callable[[Source, Trajectory, int | None, bool], None]
    player = st.fragment(run_every=SECONDS_PER_STEP if playing else None)(_draw)
    player(source, trajectory, following, playing)


@error_boundary
def _draw(source: Source, trajectory: Trajectory, following: int | None, playing: bool) -> None:
    steps = _steps(source, trajectory)
    labels = _stop_labels(trajectory, len(steps))
    if playing:
        _advance(source, steps, following)
    if bool(st.session_state.get("playing")) != playing:
        st.rerun()
    opened = open_workspace(source)
    moment = st.session_state.get("moment")
    if moment not in steps:
        moment = opened.moment(st.session_state["case"])
    if moment not in steps:  # a jump to another trajectory: the selectors above must follow
        st.rerun()
    state.set_moment(moment)
    state.write_moment(moment, case=str(st.session_state["case"]))
    opened = opened.at(moment)
    if moment.case is None:  # the user's last check-in, maybe on a later trajectory
        trajectory = read_trajectory(opened, moment)
    prediction = explanations.predict(source, moment)
    is_known = prediction.has_truth
    title = st.container()
    grid = st.grid(9, min_column_width=NINTH_PX)
    with grid.cell(column_span=MAP_NINTHS):
        shows = _controls(steps, labels, moment, following, has_paths=prediction.reads_paths)
        above = st.container()
        show_truth = shows and is_known
        legend(*words.legend(prediction, truth=show_truth))
    target = opened.labels[int(prediction.case[c.TARGET])] if show_truth else None if is_known else NOT_KNOWN_YET
    if not show_truth:  # from here on, nothing knows the truth
        prediction = prediction.without_truth()
    with title:
        st.title(words.title(opened.labels[int(prediction.case[c.SOURCE])], target), anchor=False)
    picked = state.current_place(moment.row, opened.dataset.num_pois)
    shown = {"show_truth": show_truth, "show_paths": address.chosen("paths") is not False}
    with above:
        _map(source, trajectory, prediction, picked, shown)
    right = grid.cell(column_span=LIST_NINTHS)
    with right, show_predictions(source, trajectory, prediction, picked, show_truth):
        # Not while a timer runs: Streamlit would answer its last tick after the switch, and empty the new page.
        open_case_button(EXPLAIN, source, moment, key="explain", shortcut="E", disabled=playing)
        if source.has_parts and show_truth:  # Present shows the truth
            present_button(state.fields_of(moment), disabled=playing)
    with right, st.container(horizontal=True, vertical_alignment="center"):
        known = trajectory if show_truth else trajectory.until(moment.row)
        _stops_table(known)
        tables = {"Predictions": prediction.candidates, "Two-hop paths": prediction.paths, "Stops": known.stops}
        theme = state.theme_palette().theme
        name = "Map, time given" if source.reads_time else "Map"
        offer_figure(name, partial(maps.walk_image, source, trajectory, prediction, theme, **shown))
        downloads(lambda: tables, source=source, key="walk")


def _steps(source: Source, trajectory: Trajectory) -> list[Moment]:
    """The trajectory's cases, then the user's last check-in if no later trajectory has a case.

    Imported lists and models that read the next check-in's time end with the last case.
    """
    if source.imported is not None or explanations.ready(source).scorer.reads_target_time:
        return trajectory.moments
    last = last_moment(open_workspace(source), trajectory)
    return trajectory.moments if last is None else [*trajectory.moments, last]


def _map(
    source: Source, trajectory: Trajectory, prediction: CasePrediction, picked: int | None, shown: dict[str, bool]
) -> None:
    """The map; a click on a disc chooses its place."""
    what = (open_workspace(source).at(prediction.moment), trajectory, prediction)
    deck = maps.draw_map(source, maps.walk_map, *what, chosen=picked, **shown)
    st.pydeck_chart(
        deck,
        height=MAP_HEIGHT_PX,
        key="map",
        on_select=partial(_choose_on_map, int(prediction.case[c.ROW])),
        alt=words.map_alt(prediction.candidates["name"].head(3).tolist()),
    )


def _choose_on_map(row: int) -> None:
    chosen = st.session_state["map"]["selection"]["objects"].get("candidates", [])
    if chosen:
        state.choose_place(row, int(chosen[0][c.POI]))


def _controls(
    steps: list[Moment], labels: list[str], moment: Moment, following: int | None, *, has_paths: bool
) -> bool:
    """Buttons, the slider over the steps, and map options; returns whether the truth is shown."""
    position, last = steps.index(moment), len(steps) - 1
    playing = bool(st.session_state.get("playing"))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        look: dict[str, Any] = {"type": "tertiary", "disabled": position == 0}
        before, after = steps[max(position - 1, 0)], steps[min(position + 1, last)]
        key_button("Back", "back", "Left", state.set_moment, before, icon=":material/skip_previous:", **look)
        icon, stops_here = f":material/{'pause' if playing else 'play_arrow'}:", position == last and following is None
        key_button("Pause" if playing else "Play", "play", "P", _toggle_playing, icon=icon, disabled=stops_here)
        look["disabled"] = position == last
        key_button("Next", "next", "Right", state.set_moment, after, icon=":material/skip_next:", **look)
        if last > 0:
            look = {"key": "step", "value": position, "format_func": labels.__getitem__, "width": 170}

            def move() -> None:
                state.set_moment(steps[st.session_state["step"]])

            pick(st.select_slider, "Stop", list(range(len(steps))), move, *state.MOMENT, **look)
        st.space("stretch")
        show_truth = truth_toggle()
        if has_paths:
            switch("paths", "Paths", True)
    return show_truth


def _stop_labels(trajectory: Trajectory, steps: int) -> list[str]:
    """Local times of the cases, with the stop's number if two are in one minute."""
    stops = trajectory.stops[trajectory.stops[c.CASE] >= 0]
    times = stops["local_time"].dt.strftime("%H:%M")
    labels = times if times.is_unique else times + " (" + stops["stop"].astype(str) + ")"
    return [*labels, *[words.LAST_STOP] * (steps - len(labels))]


def _toggle_playing() -> None:
    st.session_state["playing"] = not st.session_state.get("playing")
    st.session_state["stepped_at"] = time.monotonic()


def _advance(source: Source, steps: list[Moment], following: int | None) -> None:
    """Advance one stop if it is time; a click does not speed it up."""
    now = time.monotonic()
    if now - st.session_state.get("stepped_at", 0.0) < SECONDS_PER_STEP * 0.8:
        return
    st.session_state["stepped_at"] = now
    opened = open_workspace(source)
    moment = st.session_state.get("moment") or opened.moment(st.session_state["case"])
    later = steps[steps.index(moment) + 1 :] if moment in steps else []
    ahead = [*later, *([] if following is None else [opened.moment(following)])]
    if ahead:
        state.set_moment(ahead[0])
    if len(ahead) < 2 and following is None:
        st.session_state["playing"] = False


def _stops_table(trajectory: Trajectory) -> None:
    table = trajectory.stops[["stop", "local_time", "name", c.CASE]].copy()
    table[c.CASE] = ["" if case < 0 else str(case) for case in table[c.CASE]]
    chart_table({"Stops": table}, "stops", headings=STOP_HEADINGS, label="Stops")
