"""Which of a trained model and `pretrained` to open."""

from typing import TYPE_CHECKING

import streamlit as st

from app.cached.workspace import BY_MODEL, is_large, model_label, open_workspace
from app.settings import AppSettings
from app.sources import Source, dataset_source
from recap.baselines import PRETRAINED

if TYPE_CHECKING:
    from analysis.compare.with_pretrained import AgainstPretrained


def better_source(trained: Source) -> tuple[Source, str]:
    """The better on validation cases, and a sentence on it; empty where that takes long or cannot be done."""
    other = dataset_source(trained.dataset_folder)
    if other is None or other.model != PRETRAINED or is_large(trained):
        return trained, ""
    found = _compare(trained)
    return trained if found.is_better else other, found.sentence(model_label(trained))


@st.cache_data(max_entries=32, show_spinner="Comparing with the pretrained model", hash_funcs=BY_MODEL)
def _compare(trained: Source) -> "AgainstPretrained":
    from analysis.compare.with_pretrained import compare_with_pretrained
    from app import threads  # noqa: F401 # here: loads torch, on one thread
    from recap.checkpoint import Checkpoint

    assert trained.checkpoint_folder is not None
    opened, keep = open_workspace(trained), not AppSettings.from_environment().read_only
    return compare_with_pretrained(Checkpoint.load(trained.checkpoint_folder), opened.dataset, opened.graph, keep=keep)
