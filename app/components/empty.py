"""What a visitor sees where there is nothing to show yet."""

import streamlit as st

from analysis.workspace import Workspace
from app import state
from app.cached.workspace import open_workspace
from app.sources import Source


def source_with_cases(otherwise: str, *, lists: bool = False) -> tuple[Source, Workspace] | None:
    """The chosen source and its dataset; None where there is none or it has no test case, which is said then.

    Args:
        otherwise: what cannot be done without test cases, as "so there is nothing to compare".
        lists: see `app.state.current_source`.
    """
    source = state.current_source(lists=lists)
    if source is None:
        no_source()
        return None
    opened = open_workspace(source)
    if opened.cases.empty:
        st.info(f"This dataset has no test case, {otherwise}.")
        return None
    return source, opened


def no_source() -> None:
    """The helpful empty state of an app without any dataset."""
    st.title("Nothing to open yet")
    st.markdown("This app opens datasets and checkpoints made on this machine. Three commands make both:")
    st.code(
        "recap prepare check-ins.txt --format foursquare --out data\n"
        "recap train data --out checkpoint\n"
        "recap app --data data --checkpoint checkpoint",
        language=None,
    )
