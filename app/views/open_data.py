"""Open your data: drop a file, check its columns, look at it, train RECAP on it."""

from collections.abc import Callable
from typing import Final

import streamlit as st

from analysis.formatting import duration
from app import state
from app.cached import run_store
from app.cached.workspace import open_workspace
from app.components.error_boundary import error_boundary
from app.components.own_data.check import show_check
from app.components.text import quiet, section
from app.pages import COMPARE, LONG_TAIL, RUNS, WALK
from app.settings import AppSettings
from app.sources import Source, dataset_source
from app.uploads import (
    LARGEST_MB,
    Upload,
    add_checkpoint,
    delete_dataset,
    find_upload,
    keep_copy,
    open_path,
    own_datasets,
)
from recap.data.parsing.options import ReadOptions
from recap.errors import RecapError
from recap.presets import DEFAULT_PRESET
from recap.printable import markdown_text
from recap.runs.execution import control
from recap.runs.store.description import describe_run
from recap.runs.store.estimates import estimate
from recap.runs.store.run_folder import RunFolder
from recap.runs.store.state import ACTIVE

STEPS: Final = ("Drop a file", "Check the columns", "Explore", "Train RECAP")


@error_boundary
def view() -> None:
    settings = AppSettings.from_environment()
    if settings.read_only or not settings.takes_files:
        st.title("You cannot open files here", anchor=False)
        st.markdown(
            "This app is read-only."
            if settings.read_only
            else "Others can reach this app; start it with `--allow-upload`."
        )
        return
    upload = find_upload(st.query_params.get("upload", ""))
    source = None if upload is not None or "ready" not in st.query_params else state.current_source()
    step = 2 if upload is not None else 1 if source is None else 4 if _run() is not None else 3
    _show_steps(step)
    refusal = st.session_state.pop("upload_refusal", None)
    if refusal:
        st.error(markdown_text(refusal))
    if upload is not None:
        _check(upload)
    elif source is not None:
        _show_ready(source)
    else:
        _show_drop(settings)


def _show_steps(current: int) -> None:
    with st.container(horizontal=True):
        for number, name in enumerate(STEPS, 1):
            colour = "blue" if number == current else "gray"
            mark = ":material/check:" if number < current else str(number)
            st.markdown(f":{colour}-badge[{mark}] :{colour}[{name}]", width="content")


def _show_drop(settings: AppSettings) -> None:
    st.title("Open your data", anchor=False)
    st.markdown("A table with one row for each visit: who, where, when. It stays on this computer.")
    tries = st.session_state.get("upload_tries", 0)  # a refused file leaves the widget with its old key
    file = st.file_uploader(
        f"CSV, JSON lines, Parquet or a published dataset, up to {LARGEST_MB} MB",
        max_upload_size=LARGEST_MB,
        key=f"file-{tries}",
    )
    if file is not None:
        _begin(lambda: keep_copy(file.name, file))
    if settings.is_local:
        path = st.text_input(
            "Or the path of a larger file on this computer", placeholder="/home/me/visits.csv", key=f"path-{tries}"
        )
        if path:
            _begin(lambda: open_path(path))
        with st.expander("Add a checkpoint"):
            folder = st.text_input("Path of a folder that `recap train` made", key="checkpoint_path")
            if folder and st.button("Add", key="checkpoint_add"):
                try:
                    st.success(f"{markdown_text(add_checkpoint(folder).name)} is in the list of models now.")
                except RecapError as error:
                    st.error(markdown_text(str(error)))
    _show_own()


def _begin(make: Callable[[], Upload]) -> None:
    try:
        upload = make()
    except (RecapError, OSError) as error:
        st.error(markdown_text(str(error)))
        return
    state.write_param("upload", upload.token)
    st.rerun()


def _show_own() -> None:
    """The user's datasets, each with a way to delete it."""
    mine = own_datasets()
    if not mine:
        return
    section("Your datasets")
    for folder, name in mine.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button(markdown_text(name), key=f"open-{folder.name}", type="tertiary"):
                _open(dataset_source(folder))
            with st.popover("Delete", icon=":material/delete:", type="tertiary", key=f"delete-{folder.name}"):
                st.markdown("Its check-ins are removed from this computer. Models trained on it stay in Runs.")
                if st.button("Delete now", key=f"delete-now-{folder.name}"):
                    delete_dataset(folder)
                    st.rerun()


def _check(upload: Upload) -> None:
    """Step 2; a file that cannot be read is removed and named on the first step."""
    try:
        folder = show_check(upload)
    except (RecapError, OSError, UnicodeError, MemoryError) as error:
        st.session_state["upload_refusal"] = str(error) or "The file is too large for the memory of this computer."
        st.session_state["upload_tries"] = st.session_state.get("upload_tries", 0) + 1
        if upload.options != ReadOptions():  # the last answer was wrong, not the file
            upload.answer(ReadOptions(), upload.least)
        else:
            upload.discard()
            state.write_param("upload", None)
        st.rerun()
    if folder is not None:
        state.write_param("upload", None)
        _open(dataset_source(folder))


def _open(source: Source | None) -> None:
    assert source is not None
    state.choose_source(source.token)
    state.write_param("ready", "1")
    st.rerun()


def _show_ready(source: Source) -> None:
    """Steps 3 and 4."""
    store, run = run_store.open_store(), _run()
    if run is not None:
        _show_training(run)
    else:
        opened = open_workspace(source)
        counts = (
            f"{opened.dataset.num_users:,} users, {opened.dataset.num_pois:,} places, {len(opened.cases):,} test cases"
        )
        st.title(f"{markdown_text(opened.name)} is ready: {counts}", anchor=False)
        st.markdown("Look at it with counting baselines now, or train RECAP first.")
        with st.container(horizontal=True, vertical_alignment="center"):
            specs = run_store.build_specs_of(source, preset=DEFAULT_PRESET)
            if st.button("Train RECAP", icon=":material/play_arrow:", key="train"):
                (started,) = control.submit(store, specs)
                state.write_param("run", started.id)
                st.rerun()
            time = estimate(store, specs[0], "cuda" if run_store.gpus() else "cpu").seconds
            quiet("Time estimate appears after the first epoch." if time is None else f"About {duration(time)}.")
    with st.container(horizontal=True):
        for page in (WALK, LONG_TAIL, COMPARE):
            if st.button(page.title, icon=":material/arrow_forward:", icon_position="right", key=f"to-{page.name}"):
                st.switch_page(page.path, query_params=state.link_to(source))


def _run() -> RunFolder | None:
    """The training that the link names."""
    try:
        return run_store.open_store().get(st.query_params["run"])
    except (RecapError, KeyError):
        return None


@st.fragment(run_every=1.0)
def _show_training(run: RunFolder) -> None:
    """Progress; the finished model opens by itself."""
    described = describe_run(run)
    epoch, epochs = described["epoch"] or 0, described["epochs"] or 1
    if described["state"] in ACTIVE:
        st.title(f"Training RECAP: epoch {epoch} of {epochs}", anchor=False)
        st.progress(epoch / epochs)
        quiet("Training continues when you close this page.")
        return
    source = run_store.source_of(run) if described["checkpoint"] else None
    if source is None:
        st.title("Training ended without a model", anchor=False)
        st.markdown(markdown_text(described["error"] or "It was stopped."))
        if st.button(RUNS.title, key="to-runs"):
            st.switch_page(RUNS.path, query_params={"run": run.id})
        return
    state.choose_source(source.token)
    st.switch_page(WALK.path, query_params=state.link_to(source))


view()
