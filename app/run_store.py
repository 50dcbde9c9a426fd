"""The runs as the app sees them: a read-only app only shows them, and its server refuses every change."""

from typing import Any

import streamlit as st

from app.settings import Settings
from app.sources import Source, find_sources
from recap.errors import RecapError
from recap.runs.description import describe_briefly
from recap.runs.gpus import Gpu, read_gpus
from recap.runs.run_folder import RunFolder
from recap.runs.service import ensure_runner
from recap.runs.store import RunStore


def open_store() -> RunStore:
    """The user's runs."""
    return RunStore.of_user(read_only=Settings.from_environment().read_only)


def list_rows(store: RunStore) -> list[dict[str, Any]]:
    """All runs, brief, by number; also brings back a runner that is needed and gone."""
    ensure_runner(store)
    return [describe_briefly(run) for run in store.runs()]


def datasets() -> list[Source]:
    """Datasets on offer, each once."""
    sources = find_sources(Settings.from_environment())
    return list({source.dataset_hash: source for source in reversed(sources)}.values())[::-1]


@st.cache_data(ttl=1.5, show_spinner=False)
def gpus() -> list[Gpu]:
    """The machine's GPUs now; asked at most every second and a half."""
    return read_gpus()


def source_of(run: RunFolder) -> Source | None:
    """A finished run's checkpoint among what the app can open."""
    try:
        folder = run.checkpoint.resolve()
    except (OSError, RecapError):
        return None
    sources = find_sources(Settings.from_environment())
    return next((source for source in sources if source.checkpoint_folder == folder), None)
