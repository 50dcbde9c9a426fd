"""Evaluation records, shared by all visitors and kept by content hash: what tables and filters are made of."""

import threading
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.records.evaluation_records import evaluation_records, records_key
from analysis.records.imported import PREFIX
from app.cached import datasets
from app.cached.keys import BY_MODEL
from app.cached.once import Once, Progress
from app.settings import AppSettings
from app.sources import Source
from recap.errors import RecapError

if TYPE_CHECKING:
    from analysis.records.named_scorer import NamedScorer

_evaluating = threading.Lock()


def read_records(source: Source, baseline: str | None = None) -> pd.DataFrame:
    """The model's records over all test cases; scored once, with a message, and kept in the user's cache."""
    if baseline is None and source.checkpoint_hash is None:
        baseline = source.imported or datasets.DEFAULT_BASELINE
    # A baseline's records are the same beside every checkpoint of the dataset: they are kept once.
    records = _records(source if baseline is None else source.without_checkpoint, baseline)
    if not datasets.is_frozen():
        datasets.freeze()
    return records


def _records(source: Source, baseline: str | None) -> pd.DataFrame:
    def make(show: Progress) -> pd.DataFrame:
        opened = datasets.open_dataset(source)
        if baseline is not None and baseline.startswith(PREFIX):
            found = datasets.imported(source).get(baseline)
            if found is None:
                raise RecapError(f"the imported predictions {baseline} are gone; import them again")
            return found.read(len(opened.cases))
        with _evaluating:  # one evaluation at a time: two would only take turns on the same cores
            return evaluation_records(
                opened,
                datasets.model_key(source, baseline),
                lambda: _open_model(source, baseline),
                keep=not AppSettings.from_environment().read_only,
                bundle=source.bundle,
                progress=show,
            )

    key = datasets.model_key(source, baseline)
    at_once = key.startswith(PREFIX) or records_key(source.dataset_hash, key).is_kept(source.bundle)
    return _records_once(source, baseline).get("Ranking the test cases, once for each model", make, at_once=at_once)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=BY_MODEL)
def _records_once(source: Source, baseline: str | None) -> Once[pd.DataFrame]:
    return Once()


def _open_model(source: Source, baseline: str | None) -> "NamedScorer":
    from app.cached.models import open_model  # here: torch is loaded where records are missing, not to read them

    return open_model(source, baseline)
