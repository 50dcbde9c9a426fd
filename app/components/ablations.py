"""What a page shows before the ablations of all cases were run."""

import streamlit as st

from app.cached.workspace import is_large, read_ablations
from app.components.text import quiet
from app.settings import AppSettings
from app.sources import Source


def ask_for_ablations(source: Source) -> None:
    """One line, and a button if they take minutes rather than hours."""
    if is_large(source) or AppSettings.from_environment().read_only:
        quiet("Not measured yet: run `recap long-tail --full`.")
        return
    quiet("Not measured yet: every case must be scored again without each part.")
    if st.button("Run the ablations", icon=":material/play_arrow:", key="run-ablations"):
        read_ablations(source)
        st.rerun()
