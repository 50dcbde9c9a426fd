"""The state of a page before the ablations of all cases were run."""

import streamlit as st

from app.cached.workspace import is_large, read_ablations
from app.components import words
from app.components.text import quiet
from app.settings import AppSettings
from app.sources import Source


def ask_for_ablations(source: Source) -> None:
    """A note, with a button if they take minutes and not hours."""
    if is_large(source) or AppSettings.from_environment().read_only:
        quiet(words.NOT_MEASURED)
        return
    quiet(words.CAN_MEASURE)
    if st.button("Run the ablations", icon=":material/play_arrow:", key="run-ablations"):
        read_ablations(source)
        st.rerun()
