"""A training inside a lesson: its handles, a button, a bar of progress, and what came out."""

import streamlit as st

from analysis.learn.lesson import Lesson, Scene, Training
from analysis.registers import Register
from app.cached import threads  # noqa: F401 # one thread
from app.components.learn.scenes import one_handle, show_scene
from app.components.text import quiet


def show_training(lesson: Lesson, training: Training, register: Register) -> None:
    """Set up, train while the bar moves, and show the result until something else is trained."""
    key = f"learn_{lesson.outline.key}_training"
    st.markdown(training.words)
    row = st.grid(min(3, len(training.handles)), min_column_width=230)
    at = []
    for handle in training.handles:
        with row.cell():
            name = f"{key}_{handle.name}"
            st.session_state.setdefault(name, handle.start)
            at.append(one_handle(handle, name))
    clicked = st.button(training.label, key=f"{key}_run", icon=":material/play_arrow:")
    place = st.container()
    made: dict[tuple[int, ...], Scene] = st.session_state.setdefault(f"{key}_{register}_made", {})
    if clicked and tuple(at) not in made:
        with place:
            bar = st.progress(0.0, "Starting")

            def tell(done: int, total: int, words: str) -> None:
                bar.progress(min(done / total, 1.0), words)

            made[tuple(at)] = training.run(tuple(at), tell)
            bar.empty()
    with place:
        if tuple(at) in made:
            show_scene(made[tuple(at)], f"{key}_result")
        elif made:
            quiet("You moved something: train again to see what it changes.")
