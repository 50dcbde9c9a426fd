"""Opened datasets, shared by all visitors and kept by content hash; records and models have modules of their own.

Neither this module nor `app.cached.records` loads torch: a view of records alone is there a second or two earlier.
"""

import gc
import threading
from typing import Final

import numpy as np
import streamlit as st

from analysis.records.imported import ImportedPredictions, find_predictions
from analysis.records.evaluation_records import MODEL_LABELS
from analysis.workspace import Workspace
from app.cached.keys import BY_DATASET
from app.sources import Source
from recap.errors import RecapError
from recap.published.configs import RECAP

DEFAULT_BASELINE: Final = "count_plus_markov"
MOST_SCORES: Final = 200_000_000
"""Test cases times places up to which ablations are run while a page waits; New York has 35 million."""
_frozen = threading.Event()


@st.cache_resource(max_entries=4, show_spinner="Reading the dataset", hash_funcs=BY_DATASET)
def open_dataset(source: Source) -> Workspace:
    """The source's dataset, verified, with its graph."""
    opened = Workspace.open(source.dataset_folder)
    if opened.dataset.hash != source.dataset_hash:
        raise RecapError(f"{source.dataset_folder} changed while the app was running; reload the page")
    return opened


def model_key(source: Source, baseline: str | None = None) -> str:
    """What names a model's records: the checkpoint's hash, the key of imported predictions, or the baseline's name."""
    return baseline or source.checkpoint_hash or source.imported or DEFAULT_BASELINE


def is_frozen() -> bool:
    """Whether something large was loaded and frozen already."""
    return _frozen.is_set()


def freeze() -> None:
    """Take everything loaded so far out of garbage collection, after something large was loaded.

    Python's collector otherwise looks through all libraries, models and tables again and again.
    """
    _frozen.set()
    gc.collect()
    gc.freeze()


def is_large(source: Source) -> bool:
    """Whether running ablations over all test cases takes too long for a page to wait."""
    opened = open_dataset(source)
    return len(opened.cases) * opened.dataset.num_pois > MOST_SCORES


def all_cases(source: Source) -> np.ndarray:
    """The numbers of all test cases."""
    return np.arange(len(open_dataset(source).cases))


def model_label(source: Source, baseline: str | None = None) -> str:
    """What people call the model."""
    if baseline is None and source.checkpoint_folder is not None:
        return source.variant if source.model != RECAP else MODEL_LABELS[RECAP]
    name = baseline or source.imported or DEFAULT_BASELINE
    if name in MODEL_LABELS:
        return MODEL_LABELS[name]
    found = imported(source).get(name)
    if found is None:
        raise RecapError(f"the imported predictions {name} are gone; import them again")
    return found.name


def folder_label(source: Source) -> str:
    """The same with the checkpoint's folder, where that has a name of its own: several models stand side by side."""
    assert source.checkpoint_folder is not None
    folder = source.checkpoint_folder.name
    return model_label(source) if folder == "checkpoint" else f"{model_label(source)} {folder}"


def imported(source: Source) -> dict[str, ImportedPredictions]:
    """Predictions from elsewhere on the source's dataset, by key."""
    return {item.key: item for item in find_predictions(source.dataset_hash)}
