"""Next: where a user, everyone, or a trajectory of your own goes next."""

from typing import Any, Final

import numpy as np
import streamlit as st

from analysis.workspace import Workspace
from app import state
from app.cached import explanations
from app.cached.workspace import open_workspace
from app.components.empty import no_source
from app.components.error_boundary import error_boundary
from app.components.next import choice, words
from app.components.next.everyone import as_of_control, show_everyone
from app.components.next.prediction import show_beginning, show_prediction
from app.components.text import quiet, toggle
from app.components.toolbar import choice_control, source_picker
from app.components.walk.case_choice import MOST_USERS
from recap.itinerary import Itinerary

_MOST_MOMENTS: Final = 200  # check-ins in the list, near the chosen one
_KEPT: Final[dict[str, Any]] = {"bind": "query-params", "persist_state": "session"}


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
        itinerary = choice.current_itinerary(opened, part)
        if part == choice.ONE:
            users = _near(itinerary.user, range(opened.dataset.num_users), MOST_USERS)
            _pick("User", opened, itinerary, users, dict(zip(users, map(opened.user_name, users), strict=True)), 130)
        source_picker(source, width=250, says_start=False)
        st.space("stretch")
        back, only_new, show_truth = 0, False, False
        if part == choice.EVERYONE:
            quiet(words.AS_OF, width="content")
            back = as_of_control(source)
        else:
            only_new = toggle("Only new places", key="new", help=words.NEW_HELP, **_KEPT)
        if part == choice.ONE and itinerary.next_place(opened.dataset) is not None:
            show_truth = toggle("What happened", key="happened", help=words.HAPPENED_HELP, **_KEPT)
        if part == choice.ONE:
            quiet(words.AS_OF, width="content")
            first, last = np.searchsorted(opened.checkins.user_T.numpy(), [itinerary.user, itinerary.user + 1])
            rows = _near(itinerary.row, range(int(first), int(last)), _MOST_MOMENTS)[::-1]
            poi_N, time_N = opened.checkins.poi_T[rows].tolist(), opened.dataset.local_time.iloc[rows]
            names = [words.check_in(opened.labels[poi], when) for poi, when in zip(poi_N, time_N, strict=True)]
            _pick("As of", opened, itinerary, rows, dict(zip(rows, names, strict=True)), 240)
    if part == choice.EVERYONE:
        show_everyone(source, back)
    elif itinerary.is_empty:
        show_beginning(source, itinerary)
    else:
        show_prediction(source, itinerary, only_new=only_new, show_truth=show_truth)


def _near(chosen: int, every: range, most: int) -> list[int]:
    """At most so many numbers around the chosen one."""
    first = max(min(chosen - most // 2, every.stop - most), every.start)
    return list(every[first - every.start :][:most])


def _pick(
    label: str, opened: Workspace, itinerary: Itinerary, offered: list[int], names: dict[int, str], width: int
) -> None:
    """A list of users, or of the user's check-ins."""
    is_user = label == "User"
    key = "next-user" if is_user else "next-row"
    st.session_state[key] = itinerary.user if is_user else itinerary.row

    def choose() -> None:
        number = int(st.session_state[key])
        choice.show(choice.at_last(opened, number) if is_user else Itinerary(itinerary.user, number))

    st.selectbox(
        label,
        offered,
        key=key,
        format_func=lambda number: names.get(number, "earlier choice"),
        label_visibility="collapsed",
        width=width,
        help=None if is_user else words.AS_OF_HELP,
        on_change=state.unless_late(choose, *choice.FIELDS),
    )


view()
