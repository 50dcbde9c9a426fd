"""Opened models and their predictions, shared by all visitors and kept by content hash."""

import pandas as pd
import streamlit as st
import torch

from analysis.records.named_scorer import NamedScorer
from analysis.trajectories.predictions import CasePrediction, predict_case
from app.cached import datasets
from app.sources import Source
from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.errors import RecapError
from recap.evaluation.scoring import rank_cases, score_cases

# Of the whole server: its visitors share the cores. Two threads on two busy cores were four to ten times slower.
torch.set_num_threads(1)


def open_model(source: Source, baseline: str | None = None) -> NamedScorer:
    """The source's checkpoint, or a baseline by name; without a checkpoint `count_plus_markov`."""
    if baseline is None and source.checkpoint_folder is None:
        baseline = datasets.DEFAULT_BASELINE
    if baseline is not None:
        return _open_baseline(source.dataset_hash, baseline, source)
    assert source.checkpoint_hash is not None
    return _open_checkpoint(source.checkpoint_hash, source)


def predict(source: Source, case: int, top: int = 10) -> CasePrediction:
    """The source's model's prediction of one case."""
    return _predict(source.dataset_hash, datasets.model_key(source), case, top, source)


def best_places(source: Source, cases: list[int]) -> pd.Series:
    """The best places of each case, as in the records, without ranking any other case."""
    opened = datasets.open_dataset(source)
    return score_cases(open_model(source).scorer, opened.cases.iloc[cases], opened.checkins)[c.TOP_POIS]


def markov_rank(source: Source, case: int) -> float:
    """Where the Markov baseline ranks the truth of one case."""
    return _markov_rank(source.dataset_hash, case, source)


@st.cache_resource(max_entries=4, show_spinner="Opening the model")
def _open_checkpoint(checkpoint_hash: str, _source: Source) -> NamedScorer:
    assert _source.checkpoint_folder is not None
    checkpoint = Checkpoint.load(_source.checkpoint_folder)
    if checkpoint.hash != checkpoint_hash:
        raise RecapError(f"{_source.checkpoint_folder} changed while the app was running; reload the page")
    return NamedScorer.of_checkpoint(checkpoint, datasets.open_dataset(_source))


@st.cache_resource(max_entries=12, show_spinner=False)
def _open_baseline(dataset_hash: str, name: str, _source: Source) -> NamedScorer:
    return NamedScorer.of_baseline(name, datasets.open_dataset(_source))


@st.cache_resource(max_entries=512, show_spinner=False)
def _predict(dataset_hash: str, key: str, case: int, top: int, _source: Source) -> CasePrediction:
    return predict_case(datasets.open_dataset(_source), open_model(_source), case, top=top)


@st.cache_data(max_entries=4096, show_spinner=False)
def _markov_rank(dataset_hash: str, case: int, _source: Source) -> float:
    opened = datasets.open_dataset(_source)
    ranked = rank_cases(open_model(_source, "markov").scorer, opened.cases.iloc[[case]], opened.checkins)
    return float(ranked[c.RANK].iloc[0])
