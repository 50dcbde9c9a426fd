"""Walk: one trajectory on the map, step by step, with what the model predicts at each stop."""

from typing import Final

import numpy as np
import streamlit as st

from analysis.formatting import day, user_name
from analysis.records.accuracy import is_known, shortest_list
from analysis.records.case_filters import (
    CAUSES,
    FILTERS,
    RANKED,
    cases_at_place,
    cases_of_steps,
    filter_cases,
    filter_labels,
    resolve_filter,
)
from analysis.trajectories.trajectory import (
    Trajectory,
    case_of_next_user,
    read_trajectory,
    trajectories_of,
    users_of,
)
from app import state
from app.cached import comparisons
from app.cached.comparisons import Selection
from app.cached.workspace import open_workspace, read_ablations, read_records, waits_for_causes
from app.components.empty import source_with_cases
from app.components.error_boundary import error_boundary
from app.components.text import quiet
from app.components.toolbar import source_picker
from app.components.walk.walk_player import show_walk_player
from app.sources import Source
from recap import columns as c
from recap.errors import ConfigError

# Users up to which all are offered in a list, New York's thousand among them; of more one types a number.
MOST_USERS: Final = 2_000


@error_boundary
def view() -> None:
    there = source_with_cases("so there is nothing to walk through", lists=True)
    if there is None:
        return
    source, opened = there
    if "case" not in st.session_state and "case" not in st.query_params:
        filters_changed()  # a link that names filters and no case opens the first case that passes
    case = state.current_case(len(opened.cases))
    selection = current_selection(source)
    with st.container(horizontal=True, vertical_alignment="center"):
        trajectory_slot = st.container(horizontal=True, width="content")
        filter_controls(source)
    # A row of its own that is always there: a filter that is chosen adds to it and moves nothing.
    with st.container(horizontal=True, vertical_alignment="center"):
        count_slot = st.container(horizontal=True, width="content", vertical_alignment="center")
        chosen_selection(source, selection)
    notes = st.container()  # of their own: they come and go, and the map below must keep its place in the page
    with notes:
        numbers = chosen_cases(source, selection)
    if st.session_state.get("filters_changed"):
        if len(numbers) and case not in numbers:
            case = int(numbers[0])
            state.set_case(case)
        st.session_state["filters_changed"] = False  # last: a click may end this run at any line above
    trajectory = read_trajectory(opened, case)
    with trajectory_slot:
        pick_trajectory(source, trajectory, numbers)
    with count_slot:
        count_and_jumps(case, numbers, len(opened.cases))
    show_walk_player(source, trajectory)
    # Below, so that a filter never moves the map and the list.
    if len(numbers) == 0:
        st.info(f"No case passes these filters. Above is case {case}, chosen before; take a filter away to see more.")
    elif case not in numbers:
        quiet(f"Case {case} comes from a link or an earlier choice and does not pass the filters above.")


def chosen_cases(source: Source, selection: Selection | None) -> np.ndarray:
    """The cases that pass the pills, the bar or cell, and the search."""
    opened = open_workspace(source)
    numbers = _cases_that_show(source, list(st.session_state["show"]), st.session_state["k"])
    if selection is not None:
        numbers = np.intersect1d(numbers, np.flatnonzero(comparisons.selected_cases(source, selection)))
    search = st.session_state["find"]
    return np.intersect1d(numbers, cases_at_place(opened.dataset, opened.cases, search)) if search.strip() else numbers


def _cases_that_show(source: Source, shown: list[str], k: int) -> np.ndarray:
    """Numbers of the cases that pass every pill."""
    opened = open_workspace(source)
    if not set(shown) & RANKED:  # how often a step was seen needs no model
        return cases_of_steps(opened.cases, shown) if shown else np.arange(len(opened.cases))
    records, markov = read_records(source), read_records(source, "markov")
    if not is_known(records, f"hr{k}"):
        st.warning(
            f"Missed and found are not known within {k}: the shortest imported list holds "
            f"{shortest_list(records)} places. Choose a smaller rank in More, or no such filter."
        )
        return np.arange(len(opened.cases))[:0]
    needs_causes = set(shown) & set(CAUSES) and not waits_for_causes(source)
    return filter_cases(records, markov, shown, k=k, ablations=read_ablations(source) if needs_causes else None)


def current_selection(source: Source) -> Selection | None:
    """The bar or cell that a link or a click chose."""
    asked = state.incoming("cases")
    if asked is not None:
        try:
            st.session_state["selection"] = comparisons.parse_selection(source, asked).text
        except ConfigError:
            st.warning("The link's choice of cases cannot be read, so all cases are shown.")
            st.session_state["selection"] = None
    text = st.session_state.get("selection")
    state.write_param("cases", text)
    return comparisons.parse_selection(source, text) if text else None


def filters_changed() -> None:
    """Remember that the case may have to follow the filters."""
    st.session_state["filters_changed"] = True


def clear_selection() -> None:
    """Take the bar or cell away."""
    st.session_state["selection"] = None
    filters_changed()


def pick_trajectory(source: Source, trajectory: Trajectory, numbers: np.ndarray) -> None:
    """Choose a user and one of their trajectories among those that pass the filters."""
    opened = open_workspace(source)

    def to_user() -> None:
        user = st.session_state["user"]
        mine = numbers[opened.cases[c.USER].to_numpy()[numbers] == user]
        state.set_case(int(mine[0] if len(mine) else np.flatnonzero(opened.cases[c.USER] == user)[0]))

    def to_next_user() -> None:
        asked = int(st.session_state["user"])
        offered = numbers if len(numbers) else np.arange(len(opened.cases))
        state.set_case(case_of_next_user(opened, offered, asked, forwards=asked >= trajectory.user))

    def to_trajectory() -> None:
        trajectory = st.session_state["trajectory"]
        mine = numbers[opened.cases[c.TRAJECTORY].to_numpy()[numbers] == trajectory]
        state.set_case(int(mine[0] if len(mine) else np.flatnonzero(opened.cases[c.TRAJECTORY] == trajectory)[0]))

    st.session_state["user"] = trajectory.user
    if opened.dataset.num_users > MOST_USERS:  # a list of all would be made and sent again with every answer
        st.number_input(
            "User",
            0,
            opened.dataset.num_users - 1,
            key="user",
            label_visibility="collapsed",
            width=145,
            on_change=state.unless_late(to_next_user, "case"),
            help="A user's number; without a test case that passes, the next user who has one is shown.",
        )
    else:
        st.selectbox(
            "User",
            sorted({*users_of(opened, numbers), trajectory.user}),
            key="user",
            format_func=user_name,
            label_visibility="collapsed",
            width=145,
            on_change=state.unless_late(to_user, "case"),
        )
    users = opened.cases[c.USER].to_numpy()  # ascending, as cases are
    first, end = np.searchsorted(users, [trajectory.user, trajectory.user + 1])
    own = numbers[(numbers >= first) & (numbers < end)]
    table = trajectories_of(opened, np.union1d(own, trajectory.cases), trajectory.user)
    names = {
        int(trajectory): f"{day(start)}, {stops} stops"
        for trajectory, start, stops in zip(table[c.TRAJECTORY], table["start"], table["stops"], strict=True)
    }
    st.session_state["trajectory"] = trajectory.number
    st.selectbox(
        "Trajectory",
        list(names),
        key="trajectory",
        format_func=lambda trajectory: names.get(trajectory, "earlier choice"),
        label_visibility="collapsed",
        width=200,
        on_change=state.unless_late(to_trajectory, "case"),
    )


def filter_controls(source: Source) -> None:
    """Pills, and further choices behind a button."""
    labels = filter_labels(causes=source.has_parts and not waits_for_causes(source))
    asked = st.query_params.get_all("show")
    meant = [name for name in map(resolve_filter, asked) if name is not None]
    if any(
        label not in labels.values() for label in asked
    ):  # a link from before a filter was renamed, or of a baseline
        st.session_state["show"] = meant
    st.pills(
        "Show cases",
        FILTERS,
        selection_mode="multi",
        format_func=labels.__getitem__,
        key="show",
        bind="query-params",
        label_visibility="collapsed",
        on_change=filters_changed,
    )
    with st.popover("More", icon=":material/tune:", type="tertiary"):
        source_picker(source, lists=True)
        st.text_input(
            "Search a place or category", key="find", bind="query-params", on_change=filters_changed, max_chars=80
        )
        st.selectbox(
            "Missed and found: rank up to",
            (1, 5, 10, 20),
            index=3,
            key="k",
            on_change=filters_changed,
            bind="query-params",
        )
        st.selectbox("Places listed", (5, 10, 20), index=1, key="top", bind="query-params")
        opened = open_workspace(source)
        st.session_state["typed_case"] = st.session_state["case"]
        st.number_input(
            "Case",
            0,
            len(opened.cases) - 1,
            key="typed_case",
            on_change=state.unless_late(lambda: state.set_case(int(st.session_state["typed_case"])), "case"),
        )
        st.toggle(
            "Online map tiles",
            key="tiles",
            persist_state="session",
            help="Off: nothing leaves this machine. On: your browser asks carto.com for the visible stretch of map.",
        )


def chosen_selection(source: Source, selection: Selection | None) -> None:
    """A button for the bar or cell that no pill shows; it takes the choice away."""
    if selection is not None:
        st.button(
            comparisons.selection_label(source, selection),
            icon=":material/close:",
            icon_position="right",
            on_click=clear_selection,
            key="clear-selection",
            help="Show all cases again",
        )


def count_and_jumps(case: int, numbers: np.ndarray, total: int) -> None:
    """How many cases pass, and the way to the one before and after."""
    before, after = numbers[numbers < case], numbers[numbers > case]
    st.button(  # there without filters too: what comes and goes would move the page
        "Previous case",
        icon=":material/keyboard_double_arrow_left:",
        type="tertiary",
        shortcut="Shift+Left",
        disabled=len(before) == 0,
        key="jump-back",
        on_click=state.set_case,
        args=(int(before[-1]) if len(before) else case,),
    )
    st.button(
        "Next case",
        icon=":material/keyboard_double_arrow_right:",
        type="tertiary",
        shortcut="Shift+Right",
        disabled=len(after) == 0,
        key="jump-on",
        on_click=state.set_case,
        args=(int(after[0]) if len(after) else case,),
    )
    quiet(f"{len(numbers):,} of {total:,} cases", width="content")


view()
