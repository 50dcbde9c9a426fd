"""Evaluation records, shared by all visitors and kept by content hash: what tables and filters are made of.

What figures are made of is read without the lists of the best places, three quarters of every file (`read_lists`).
"""

import threading
from typing import TYPE_CHECKING, Final

import pandas as pd
import streamlit as st

from analysis.records.evaluation_records import evaluation_records, models_beside, records_key
from analysis.records.imported import PREFIX
from app.cached import datasets
from app.cached.keys import BY_MODEL
from app.cached.once import Once, Progress
from app.settings import AppSettings
from app.sources import Source
from recap import columns as c
from recap.errors import RecapError

if TYPE_CHECKING:
    from analysis.records.named_scorer import NamedScorer

LISTS: Final = (c.TOP_POIS, c.TOP_SCORES)
"""Columns that hold a list for every case: three quarters of all bytes, and no figure is made of them."""
_evaluating = threading.Lock()


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


def model_keys(source: Source) -> list[str]:
    """The models that Overview shows: the source's own first.

    `feature_curves` joins them with kept records alone where ranking takes long, or would be done again at every start.
    """
    may_rank = not (AppSettings.from_environment().read_only or datasets.is_large(source))
    beside = models_beside(source.dataset_hash, source.bundle, may_rank=may_rank)
    return list(dict.fromkeys([datasets.model_key(source), *beside]))


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


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=BY_MODEL)
def _records_once(source: Source, baseline: str | None) -> Once[pd.DataFrame]:
    return Once()


def _open_model(source: Source, baseline: str | None) -> "NamedScorer":
    from app.cached.models import open_model  # here: torch is loaded where records are missing, not to read them

    return open_model(source, baseline)
