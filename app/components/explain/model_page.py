"""Explain, "The model": how RECAP scores, drawn once, with the current case as its example."""

import streamlit as st

from app.sources import Source


def show_model_page(source: Source, case: int, *, about: int | None, against: int | None) -> None:
    """Everything under the row of selectors.

    Args:
        about: the place whose numbers the drawing shows; None for the true next place.
        against: the place it is compared with; None for the best other one.
    """
    st.title("How RECAP scores", anchor=False)
