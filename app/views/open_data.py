"""Open your data: drop a file, check its columns, look at it, train RECAP on it."""

import streamlit as st

from analysis.formatting import duration
from app import address, state, uploads
from app.cached import run_store
from app.cached.workspace import open_workspace
from app.components.error_boundary import error_boundary
from app.components.own_data import words
from app.components.own_data.check import show_check, show_points
from app.components.own_data.next_file import add_file
from app.components.runs.live import once_drawn, show_live
from app.components.runs.words import run_headline
from app.components.text import quiet, section
from app.pages import NEXT, OPEN_DATA
from app.settings import AppSettings
from app.sources import Source, dataset_source, own_datasets
from app.uploads import LARGEST_MB, Upload
from recap import columns as c
from recap.data.parsing.options import ReadOptions
from recap.errors import RecapError
from recap.machine.printable import count_of, markdown_text
from recap.presets import DEFAULT_PRESET
from recap.runs.execution import control
from recap.runs.store.description import describe_run
from recap.runs.store.estimates import estimate, seconds_left
from recap.runs.store.files import ACTIVE
from recap.runs.store.run_store import RunFolder


@error_boundary
def view() -> None:
    settings = AppSettings.from_environment()
    if settings.read_only or not settings.takes_files:
        st.title(words.CLOSED, anchor=False)
        st.markdown(words.READ_ONLY if settings.read_only else words.NOT_ALLOWED)
        return
    upload = uploads.find_upload(st.query_params.get("upload", ""))
    source = state.current_source() if upload is None and "ready" in st.query_params else None
    run = _run() if source is not None else None
    is_trained = run is not None and describe_run(run)["state"] not in ACTIVE
    _show_steps(2 if upload is not None else 1 if source is None else 3 if run is None else 4 + is_trained)
    if upload is not None:
        _check(upload)
    elif run is not None:
        _show_training(run)
    elif source is not None:
        _show_ready(source)
    else:
        _show_drop(settings)


def _show_steps(current: int) -> None:
    with st.container(horizontal=True):
        for number, name in enumerate(words.STEPS, 1):
            colour = "blue" if number == current else "gray"
            mark = ":material/check:" if number < current else str(number)
            st.markdown(f":{colour}-badge[{mark}] :{colour}[{name}]", width="content")


def _show_drop(settings: AppSettings) -> None:
    """Step 1: a file, a path, or a dataset that is here already."""
    st.title(words.OPEN, anchor=False)
    st.markdown(f"{words.WHAT_FILE} {words.STAYS[settings.is_local]} {words.COPY}")
    file = st.file_uploader(words.FILE, max_upload_size=LARGEST_MB)
    path = st.text_input(words.PATH, placeholder="/home/me/visits.csv") if settings.is_local else ""
    if file is not None or path:
        upload = uploads.open_path(path) if file is None else uploads.keep_copy(file.name, file)
        address.write(upload=upload.token)
        st.rerun()
    mine = own_datasets()
    if mine:
        section(words.YOUR_DATASETS)
    for dataset, name in mine.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button(markdown_text(name), key=f"open-{dataset.name}", type="tertiary"):
                _open(dataset_source(dataset))
            with st.popover("Delete", icon=":material/delete:", type="tertiary", key=f"delete-{dataset.name}"):
                st.markdown(words.DELETING)
                if st.button("Delete now", key=f"delete-now-{dataset.name}"):
                    uploads.delete_dataset(dataset)
                    st.rerun()


def _check(upload: Upload) -> None:
    """Step 2; a file that cannot be read is removed, an answer with which it cannot be read is taken back."""
    folder = None
    try:
        folder = show_check(upload)
    except (RecapError, OSError, UnicodeError, MemoryError) as error:
        st.error(markdown_text(str(error) or words.TOO_LARGE))
        if upload.options == ReadOptions():
            upload.discard()
        else:
            upload.answer(options=ReadOptions())
            st.button(words.BACK)
    if st.button(words.OTHER_FILE, icon=":material/close:", type="tertiary"):
        upload.discard()
        address.write(upload=None)
        st.rerun()
    if folder is not None:
        address.write(upload=None)
        _open(dataset_source(folder))


def _open(source: Source | None) -> None:
    assert source is not None
    state.choose_source(source.token)
    address.write(ready="1")
    st.rerun()


def _show_ready(source: Source) -> None:
    """Step 3: what the dataset holds, predictions, and a training to start."""
    opened, store = open_workspace(source), run_store.open_store()
    quiet(address.note_on(OPEN_DATA.name))
    dataset, checkins = opened.dataset, opened.dataset.checkins
    users, places = count_of(dataset.num_users, "user"), count_of(dataset.num_pois, "place")
    cases = count_of(len(opened.cases), "test case")
    st.title(words.READY.format(name=markdown_text(opened.name), users=users, places=places, cases=cases), anchor=False)
    halves = st.grid(2, min_column_width=380, gap="medium")
    with halves.cell():
        poi = checkins[c.POI].to_numpy()
        show_points(opened.latitude[poi], opened.longitude[poi], invented=source.synthetic)
    with halves.cell():
        section(words.HOLDS)
        st.table(words.dataset_facts(dataset.local_time, checkins), border="horizontal")
        st.markdown(words.LOOK)
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button("Predict", icon=":material/arrow_forward:", type="primary", key="predict"):
                address.go(NEXT, state.link_to(source))
            specs = run_store.build_specs_of(source, preset=DEFAULT_PRESET)
            if st.button("Train RECAP", icon=":material/play_arrow:", key="train"):
                (started,) = control.submit(store, specs)
                address.write(run=started.id)
                st.rerun()
            time = estimate(store, specs[0], "cuda" if run_store.gpus() else "cpu").seconds
            quiet(words.NO_ESTIMATE if time is None else words.TAKES.format(time=duration(time)))
        added = add_file(source)
        if added is not None:
            _open(dataset_source(added))


def _run() -> RunFolder | None:
    """The training that the link names."""
    try:
        return run_store.open_store().get(st.query_params["run"])
    except (RecapError, KeyError):
        return None


def _show_training(run: RunFolder) -> None:
    """Step 4: progress; then the better of the finished model and `pretrained` opens by itself."""
    described = describe_run(run)
    trained = run_store.source_of(run) if described["checkpoint"] and described["state"] not in ACTIVE else None
    if trained is not None and once_drawn("trained"):
        better, reason = run_store.better_source(trained)
        address.leave_note(NEXT.name, markdown_text(reason))
        state.choose_source(better.token)
        address.go(NEXT, state.link_to(better))
    st.title(run_headline(described, run.read_summary(), seconds_left(described)), anchor=False)
    quiet(words.CONTINUES)
    show_live(run_store.open_store(), run.id)


view()
