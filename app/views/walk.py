"""Walk: one trajectory on the map, step by step, with what the model predicts at each stop."""

import streamlit as st

from analysis.walks import read_walk, trajectories_of, users_of
from app import cache, state, words
from app.components.empty import no_source
from app.components.stage import show_stage
from recap.errors import RecapError


def view() -> None:
    source = state.current_source()
    if source is None:
        no_source()
        return
    opened = cache.open_dataset(source)
    if opened.cases.empty:
        st.info("This dataset has no test case, so there is nothing to walk through.")
        return
    case = state.current_case(len(opened.cases))
    numbers = cache.all_cases(source)
    walk = read_walk(opened, case)
    with st.container(horizontal=True, vertical_alignment="center"):
        users = users_of(opened, numbers)
        st.session_state["walker"] = walk.user
        st.selectbox("Walker", users, key="walker", format_func=words.walker, label_visibility="collapsed", width=150)
        if st.session_state["walker"] != walk.user:
            pass
        table = trajectories_of(opened, numbers, walk.user)
        st.session_state["trajectory"] = walk.trajectory
        names = {int(row.trajectory): f"{words.day(row.start)}, {row.stops} stops" for row in table.itertuples()}
        st.selectbox(
            "Trajectory",
            list(names),
            key="trajectory",
            format_func=names.__getitem__,
            label_visibility="collapsed",
            width=230,
        )
    show_stage(source, walk)


try:
    view()
except RecapError as error:
    st.error(words.plain(str(error)))
