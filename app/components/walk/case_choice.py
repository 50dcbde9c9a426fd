"""Choose what Walk shows: filters, search, a bar or cell of another view, a user and a trajectory."""

from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.formatting import day
from analysis.records.accuracy import is_known, shortest_list
from analysis.records.case_filters import (
    CAUSES,
    FILTERS,
    RANKED,
    cases_at_place,
    filter_cases,
    filter_labels,
    resolve_filter,
)
from analysis.trajectories.trajectory import Trajectory, trajectories_of, users_of
from app import state
from app.cached import comparisons
from app.cached.comparisons import Selection
from app.cached.workspace import open_workspace, read_ablations, read_records, waits_for_causes
from app.components.text import act_button, key_button, pick_number, quiet
from app.components.toolbar import source_picker
from app.components.walk import words
from app.sources import Source
from recap import columns as c
from recap.errors import ConfigError

MOST_USERS: Final = 2_000
"""Number of users in the list, near the chosen one; a longer list would be sent with every answer."""


def filters_changed() -> None:
    """Note that the case may have to follow the filters."""
    st.session_state["filters_changed"] = True


def filter_controls(source: Source, selection: Selection | None) -> None:
    labels = filter_labels(causes=source.has_parts and not waits_for_causes(source))
    asked = st.query_params.get_all("show")
    if any(label not in labels.values() for label in asked):  # of a baseline
        st.session_state["show"] = [name for name in map(resolve_filter, asked) if name is not None]
    st.pills(
        "Show cases",
        FILTERS,
        selection_mode="multi",
        format_func=labels.__getitem__,
        key="show",
        bind="query-params",
        persist_state="session",
        label_visibility="collapsed",
        wrap=True,
        on_change=filters_changed,
    )
    if selection is not None:
        act_button(
            comparisons.selection_label(source, selection),
            "clear-selection",
            _clear_selection,
            icon="close",
            icon_position="right",
            help="Show all cases again",
        )
    with st.popover("More", icon=":material/tune:", type="tertiary"):
        source_picker(source, lists=True)
        st.text_input(
            "Search a place or category",
            key="find",
            bind="query-params",
            persist_state="session",
            on_change=filters_changed,
            max_chars=80,
        )
        st.selectbox(
            words.RANK_LIMIT,
            (1, 5, 10, 20),
            index=3,
            key="k",
            on_change=filters_changed,
            bind="query-params",
            persist_state="session",
        )
        st.session_state["typed_case"] = st.session_state["case"]
        st.number_input(
            "Case",
            0,
            len(open_workspace(source).cases) - 1,
            key="typed_case",
            on_change=state.unless_late(lambda: state.set_case(int(st.session_state["typed_case"])), "case"),
        )


def walk_selection(source: Source) -> Selection | None:
    """The bar or cell of a link or a click."""
    asked = state.incoming("cases")
    if asked is not None:
        try:
            st.session_state["selection"] = comparisons.parse_selection(source, asked).text
        except ConfigError:
            st.warning(words.UNREADABLE_SELECTION)
            st.session_state["selection"] = None
    text = st.session_state.get("selection")
    state.write_param("cases", text)
    return comparisons.parse_selection(source, text) if text else None


def chosen_cases(source: Source, selection: Selection | None) -> np.ndarray:
    """Numbers of the cases that pass the pills, the bar or cell, and the search."""
    opened = open_workspace(source)
    numbers = _cases_that_show(source, list(st.session_state["show"]), st.session_state["k"])
    if selection is not None:
        numbers = np.intersect1d(numbers, np.flatnonzero(comparisons.selected_cases(source, selection)))
    search = st.session_state["find"]
    return np.intersect1d(numbers, cases_at_place(opened.dataset, opened.cases, search)) if search.strip() else numbers


def pick_trajectory(source: Source, trajectory: Trajectory, numbers: np.ndarray) -> None:
    """Choose a user and one of their trajectories that pass the filters."""
    opened = open_workspace(source)

    def go_to(column: str, number: int) -> None:
        """Open the choice's first case that passes the filters, or else its first case."""
        chosen = np.flatnonzero(opened.cases[column] == number)
        passing = np.intersect1d(chosen, numbers)
        state.set_case(int(passing[0] if len(passing) else chosen[0]))

    offered = np.union1d(users_of(opened, numbers), trajectory.user)
    at = int(np.searchsorted(offered, trajectory.user))
    names = {user: opened.user_name(user) for user in offered[max(at - MOST_USERS // 2, 0) :][:MOST_USERS].tolist()}
    look: dict[str, Any] = {"key": c.USER, "value": trajectory.user, "width": 130}
    pick_number("User", names, partial(go_to, c.USER), "case", **look)
    own = numbers[opened.cases[c.USER].to_numpy()[numbers] == trajectory.user]
    names = trajectory_names(trajectories_of(opened, np.union1d(own, trajectory.cases), trajectory.user))
    look = {"key": c.TRAJECTORY, "value": trajectory.number, "width": 190}
    pick_number("Trajectory", names, partial(go_to, c.TRAJECTORY), "case", **look)


def trajectory_names(table: pd.DataFrame) -> dict[int, str]:
    """Day and number of stops by trajectory; where two share both, also year and time.

    Args:
        table: see `trajectories_of`.
    """
    rows = list(zip(table[c.TRAJECTORY].tolist(), table["start"], table["stops"], strict=True))
    plain = [f"{day(start)}, {stops} stops" for _, start, stops in rows]
    exact = [f"{day(start)} {start:%Y, %H:%M}, {stops} stops" for _, start, stops in rows]
    names = [more if plain.count(name) > 1 else name for name, more in zip(plain, exact, strict=True)]
    return dict(zip((number for number, *_ in rows), names, strict=True))


def count_and_jumps(source: Source, case: int, numbers: np.ndarray) -> None:
    opened = open_workspace(source)
    total, users, with_cases = len(opened.cases), opened.dataset.num_users, opened.cases[c.USER].nunique()
    ways = (("back", "Left", numbers[numbers < case][-1:]), ("on", "Right", numbers[numbers > case][:1]))
    for way, side, found in ways:  # also without filters, so the page does not move
        icon, to = f":material/keyboard_double_arrow_{side.lower()}:", int(found[0]) if len(found) else case
        look = {"type": "tertiary", "disabled": len(found) == 0}
        tip = "Previous case" if way == "back" else "Next case"
        key_button(icon, f"jump-{way}", f"Shift+{side}", state.set_case, to, help=tip, **look)
    quiet(words.count_line(len(numbers), total, with_cases, users), width="content")


def _cases_that_show(source: Source, shown: list[str], k: int) -> np.ndarray:
    cases = open_workspace(source).cases
    if not set(shown) & RANKED:  # transition counts need no model
        return filter_cases(cases, None, shown)
    records, markov = read_records(source), read_records(source, "markov")
    if not is_known(records, f"hr{k}"):
        st.warning(words.ranks_unknown(k, shortest_list(records)))
        return np.arange(0)
    needs_causes = set(shown) & set(CAUSES) and not waits_for_causes(source)
    return filter_cases(records, markov, shown, k=k, ablations=read_ablations(source) if needs_causes else None)


def _clear_selection() -> None:
    st.session_state["selection"] = None
    filters_changed()
