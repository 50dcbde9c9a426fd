"""What is taken from inside libraries is still there."""

from importlib.metadata import version

import plotly.graph_objects as go
import pydeck as pdk
from streamlit.testing.v1 import AppTest

from app.library_internals import current_run, take_over, tooltip_of

SEEN = {"pydeck": "0.9.3", "plotly": "7.1.0", "streamlit": "1.67.0"}
"""The versions in which each was looked up."""


def seen(library: str) -> str:
    return f"{library} {version(library)} differs from {SEEN[library]}, in which it was looked up"


def test_a_deck_has_its_tooltip() -> None:
    """Pydeck keeps it in `_tooltip`."""
    assert tooltip_of(pdk.Deck(tooltip={"text": "a"}, map_provider=None)) == {"text": "a"}, seen("pydeck")


def test_a_figure_becomes_another() -> None:
    """Plotly keeps all of a figure in its `__dict__`."""
    mine, other = go.Figure(), go.Figure(go.Bar(y=[1, 2]), {"title": {"text": "b"}})
    take_over(mine, other)
    assert mine.to_dict() == other.to_dict() and mine.layout.title.text == "b", seen("plotly")


def test_a_run_is_one_thing_and_the_next_another() -> None:
    """Streamlit makes a context's `cursors` again for each run."""

    def page() -> None:
        import streamlit as st

        from app.library_internals import current_run

        kept = st.session_state.setdefault("runs", [])
        kept += [current_run(), current_run()]

    app = AppTest.from_function(page).run().run()
    first, again, second, _ = app.session_state["runs"]
    assert first is again and first is not second and first is not None, seen("streamlit")
    assert current_run() is None
