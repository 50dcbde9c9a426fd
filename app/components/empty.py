"""Empty states of the app."""

import streamlit as st

from analysis.workspace import Workspace
from app import state
from app.cached.workspace import open_workspace
from app.components import words
from app.pages import OPEN_DATA, RUNS
from app.settings import AppSettings
from app.sources import Source


def source_with_cases(*, lists: bool = False) -> tuple[Source, Workspace] | None:
    """The chosen source and its dataset; None, with a message, without a source or test case.

    Args:
        lists: see `app.state.current_source`.
    """
    source = state.current_source(lists=lists)
    if source is None:
        no_source()
        return None
    opened = open_workspace(source)
    if opened.cases.empty:
        st.info(words.NO_TEST_CASE)
        return None
    return source, opened


def train_button() -> None:
    if st.button("Train RECAP", icon=":material/play_arrow:", key="train"):
        st.switch_page(RUNS.path)


def open_data_button() -> None:
    if not AppSettings.from_environment().read_only and st.button(
        "Open your data", icon=":material/upload_file:", type="tertiary", key="open-data"
    ):
        st.switch_page(OPEN_DATA.path)


def no_source() -> None:
    """The empty state without any dataset."""
    st.title("Nothing to open yet")
    st.markdown(words.NO_SOURCE)
    open_data_button()
    st.code(
        "recap prepare check-ins.txt --format foursquare --out data\n"
        "recap train data --out checkpoint\n"
        "recap app --data data --checkpoint checkpoint",
        language=None,
    )
