"""The button that opens a presentation; it loads nothing of a model."""

from collections.abc import Mapping
from typing import Literal

import streamlit as st

from analysis.cases import words
from app import address
from app.pages import PRESENT


def present_button(
    cases: Mapping[str, str], *, type: Literal["secondary", "tertiary"] = "tertiary", disabled: bool = False
) -> None:
    """Open the presentation of one case or of several, by the link's query, see `app.components.present.deck`."""
    if st.button(
        "Present", icon=":material/slideshow:", type=type, key="present", disabled=disabled, help=words.PRESENT_HELP
    ):
        address.go(PRESENT, cases)
