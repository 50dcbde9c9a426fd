"""Opened material, shared by all visitors and kept by content hash."""

import gc
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
import torch

from analysis.opened import MODEL_LABELS, OpenDataset, OpenModel, evaluation_records
from analysis.predictions import CasePrediction, predict_case
from app.settings import Settings
from app.sources import Source
from recap.checkpoint import Checkpoint
from recap.errors import RecapError

# Of the whole server: its visitors share the cores. Two threads on two busy cores were four to ten times slower.
torch.set_num_threads(1)

_evaluating = threading.Lock()
_frozen = threading.Event()


def open_dataset(source: Source) -> OpenDataset:
    """The source's dataset, verified, with its graph."""
    return _open_dataset(source.dataset_hash, source.dataset_folder)


def open_model(source: Source, baseline: str | None = None) -> OpenModel:
    """The source's checkpoint, or a baseline by name; without a checkpoint `count_plus_markov`."""
    if baseline is None and source.checkpoint_folder is None:
        baseline = DEFAULT_BASELINE
    if baseline is not None:
        return _open_baseline(source.dataset_hash, baseline, source)
    assert source.checkpoint_hash is not None
    return _open_checkpoint(source.checkpoint_hash, source)


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


def predict(source: Source, case: int, top: int = 10) -> CasePrediction:
    """The source's model's prediction of one case."""
    return _predict(source.dataset_hash, model_key(source), case, top, source)


@st.cache_resource(max_entries=4, show_spinner="Reading the dataset")
def _open_dataset(dataset_hash: str, _folder: Path) -> OpenDataset:
    opened = OpenDataset.load(_folder)
    if opened.dataset.hash != dataset_hash:
        raise RecapError(f"{_folder} changed while the app was running; reload the page")
    return opened


@st.cache_resource(max_entries=4, show_spinner="Opening the model")
def _open_checkpoint(checkpoint_hash: str, _source: Source) -> OpenModel:
    assert _source.checkpoint_folder is not None
    checkpoint = Checkpoint.load(_source.checkpoint_folder)
    if checkpoint.hash != checkpoint_hash:
        raise RecapError(f"{_source.checkpoint_folder} changed while the app was running; reload the page")
    return OpenModel.of_checkpoint(checkpoint, open_dataset(_source))


@st.cache_resource(max_entries=12, show_spinner=False)
def _open_baseline(dataset_hash: str, name: str, _source: Source) -> OpenModel:
    return OpenModel.of_baseline(name, open_dataset(_source))


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
            lambda: open_model(_source, _baseline),
            keep=not Settings.from_environment().read_only,
            bundle=_source.bundle,
            progress=show,
        )
    bar.empty()
    return records


@st.cache_resource(max_entries=512, show_spinner=False)
def _predict(dataset_hash: str, key: str, case: int, top: int, _source: Source) -> CasePrediction:
    return predict_case(open_dataset(_source), open_model(_source), case, top=top)


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
