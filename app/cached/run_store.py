"""The runs, for the app."""

from pathlib import Path
from typing import Any, Final

import streamlit as st

from app.cached.workspace import BY_DATASET
from app.settings import AppSettings
from app.sources import Source, dataset_source, find_sources
from recap.errors import RecapError
from recap.runs.execution.control import ensure_runner
from recap.runs.execution.gpus import Gpu, read_gpus
from recap.runs.store.description import RunRow, describe_briefly
from recap.runs.store.run_folder import RunFolder
from recap.runs.store.run_store import RunStore
from recap.runs.store.spec import RunSpec
from recap.runs.store.state import Lease
from recap.runs.store.submission import build_specs

_LATEST_RUNS: Final = 20


def open_store() -> RunStore:
    return RunStore.of_user(read_only=AppSettings.from_environment().read_only)


def list_rows(store: RunStore) -> list[RunRow]:
    """All runs in brief, by number; restarts a missing runner if needed."""
    ensure_runner(store)
    return [describe_briefly(run) for run in store.runs()]


def datasets(store: RunStore) -> list[Source]:
    """Datasets to choose from: those the app can open, and those of the latest runs."""
    sources = find_sources(AppSettings.from_environment())
    for run in store.runs()[: -_LATEST_RUNS - 1 : -1]:
        try:
            found = dataset_source(Path(run.read_spec().dataset))
        except RecapError:
            continue
        sources += [] if found is None else [found]
    return list({source.dataset_hash: source for source in reversed(sources)}.values())[::-1]


@st.cache_data(ttl=1.5, show_spinner=False)
def gpus() -> list[Gpu]:
    return read_gpus()


@st.cache_data(max_entries=64, show_spinner=False, hash_funcs=BY_DATASET)
def build_specs_of(source: Source, **request: Any) -> list[RunSpec]:
    """The checked specs of a request; cached, because reading a large dataset is slow."""
    return build_specs(source.dataset_folder, **request)


def leases(store: RunStore, run_ids: list[str]) -> dict[str, Lease]:
    found = {}
    for run_id in run_ids:
        try:
            device = store.get(run_id).read_state().device
        except RecapError:
            continue
        if device is not None:
            found[run_id] = device
    return found


def source_of(run: RunFolder) -> Source | None:
    """A finished run's checkpoint, if the app can open it."""
    try:
        folder = run.checkpoint.resolve()
    except (OSError, RecapError):
        return None
    sources = find_sources(AppSettings.from_environment())
    return next((source for source in sources if source.checkpoint_folder == folder and not source.is_elsewhere), None)
