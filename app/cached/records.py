"""Evaluation records, shared by all visitors and kept by content hash: what tables and filters are made of.

What figures are made of is read without the lists of the best places, three quarters of every file (`read_lists`).
"""

import threading
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.records.evaluation_records import evaluation_records, records_key
from analysis.records.growing_records import LISTS
from analysis.records.imported import PREFIX
from app.cached import datasets, refining
from app.cached.keys import BY_MODEL
from app.cached.once import Once, Progress
from app.settings import AppSettings
from app.sources import Source
from recap.errors import RecapError

if TYPE_CHECKING:
    from analysis.records.named_scorer import NamedScorer

_evaluating = threading.Lock()
_TOLD_EVERY_S = 0.5


def read_records(source: Source, baseline: str | None = None) -> pd.DataFrame:
    """The model's records over all test cases; scored once, with a message, and kept in the user's cache.

    The lists of the best places are not among the columns, but for imported predictions, which are lists.
    """
    if baseline is None and source.checkpoint_hash is None:
        baseline = source.imported or datasets.DEFAULT_BASELINE
    records = _records(source, baseline)
    if not datasets.is_frozen():
        datasets.freeze()
    return records


def read_lists(source: Source, baseline: str | None = None) -> pd.DataFrame:
    """The same with the best places and their scores of every case."""
    records = read_records(source, baseline)
    if set(LISTS) <= set(records):
        return records
    if baseline is None and source.checkpoint_hash is None:
        baseline = datasets.DEFAULT_BASELINE
    return _with_lists(source if baseline is None else source.without_checkpoint, baseline)


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=BY_MODEL)
def _with_lists(source: Source, baseline: str | None) -> pd.DataFrame:
    return _evaluated(source, baseline, without=())


def _records(asked: Source, baseline: str | None) -> pd.DataFrame:
    # A baseline's records are the same beside every checkpoint of the dataset: they are kept once.
    source = asked if baseline is None else asked.without_checkpoint

    def make(show: Progress) -> pd.DataFrame:
        opened = datasets.open_dataset(source)
        if baseline is not None and baseline.startswith(PREFIX):
            found = datasets.imported(source).get(baseline)
            if found is None:
                raise RecapError(f"the imported predictions {baseline} are gone; import them again")
            return found.read(len(opened.cases))
        if key in refining.model_keys(asked) and refining.is_refined(asked):
            refined = _refined(asked, key, show)
            if refined is not None:
                return refined
        return _evaluated(source, baseline, progress=show)

    key = datasets.model_key(source, baseline)
    at_once = key.startswith(PREFIX) or records_key(source.dataset_hash, key).is_kept(source.bundle)
    return _records_once(source, baseline).get("Ranking the test cases, once for each model", make, at_once=at_once)


def _evaluated(
    source: Source, baseline: str | None, progress: Progress | None = None, without: tuple[str, ...] = LISTS
) -> pd.DataFrame:
    key, keep = datasets.model_key(source, baseline), not AppSettings.from_environment().read_only
    # What no file will hold must not be ranked a second time for its lists.
    has_file = keep or records_key(source.dataset_hash, key).is_kept(source.bundle)
    with _evaluating:  # one evaluation at a time: two would only take turns on the same cores
        return evaluation_records(
            datasets.open_dataset(source),
            key,
            lambda: _open_model(source, baseline),
            keep=keep,
            bundle=source.bundle,
            progress=progress,
            without=without if has_file else (),
        )


def _refined(source: Source, key: str, show: Progress) -> pd.DataFrame | None:
    """What the background makes of a model, once all cases are in; None where it lies on the disk by now.

    Raises:
        RecapError: it failed.
    """
    draws = refining.refine(source)
    while not draws.wait_for_end(_TOLD_EVERY_S):
        show(int(draws.done), draws.num_cases)
    if draws.latest is None or not draws.latest.is_whole:
        raise RecapError(f"ranking the test cases stopped: {draws.failure}; Overview can start it again")
    return draws.latest.models.get(key)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=BY_MODEL)
def _records_once(source: Source, baseline: str | None) -> Once[pd.DataFrame]:
    return Once()


def _open_model(source: Source, baseline: str | None) -> "NamedScorer":
    from app.cached.models import open_model  # here: torch is loaded where records are missing, not to read them

    return open_model(source, baseline)
