"""Save all models and metrics as one table for a paper."""

from functools import partial
from typing import Final

import streamlit as st

from analysis.compare import words
from app.cached.comparisons import all_models_table
from app.components.text import quiet, toggle
from app.components.toolbar import save_button
from app.sources import Source

_FORMS: Final = {"markdown": ("Markdown", "md"), "latex": ("LaTeX", "tex"), "csv": ("CSV", "csv")}
"""Name and ending of each form of `write_table`."""


def save_all_models(source: Source, metric: str, against: str) -> None:
    """A button for each form; models whose test cases are not ranked yet are left out."""
    quiet(words.ALL_MODELS)
    intervals = toggle("Intervals", key="all-models-intervals", help=words.INTERVALS_HELP)
    with st.container(horizontal=True):
        for form, (name, ending) in _FORMS.items():
            write = partial(_written, source, form, intervals, metric, against)
            save_button(name, write, f"all-models.{ending}", key=f"all-models-{form}")


def _written(source: Source, form: str, intervals: bool, metric: str, against: str) -> bytes:
    return all_models_table(source, form, intervals=intervals, metric=metric, against=against).encode()
