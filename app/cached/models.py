"""Opened models and their predictions, shared by all visitors and kept by content hash."""

import streamlit as st

from analysis.records.named_scorer import NamedScorer
from analysis.trajectories.predictions import CasePrediction, predict_case, recorded_prediction
from app.cached import datasets, threads  # noqa: F401 # one thread
from app.cached.keys import BY_DATASET, BY_MODEL
from app.cached.records import read_records
from app.settings import AppSettings
from app.sources import Source
from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.errors import RecapError
from recap.evaluation.scoring import rank_cases


def open_model(source: Source, baseline: str | None = None) -> NamedScorer:
    """The source's checkpoint, or a baseline by name; without a checkpoint `count_plus_markov`.

    Raises:
        RecapError: imported predictions, which are lists and no model.
    """
    if baseline is None and source.imported is not None:
        raise RecapError("imported predictions are lists of places; there is no model to ask again")
    if baseline is None and source.checkpoint_folder is not None:
        return open_checkpoint(source)
    return open_baseline(source, baseline or datasets.DEFAULT_BASELINE)


@st.cache_resource(max_entries=4, show_spinner="Opening the model", hash_funcs=BY_MODEL)
def open_checkpoint(source: Source) -> NamedScorer:
    """The source's checkpoint; it must have one."""
    assert source.checkpoint_folder is not None
    checkpoint = Checkpoint.load(source.checkpoint_folder)
    if checkpoint.hash != source.checkpoint_hash:
        raise RecapError(f"{source.checkpoint_folder} changed while the app was running; reload the page")
    return NamedScorer.of_checkpoint(checkpoint, datasets.open_dataset(source))


@st.cache_resource(max_entries=12, show_spinner=False, hash_funcs=BY_DATASET)
def open_baseline(source: Source, name: str) -> NamedScorer:
    """A baseline by name, fitted to the source's dataset."""
    keep = not AppSettings.from_environment().read_only
    return NamedScorer.of_baseline(name, datasets.open_dataset(source), keep=keep)


@st.cache_resource(max_entries=512, show_spinner=False, hash_funcs=BY_MODEL)
def predict(source: Source, case: int, top: int = 10) -> CasePrediction:
    """The source's model's prediction of one case."""
    opened = datasets.open_dataset(source)
    if source.imported is not None:
        return recorded_prediction(opened, read_records(source), case, top=top, paths_per_place=2)
    return predict_case(opened, open_model(source), case, top=top)


@st.cache_data(max_entries=4096, show_spinner=False, hash_funcs=BY_DATASET)
def markov_rank(source: Source, case: int) -> float:
    """Where the Markov baseline ranks the truth of one case."""
    opened = datasets.open_dataset(source)
    ranked = rank_cases(open_model(source, "markov").scorer, opened.cases.iloc[[case]], opened.checkins)
    return float(ranked[c.RANK].iloc[0])
