"""A scene: its finding, its charts, and the handles that move it."""

from functools import partial

import streamlit as st

from analysis.learn.charts import Chart, Picture, PlaceMap
from analysis.learn.drawing import draw
from analysis.learn.lesson import Handle, Lesson, Scene
from app import state
from app.components.chart_table import chart_table, show_figure, show_wide
from app.components.learn.place import handle_key, handle_positions, start_handles
from app.components.text import quiet, section
from recap.machine.printable import markdown_text


def move_handles(lesson: Lesson) -> tuple[int, ...]:
    """Show the lesson's handles; returns their positions."""
    start_handles(lesson)
    row = st.grid(min(3, len(lesson.handles)), min_column_width=230)
    for handle in lesson.handles:
        with row.cell():
            one_handle(handle, handle_key(lesson, handle))
    return handle_positions(lesson)


def one_handle(handle: Handle, key: str) -> int:
    """A slider over positions, or a list of them; its key must be in the session."""
    options = list(range(len(handle.positions)))
    if handle.kind == "list":
        return st.selectbox(handle.label, options, format_func=handle.positions.__getitem__, key=key, width=420)
    chosen: int = st.select_slider(handle.label, options, format_func=handle.positions.__getitem__, key=key)
    return chosen


def show_scene(scene: Scene, key: str, lesson: Lesson | None = None) -> None:
    """The finding as a heading, then the charts and a line below; clicks on a map choose from the lesson's list."""
    section(markdown_text(scene.finding))
    grid = st.grid(len(scene.charts), min_column_width=380, gap="medium")
    for number, chart in enumerate(scene.charts):
        with grid.cell():
            show_chart(chart, f"{key}_{number}", lesson)
    if scene.note:
        quiet(markdown_text(scene.note))
    chart_table({f"Figure {number + 1}": chart.table() for number, chart in enumerate(scene.charts)}, key)


def show_chart(chart: Chart, key: str, lesson: Lesson | None = None) -> None:
    """One chart; if the lesson has a list of places, those of a map can be clicked."""
    figure = draw(chart, state.theme_palette())
    if isinstance(chart, PlaceMap) and chart.clickable and lesson is not None:
        show_figure(figure, key, chart.says, on_select=partial(_clicked, chart, key, lesson), selection_mode="points")
    else:
        show_wide(figure, key, chart.says, chart.least_px if isinstance(chart, Picture) else 1)


def _clicked(chart: PlaceMap, key: str, lesson: Lesson) -> None:
    """Choose the clicked place in the lesson's list."""
    points = st.session_state[key]["selection"]["points"]
    handle = next((handle for handle in lesson.handles if handle.kind == "list"), None)
    if not points or handle is None:
        return
    place = points[0].get("customdata")
    name = chart.names.get(int(place[0] if isinstance(place, (list, tuple)) else place)) if place is not None else None
    if name in handle.positions:
        st.session_state[handle_key(lesson, handle)] = handle.positions.index(name)
