"""Opened datasets and records, shared by all visitors and kept by content hash.

Torch is not loaded here: a view of records alone is there a second or two earlier. Models are opened in `app.models`.
"""

import gc
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from analysis.evaluation_tables import evaluation_records
from analysis.opened import MODEL_LABELS, OpenDataset
from app.settings import Settings
from app.sources import Source
from recap.errors import RecapError

if TYPE_CHECKING:
    from analysis.open_model import OpenModel

_evaluating = threading.Lock()
_frozen = threading.Event()


def open_dataset(source: Source) -> OpenDataset:
    """The source's dataset, verified, with its graph."""
    return _open_dataset(source.dataset_hash, source.dataset_folder)


DEFAULT_BASELINE = "count_plus_markov"


def model_key(source: Source, baseline: str | None = None) -> str:
    """What names a model's records: the checkpoint's hash or the baseline's name."""
    return baseline or source.checkpoint_hash or DEFAULT_BASELINE


def read_records(source: Source, baseline: str | None = None) -> pd.DataFrame:
    """The model's records over all test cases; scored once, with a message, and kept in the user's cache."""
    records = _records(source.dataset_hash, model_key(source, baseline), source, baseline)
    if not _frozen.is_set():
        freeze()
    return records


@st.cache_resource(max_entries=4, show_spinner="Reading the dataset")
def _open_dataset(dataset_hash: str, _folder: Path) -> OpenDataset:
    opened = OpenDataset.load(_folder)
    if opened.dataset.hash != dataset_hash:
        raise RecapError(f"{_folder} changed while the app was running; reload the page")
    return opened


@st.cache_resource(max_entries=16, show_spinner="Ranking the test cases, once for each model")
def _records(dataset_hash: str, key: str, _source: Source, _baseline: str | None) -> pd.DataFrame:
    opened = open_dataset(_source)
    bar = st.empty()

    def show(done: int, total: int) -> None:
        bar.progress(done / max(total, 1), f"{done:,} of {total:,} cases")

    with _evaluating:  # one evaluation at a time: two would only take turns on the same cores
        records = evaluation_records(
            opened,
            key,
            lambda: _model(_source, _baseline),
            keep=not Settings.from_environment().read_only,
            bundle=_source.bundle,
            progress=show,
        )
    bar.empty()
    return records


def _model(source: Source, baseline: str | None) -> "OpenModel":
    from app.models import open_model

    return open_model(source, baseline)


def freeze() -> None:
    """Take everything loaded so far out of garbage collection, after something large was loaded.

    Python's collector otherwise looks through all libraries, models and tables again and again.
    """
    _frozen.set()
    gc.collect()
    gc.freeze()


def all_cases(source: Source) -> np.ndarray:
    """The numbers of all test cases."""
    return np.arange(len(open_dataset(source).cases))


def model_label(source: Source, baseline: str | None = None) -> str:
    """What people call the model."""
    name = baseline or ("recap" if source.checkpoint_folder else DEFAULT_BASELINE)
    return MODEL_LABELS[name]
