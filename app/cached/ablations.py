"""Ablations of a source's model: what filters, cards and misses know of causes.

Reading a kept table loads no torch, so Overview may ask; making one opens the model.
"""

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.records.causes import ablations_key, case_ablations, kept_ablations
from app.cached import datasets
from app.cached.keys import BY_MODEL
from app.cached.once import Once, Progress
from app.settings import AppSettings
from app.sources import Source

if TYPE_CHECKING:
    from recap.predictor import Predictor


def read_ablations(source: Source) -> pd.DataFrame | None:
    """See `analysis.records.causes.case_ablations`; made once for each checkpoint. Only RECAP has terms."""
    return None if not source.has_parts else _ablations(source)


def _ablations(source: Source) -> pd.DataFrame:
    def open_predictor() -> "Predictor":
        from app.cached import explanations  # here: torch is loaded to make a table, not to read it

        return explanations.open_predictor(source)

    def make(show: Progress) -> pd.DataFrame:
        assert source.checkpoint_hash is not None
        return case_ablations(
            source.dataset_hash,
            source.checkpoint_hash,
            open_predictor,
            rows=len(datasets.open_dataset(source).cases),
            keep=not AppSettings.from_environment().read_only,
            bundle=source.bundle,
            progress=show,
        )

    key = ablations_key(source.dataset_hash, str(source.checkpoint_hash))
    at_once = key.is_kept(source.bundle)
    return _once(source).get("Running ablations, once for each model", make, at_once=at_once)


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=BY_MODEL)
def _once(source: Source) -> Once[pd.DataFrame]:
    return Once()


def kept_causes(source: Source) -> pd.DataFrame | None:
    """The table where it was shipped or made before, else None: for views that do not wait for it."""
    if not source.has_parts or source.checkpoint_hash is None:
        return None
    found = _kept(source)
    table = next(iter(found), None)
    if table is None or not ablations_key(source.dataset_hash, source.checkpoint_hash).is_kept(source.bundle):
        rows = len(datasets.open_dataset(source).cases)
        table = kept_ablations(source.dataset_hash, source.checkpoint_hash, rows=rows, bundle=source.bundle)
        found[:] = [] if table is None else [table]
    return table


def waits_for_causes(source: Source) -> bool:
    """Whether ablations were not run yet and would keep the page for an hour, since test cases are very many."""
    return kept_causes(source) is None and datasets.is_large(source)


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=BY_MODEL)
def _kept(source: Source) -> list[pd.DataFrame]:
    """The table, once it was found: until then it is looked for again."""
    return []
