"""The way from any view to a presentation; it loads nothing of a model."""

from collections.abc import Mapping

import streamlit as st

from app.pages import PRESENT

_HELP = "Full-width slides, moved by arrow keys. For a room, start `recap app --large-text`."


def present_button(case: int, *, key: str = "present", edits: str = "") -> None:
    """Leads to the case's presentation."""
    if st.button("Present", icon=":material/slideshow:", type="tertiary", key=key, help=_HELP):
        params = {"case": str(case)} | ({"edits": edits} if edits else {})
        st.switch_page(PRESENT.path, query_params=params)


def present_deck_button(deck: Mapping[str, str], *, disabled: bool) -> None:
    """Leads to the presentation of several cases.

    Args:
        deck: how the link names them, see `app.components.present.deck`.
    """
    if st.button("Present", icon=":material/slideshow:", key="present", disabled=disabled, help=_HELP):
        st.switch_page(PRESENT.path, query_params=dict(deck))
