"""Next: where a user, everyone, or a trajectory of your own goes next."""

from typing import Any

import streamlit as st

from analysis.trajectories.itinerary import Itinerary, rows_of_user
from analysis.trajectories.next_place import has_truth
from analysis.workspace import Workspace
from app import state
from app.cached import explanations
from app.cached.workspace import open_workspace
from app.components.empty import no_source
from app.components.error_boundary import error_boundary
from app.components.next import choice, words
from app.components.next.everyone import as_of_control, show_everyone
from app.components.next.prediction import show_prediction
from app.components.text import toggle
from app.components.toolbar import choice_control, source_picker
from app.components.walk.case_choice import MOST_USERS

_MOST_MOMENTS = 200  # check-ins in the list, near the chosen one


@error_boundary
def view() -> None:
    source = state.current_source()
    if source is None:
        no_source()
        return
    opened = open_workspace(source)
    explanations.open_model(source)
    with st.container(horizontal=True, vertical_alignment="center"):
        part = choice_control("part", {name: name for name in choice.PARTS}, choice.ONE, choice.PARTS)
        itinerary = Itinerary() if part == choice.EVERYONE else choice.current_itinerary(opened, part)
        if itinerary.user is not None:
            _pick_user(opened, itinerary.user)
        source_picker(source, width=250, says_start=False)
        st.space("stretch")
        back, only_new, show_truth = 0, False, False
        if part == choice.EVERYONE:
            back = as_of_control(source)
        else:
            look: dict[str, Any] = {"bind": "query-params", "persist_state": "session"}
            only_new = toggle("Only new places", key="new", help=words.NEW_HELP, **look)
        if part == choice.ONE:
            show_truth = _pick_moment(opened, itinerary)
    if part == choice.EVERYONE:
        show_everyone(source, back)
    else:
        show_prediction(source, part, itinerary, only_new=only_new, show_truth=show_truth)


def _pick_user(opened: Workspace, user: int) -> None:
    st.session_state["next-user"] = user
    first = min(max(user - MOST_USERS // 2, 0), max(opened.dataset.num_users - MOST_USERS, 0))
    st.selectbox(
        "User",
        list(range(first, min(first + MOST_USERS, opened.dataset.num_users))),
        key="next-user",
        format_func=opened.user_name,
        label_visibility="collapsed",
        width=130,
        on_change=state.unless_late(
            lambda: choice.show(opened, choice.ONE, choice.at_last(opened, st.session_state["next-user"])),
            *choice.FIELDS,
        ),
    )


def _pick_moment(opened: Workspace, itinerary: Itinerary) -> bool:
    """Choose a check-in of the user; returns whether what happened next is shown."""
    assert itinerary.user is not None and itinerary.row is not None
    rows = rows_of_user(opened, itinerary.user)
    first = max(min(itinerary.row - _MOST_MOMENTS // 2, rows[-1] + 1 - _MOST_MOMENTS), rows[0])
    offered = list(range(first, min(first + _MOST_MOMENTS, rows[-1] + 1)))[::-1]
    poi_N, time_N = opened.checkins.poi_T[offered].tolist(), opened.dataset.local_time.iloc[offered]
    names = {
        row: words.check_in(opened.labels[poi], when) for row, poi, when in zip(offered, poi_N, time_N, strict=True)
    }
    show_truth = False
    if has_truth(opened, itinerary):
        look: dict[str, Any] = {"bind": "query-params", "persist_state": "session"}
        show_truth = toggle("What happened", key="happened", help=words.HAPPENED_HELP, **look)
    st.session_state["next-row"] = itinerary.row
    st.selectbox(
        "As of",
        offered,
        key="next-row",
        format_func=lambda row: names.get(row, "earlier choice"),
        label_visibility="collapsed",
        width=240,
        help=words.AS_OF_HELP,
        on_change=state.unless_late(
            lambda: choice.show(opened, choice.ONE, Itinerary(itinerary.user, int(st.session_state["next-row"]))),
            *choice.FIELDS,
        ),
    )
    return show_truth


view()
