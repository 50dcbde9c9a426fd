"""The player of Walk: map, step controls and the list of predictions, redrawn alone on every step."""

import time
from collections.abc import Callable
from functools import partial

import streamlit as st

from analysis.phrases import phrase
from analysis.trajectories.cameras import MAP_HEIGHT_PX
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from app import state
from app.cached import explanations, maps
from app.cached.workspace import open_workspace
from app.components.cases.present_button import present_button
from app.components.error_boundary import error_boundary
from app.components.toolbar import downloads, legend, truth_toggle
from app.components.walk.predictions import show_predictions
from app.pages import EXPLAIN
from app.sources import Source
from recap import columns as c
from recap.printable import markdown_text

HALF_PX = 390
"""Two of them stand side by side from a window of 960 pixels on; below that each has the whole width."""
SECONDS_PER_STEP = 1.6


def show_walk_player(source: Source, trajectory: Trajectory) -> None:
    """Draw the current case of a walk; while playing, take a step every 1.6 s."""
    playing = bool(st.session_state.get("playing"))
    every = SECONDS_PER_STEP if playing else None
    player: Callable[[Source, Trajectory, bool], None] = st.fragment(run_every=every)(_draw)
    player(source, trajectory, playing)


@error_boundary
def _draw(source: Source, trajectory: Trajectory, playing: bool) -> None:
    if playing:
        _advance(trajectory)
    if bool(st.session_state.get("playing")) != playing:
        st.rerun()
    case = st.session_state["case"]
    if case not in trajectory.cases:  # a jump to another trajectory: the selectors above must follow
        st.rerun()
    state.set_case(case)
    opened = open_workspace(source)
    prediction = explanations.predict(source, case, st.session_state.get("top") or 10)
    title = st.container()
    grid = st.grid(2, min_column_width=HALF_PX)
    with grid.cell():
        above = st.container()
        show_truth = _controls(trajectory, case)
        credit = maps.attribution(source, online=bool(st.session_state.get("tiles")))
        has_shares = prediction.candidates["probability"].notna().all()
        size = "area is the model's share" if has_shares else "larger is ranked higher"
        legend(
            "**━** :gray[Path so far]",
            f":blue[●] :gray[Prediction, {size}]",
            *([":orange[◯] :gray[True next place]"] if show_truth else []),
            ":violet[●] :gray[Revisit]",
            f":green[━] :gray[{phrase('two_hop_path')}]",
            *([f":gray[{markdown_text(credit)}]"] if credit else []),
        )
    if not show_truth:  # the only place where they meet: nothing below knows the truth
        prediction = prediction.without_truth()
    places = [prediction.case[c.SOURCE], *([prediction.case[c.TARGET]] if show_truth else [])]
    names = [markdown_text(opened.labels[int(poi)]) for poi in places]
    with title:
        st.title(f"{names[0]} → :orange[{names[1] if show_truth else '?'}]", anchor=False)
    picked = state.current_place(case, opened.dataset.num_pois)
    with above:
        _map(source, trajectory, prediction, show_truth, picked)
    with grid.cell():
        show_predictions(source, trajectory, prediction, picked, show_truth)
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button(
                "Explain", icon=":material/arrow_forward:", icon_position="right", key="explain", shortcut="E"
            ):
                st.switch_page(EXPLAIN.path, query_params=state.link_to(source, case=str(case)))
            if source.has_parts and show_truth:  # Present tells the truth
                present_button(case)
            known = trajectory if show_truth else trajectory.until(case)
            _stops_table(known)
            shown = {"Predictions": prediction.candidates, "Two-hop paths": prediction.paths}
            shown["Stops"] = known.stops
            theme, marks = state.theme_palette().theme, _shown(show_truth)
            pictures: dict[str, Callable[[bool], bytes]] = {
                "Map": lambda exact: maps.walk_image(source, trajectory, prediction, theme, **marks, exact=exact)
            }
            downloads(lambda: shown, source=source, key="walk", pictures=pictures)


def _shown(show_truth: bool) -> dict[str, bool]:
    """What the map shows, by the toggles and the button below it."""
    paths, whole = bool(st.session_state.get("paths", True)), bool(st.session_state.get("whole_walk"))
    return {"show_truth": show_truth, "show_paths": paths, "whole_walk": whole}


def _map(
    source: Source, trajectory: Trajectory, prediction: CasePrediction, show_truth: bool, picked: int | None
) -> None:
    """The map; a click on a disc chooses its place, as a row of the list does, and a ring marks it."""
    palette = state.theme_palette()
    online = bool(st.session_state.get("tiles"))
    marks = _shown(show_truth)
    deck = maps.walk_map(source, trajectory, prediction, palette.theme, online=online, chosen=picked, **marks)
    names = ", ".join(prediction.candidates["name"].head(3))
    st.pydeck_chart(
        deck,
        height=MAP_HEIGHT_PX,
        key="map",
        on_select=partial(_choose_on_map, int(prediction.case[c.CASE])),
        alt=f"Map of the walk so far. Best predictions: {names}. The table beside holds the same places.",
    )


def _choose_on_map(case: int) -> None:
    chosen = st.session_state["map"]["selection"]["objects"].get("candidates", [])
    if chosen:
        state.choose_place(case, int(chosen[0][c.POI]))


def _controls(trajectory: Trajectory, case: int) -> bool:
    """Back, play, next, the slider over the trajectory's cases, and what the map shows; whether the truth is."""
    position = trajectory.cases.index(case)
    last = len(trajectory.cases) - 1
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.button(
            "Back",
            icon=":material/skip_previous:",
            type="tertiary",
            shortcut="Left",
            key="back",
            disabled=position == 0,
            on_click=state.set_case,
            args=(trajectory.cases[max(position - 1, 0)],),
        )
        playing = bool(st.session_state.get("playing"))
        st.button(
            "Pause" if playing else "Play",
            icon=f":material/{'pause' if playing else 'play_arrow'}:",
            shortcut="P",
            key="play",
            disabled=last == 0,
            on_click=_toggle_playing,
            args=(trajectory,),
        )
        st.button(
            "Next",
            icon=":material/skip_next:",
            type="tertiary",
            shortcut="Right",
            key="next",
            disabled=position == last,
            on_click=state.set_case,
            args=(trajectory.cases[min(position + 1, last)],),
        )
        if last > 0:
            labels = _stop_labels(trajectory)
            st.session_state["step"] = case
            st.select_slider(
                "Stop",
                trajectory.cases,
                key="step",
                format_func=labels.__getitem__,
                label_visibility="collapsed",
                width=200,
                on_change=state.unless_late(lambda: state.set_case(st.session_state["step"]), "case"),
            )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        whole = bool(st.session_state.get("whole_walk"))
        st.button(
            "Next places" if whole else "Whole walk",
            icon=f":material/{'center_focus_strong' if whole else 'fit_screen'}:",
            type="tertiary",
            key="fit",
            help="Show the place here and the first five predictions" if whole else "Show every stop up to now",
            on_click=lambda: st.session_state.update(whole_walk=not whole),
        )
        show_truth = truth_toggle()
        st.toggle("Paths", True, key="paths", bind="query-params")
    return show_truth


def _stop_labels(trajectory: Trajectory) -> dict[int, str]:
    """Local times of the cases; with the stop's number where two fall into one minute."""
    stops = trajectory.stops[trajectory.stops[c.CASE] >= 0]
    times = stops["local_time"].dt.strftime("%H:%M")
    labels = times if times.is_unique else times + " (" + stops["stop"].astype(str) + ")"
    return dict(zip(stops[c.CASE].astype(int), labels, strict=True))


def _toggle_playing(trajectory: Trajectory) -> None:
    """Start or stop; at the end, start again from the first case."""
    playing = not st.session_state.get("playing")
    st.session_state["playing"] = playing
    st.session_state["stepped_at"] = time.monotonic()
    if playing and st.session_state["case"] == trajectory.cases[-1]:
        state.set_case(trajectory.cases[0])


def _advance(trajectory: Trajectory) -> None:
    """One step when its time has come, so that a click in between does not hurry the walk."""
    now = time.monotonic()
    if now - st.session_state.get("stepped_at", 0.0) < SECONDS_PER_STEP * 0.8:
        return
    st.session_state["stepped_at"] = now
    case = st.session_state["case"]
    position = trajectory.cases.index(case) if case in trajectory.cases else 0
    if position + 1 < len(trajectory.cases):
        state.set_case(trajectory.cases[position + 1])
    if position + 2 >= len(trajectory.cases):
        st.session_state["playing"] = False


def _stops_table(trajectory: Trajectory) -> None:
    with st.popover("Table of stops", icon=":material/table_rows:", type="tertiary"):
        table = trajectory.stops[["stop", "local_time", "name", c.CASE]].copy()
        table[c.CASE] = ["" if case < 0 else str(case) for case in table[c.CASE]]
        st.dataframe(
            table,
            hide_index=True,
            column_config={
                "stop": st.column_config.NumberColumn("#", width=45),
                "local_time": st.column_config.DatetimeColumn("Time", format="ddd D MMM, HH:mm", width=140),
                "name": st.column_config.TextColumn("Place", width=220),
                "case": st.column_config.TextColumn("Case", width=70, help="The test case that starts here, if any."),
            },
        )
