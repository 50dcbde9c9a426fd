"""The way from any view to a case's presentation; it loads nothing of a model."""

import streamlit as st

from app.pages import PRESENT


def present_button(case: int, *, key: str = "present", edits: str = "") -> None:
    """Leads to the case's presentation."""
    if st.button("Present", icon=":material/slideshow:", type="tertiary", key=key, help="Full width, by arrow keys"):
        params = {"case": str(case)} | ({"edits": edits} if edits else {})
        st.switch_page(PRESENT.path, query_params=params)
