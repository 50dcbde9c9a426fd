"""What the Explain view opens and asks: the predictor of a source, one explanation, labels of missed cases."""

import pandas as pd
import streamlit as st

from analysis.explain.edits import parse_edits
from analysis.explain.explanation import FullExplanation, explain_fully
from analysis.long_tail.misses import describe_misses, label_misses
from analysis.records.causes import removal_table
from app.cached import datasets
from app.settings import AppSettings
from app.sources import Source
from recap.checkpoint import Checkpoint
from recap.predictor import Predictor


def open_predictor(source: Source) -> Predictor:
    """The source's checkpoint, ready for single and edited cases; it must have one."""
    assert source.checkpoint_hash is not None
    return _open_predictor(source.checkpoint_hash, source)


def explain(
    source: Source,
    case: int,
    *,
    about: int | None = None,
    against: int | None = None,
    edits: str = "",
) -> FullExplanation:
    """One case in full, as edited; of the truth against the best other place, or of any two places."""
    assert source.checkpoint_hash is not None
    return _explain(source.checkpoint_hash, case, about, against, edits, source)


def search(source: Source, case: int, about: int, against: int, edits: str, sets_within: int | None) -> FullExplanation:
    """The same with the smallest turning edit, faithfulness and, for a K, minimal evidence sets."""
    assert source.checkpoint_hash is not None
    return _search(source.checkpoint_hash, case, about, against, edits, sets_within, source)


def miss_labels(source: Source, k: int) -> pd.Series:
    """One label per test case, see `analysis.long_tail.misses`; Walk and Long tail filter by it."""
    assert source.checkpoint_hash is not None
    return label_misses(_describe_misses(source.checkpoint_hash, source), k)


@st.cache_resource(max_entries=4, show_spinner="Opening the model")
def _open_predictor(checkpoint_hash: str, _source: Source) -> Predictor:
    assert _source.checkpoint_folder is not None
    return Predictor(Checkpoint.load(_source.checkpoint_folder), datasets.open_dataset(_source).dataset)


@st.cache_data(max_entries=256, show_spinner=False)
def _explain(
    checkpoint_hash: str, case: int, about: int | None, against: int | None, edits: str, _source: Source
) -> FullExplanation:
    return explain_fully(open_predictor(_source), case, about=about, against=against, edits=parse_edits(edits))


@st.cache_data(max_entries=64, show_spinner=False)
def _search(
    checkpoint_hash: str, case: int, about: int, against: int, edits: str, sets_within: int | None, _source: Source
) -> FullExplanation:
    return explain_fully(
        open_predictor(_source),
        case,
        about=about,
        against=against,
        edits=parse_edits(edits),
        search=True,
        sets_within=sets_within,
    )


@st.cache_resource(max_entries=4, show_spinner="Asking why cases are missed, once for each model")
def _describe_misses(checkpoint_hash: str, _source: Source) -> pd.DataFrame:
    opened = datasets.open_dataset(_source)
    removals = removal_table(
        _source.dataset_hash,
        checkpoint_hash,
        lambda: open_predictor(_source),
        rows=len(opened.cases),
        keep=not AppSettings.from_environment().read_only,
        bundle=_source.bundle,
    )
    return describe_misses(opened.dataset, opened.cases, removals)
