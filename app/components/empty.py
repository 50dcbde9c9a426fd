"""Empty states of the app."""

import streamlit as st

from analysis.workspace import Workspace
from app import state
from app.cached.workspace import open_workspace
from app.components import words
from app.components.error_boundary import NothingToShowError
from app.components.toolbar import source_picker
from app.pages import OPEN_DATA, RUNS
from app.settings import AppSettings
from app.sources import Source
from recap import columns as c
from recap.data.cleaning import advise_gap


def source_with_cases(*, lists: bool = False) -> tuple[Source, Workspace]:
    """The chosen source and its dataset, see `open_source`; without a test case, a message ends the page."""
    source = open_source(lists=lists)
    opened = open_workspace(source)
    if opened.cases.empty:
        checkins = opened.dataset.checkins
        seconds = checkins[c.TIME].to_numpy("datetime64[s]").astype("int64")
        st.info(words.NO_TEST_CASE.format(advice=advise_gap(checkins[c.USER].to_numpy(), seconds)))
        source_picker(source)
        open_data_button()
        raise NothingToShowError
    return source, opened


def open_source(**options: bool) -> Source:
    """The chosen source, with options of `app.state.current_source`; without any, the empty state ends the page."""
    source = state.current_source(**options)
    if source is not None:
        return source
    st.title("Nothing to open yet")
    st.markdown(words.NO_SOURCE)
    open_data_button()
    st.code(
        "recap prepare check-ins.txt --format foursquare --out data\n"
        "recap train data --out checkpoint\n"
        "recap app --data data --checkpoint checkpoint",
        language=None,
    )
    raise NothingToShowError


def train_button() -> None:
    if st.button("Train RECAP", icon=":material/play_arrow:", key="train"):
        st.switch_page(RUNS.path)


def open_data_button() -> None:
    if not AppSettings.from_environment().read_only and st.button(
        "Open your data", icon=":material/upload_file:", type="tertiary", key="open-data"
    ):
        st.switch_page(OPEN_DATA.path)
