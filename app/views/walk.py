"""Walk: one trajectory on the map, stop by stop, with the model's predictions."""

from functools import partial

import streamlit as st

from analysis.trajectories.case_names import last_case
from analysis.trajectories.trajectory import read_trajectory
from app import state
from app.cached.workspace import first_case
from app.components.empty import source_with_cases
from app.components.error_boundary import error_boundary
from app.components.text import quiet
from app.components.walk import words
from app.components.walk.case_choice import (
    chosen_cases,
    count_and_jumps,
    filter_controls,
    filters_changed,
    pick_trajectory,
    walk_selection,
)
from app.components.walk.walk_player import show_walk_player


@error_boundary
def view() -> None:
    source, opened = source_with_cases(lists=True)
    if "case" not in st.session_state and "case" not in st.query_params:
        filters_changed()  # a link that names filters and no case opens the first case that passes
    only_cases = source.imported is not None
    moment = state.current_moment(opened, partial(first_case, source), only_cases=only_cases)
    case = last_case(opened.known, moment) if moment.case is None else moment.case
    st.session_state["case"] = case
    state.write_moment(moment, case=str(case))
    selection = walk_selection(source)
    with st.container(horizontal=True, vertical_alignment="center"):
        trajectory_slot = st.container(horizontal=True, width="content")
        filter_controls(source, selection)
        st.space("stretch")
        count_slot = st.container(horizontal=True, width="content", vertical_alignment="center", gap="xsmall")
    with st.container():  # a separate container, so that its changing lines do not move the map
        numbers = chosen_cases(source, selection)
    if st.session_state.get("filters_changed"):
        if len(numbers) and case not in numbers:
            case = int(numbers[0])
            state.set_case(case)
            state.write_moment(opened.moment(case))
        st.session_state["filters_changed"] = False  # last: a click may end this run at any line above
    with count_slot:
        count_and_jumps(source, case, numbers)
    if not len(numbers):
        st.title(words.NO_CASE, anchor=False)
        return
    trajectory = read_trajectory(opened, case)
    with trajectory_slot:
        pick_trajectory(source, trajectory, numbers)
    later = numbers[numbers > trajectory.cases[-1]]
    show_walk_player(source, trajectory, int(later[0]) if len(later) else None)
    if case not in numbers:
        quiet(words.NOT_AMONG.format(case=case))  # below, so that a filter never moves the map and the list


view()
