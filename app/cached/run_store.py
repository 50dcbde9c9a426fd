"""The runs, for the app, and which of a trained model and `pretrained` to open."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from app.cached.workspace import BY_DATASET, BY_MODEL, is_large, model_label, open_workspace
from app.settings import AppSettings
from app.sources import Source, dataset_source, find_sources
from app.threads import share_cores
from recap.baselines import PRETRAINED
from recap.errors import RecapError
from recap.runs.execution.control import ensure_runner
from recap.runs.execution.gpus import Gpu, read_gpus
from recap.runs.store.description import RunRow, describe_briefly
from recap.runs.store.files import Lease, RunSpec
from recap.runs.store.run_store import RunFolder, RunStore
from recap.runs.store.submission import build_specs

if TYPE_CHECKING:
    from analysis.compare.with_pretrained import AgainstPretrained


def open_store() -> RunStore:
    return RunStore.of_user(read_only=AppSettings.from_environment().read_only)


def list_rows(store: RunStore) -> list[RunRow]:
    """All runs in brief, by number; restarts a missing runner if needed."""
    ensure_runner(store)
    return [describe_briefly(run) for run in store.runs()]


@st.cache_data(ttl=1.5, show_spinner=False)
def gpus() -> list[Gpu]:
    return read_gpus()


@st.cache_data(max_entries=64, show_spinner=False, hash_funcs=BY_DATASET)
def build_specs_of(source: Source, **request: Any) -> list[RunSpec]:
    """The checked specs of a request; cached, because reading a large dataset is slow."""
    return build_specs(source.dataset_folder, **request)


def leases(store: RunStore, run_ids: list[str]) -> dict[str, Lease]:
    devices = {}
    for run_id in run_ids:
        try:
            device = store.get(run_id).read_state().device
        except RecapError:
            continue
        if device is not None:
            devices[run_id] = device
    return devices


def source_of(run: RunFolder) -> Source | None:
    """A finished run's checkpoint, if the app can open it."""
    try:
        folder = run.checkpoint.resolve()
    except (OSError, RecapError):
        return None
    sources = find_sources(AppSettings.from_environment())
    return next((source for source in sources if source.checkpoint_folder == folder and not source.is_elsewhere), None)


def better_source(trained: Source) -> tuple[Source, str]:
    """The better on validation cases, and a sentence on it; empty where that takes long or cannot be done."""
    other = dataset_source(trained.dataset_folder)
    if other is None or other.model != PRETRAINED or is_large(trained):
        return trained, ""
    comparison = _compare(trained)
    return trained if comparison.is_better else other, comparison.sentence(model_label(trained))


@st.cache_data(max_entries=32, show_spinner="Comparing with the pretrained model", hash_funcs=BY_MODEL)
def _compare(trained: Source) -> "AgainstPretrained":
    from analysis.compare.with_pretrained import compare_with_pretrained
    from recap.checkpoint import Checkpoint

    share_cores()
    assert trained.checkpoint_folder is not None
    opened, keep = open_workspace(trained), not AppSettings.from_environment().read_only
    return compare_with_pretrained(Checkpoint.load(trained.checkpoint_folder), opened.dataset, opened.graph, keep=keep)
