"""What the Explain view opens and asks: the predictor of a source, one explanation, labels of missed cases."""

import pandas as pd
import streamlit as st

from analysis.explain.curves import Curve, learned_curves, values_at
from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import parse_edits
from analysis.explain.explanation import CaseExplanation, explain_case
from analysis.explain.paths import training_rows
from analysis.explain.ranks_only import RanksOnly
from analysis.explain.ranks_only import explain_ranks as ranks_of_case
from analysis.explain.robustness import RowCheck, check_rows
from analysis.explain.what_if import Flip, smallest_flip
from analysis.long_tail.misses import describe_misses, label_misses
from analysis.records.kept_seeds import seed_tables
from app.cached import datasets, models
from app.cached.ablations import read_ablations
from app.cached.keys import BY_MODEL
from app.cached.threads import TURNS
from app.sources import Source
from recap.predictor import CaseRanker, Predictor, SharedTables
from recap.predictor import open_ranker as open_checkpoint_ranker


@st.cache_resource(max_entries=4, show_spinner="Opening the model", hash_funcs=BY_MODEL)
def open_ranker(source: Source) -> CaseRanker:
    """The source's checkpoint, ready for single and edited cases; it must have one."""
    opened, model = datasets.open_dataset(source), models.open_checkpoint(source)
    assert model.checkpoint is not None
    shared = SharedTables(opened.graph, opened.checkins, opened.cases, model.scorer)
    return open_checkpoint_ranker(model.checkpoint, opened.dataset, shared)


def get_ready(source: Source) -> None:
    """What the first explanation of a source would make for all: the training transitions' order, by place."""
    training_rows(open_predictor(source))


def open_predictor(source: Source) -> Predictor:
    """The same where the checkpoint's scores have parts, see `Source.has_parts`."""
    ranker = open_ranker(source)
    assert isinstance(ranker, Predictor)
    return ranker


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def explain_ranks(
    source: Source, case: int, *, about: int | None = None, edits: str = "", hide_truth: bool = False
) -> RanksOnly:
    """One case of any checkpoint, as edited, without taking its scores apart."""
    with TURNS:
        return ranks_of_case(open_ranker(source), case, about=about, edits=parse_edits(edits), hide_truth=hide_truth)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def explain(
    source: Source,
    case: int,
    *,
    about: int | None = None,
    against: int | None = None,
    edits: str = "",
    hide_truth: bool = False,
) -> CaseExplanation:
    """One case in full, as edited; of the truth against the best other place, or of any two places."""
    with TURNS:
        return explain_case(
            open_predictor(source),
            case,
            about=about,
            against=against,
            edits=parse_edits(edits),
            hide_truth=hide_truth,
        )


def best_place(source: Source, case: int) -> int:
    """The model's first place, whom a page is about that hides the truth."""
    # Every argument as the view passes it: a call that leaves one out is another one to Streamlit's cache.
    return explain(source, case, about=None, against=None, hide_truth=True).target


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_MODEL)
def smallest_edit(source: Source, case: int, about: int, against: int, edits: str) -> tuple[Flip | None, int]:
    """The smallest single edit that reverses two places, and how many were tried."""
    with TURNS:
        return smallest_flip(build_edited_case(open_predictor(source), case, parse_edits(edits)), about, against)


def check(source: Source, shown: CaseExplanation) -> list[RowCheck]:
    """The robustness checks of what is shown."""
    known = tuple(_seed_tables(source))
    return _check(source, shown.case, shown.target, shown.edits, known, shown.truth is None)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def _check(
    source: Source, case: int, about: int, edits: str, known: tuple[int, ...], hide_truth: bool
) -> list[RowCheck]:
    """The same, kept by the seeds that are known."""
    with TURNS:
        edited_case = build_edited_case(open_predictor(source), case, parse_edits(edits)).explaining(about)
        if hide_truth:
            edited_case = edited_case.hiding_truth()
        return check_rows(edited_case, _seed_tables(source))


@st.cache_resource(max_entries=4, ttl=120, show_spinner=False, hash_funcs=BY_MODEL)
def _seed_tables(source: Source) -> dict[int, pd.DataFrame]:
    """Tables of seed replicates, shipped or kept; looked up again after two minutes."""
    assert source.checkpoint_hash is not None
    rows = len(datasets.open_dataset(source).cases)
    return seed_tables(source.dataset_hash, source.checkpoint_hash, rows=rows, bundle=source.bundle)


def has_curves(source: Source) -> bool:
    """Whether the model's prior is made of curves; the paper's is not."""
    return open_predictor(source).model.curves is not None


@st.cache_resource(max_entries=4, show_spinner="Reading the curves", hash_funcs=BY_MODEL)
def curves(source: Source) -> list[Curve]:
    """The learned curves of a model; empty for the paper's prior."""
    predictor = open_predictor(source)
    with TURNS:
        return learned_curves(predictor) if predictor.model.curves is not None else []


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_MODEL)
def feature_values(source: Source, case: int, edits: str, pois: tuple[int, ...]) -> dict[str, list[float | None]]:
    """The value of each feature at some places."""
    with TURNS:
        return values_at(build_edited_case(open_predictor(source), case, parse_edits(edits)), pois)


def miss_labels(source: Source, k: int) -> pd.Series:
    """One label per test case, see `analysis.long_tail.misses`; Walk and Long tail filter by it."""
    described_misses(source)  # outside the cache: what takes long is told while it is made
    return _miss_labels(source, k)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=BY_MODEL)
def _miss_labels(source: Source, k: int) -> pd.Series:
    return label_misses(described_misses(source), k)


@st.cache_resource(max_entries=4, show_spinner="Naming the misses, once for each model", hash_funcs=BY_MODEL)
def described_misses(source: Source) -> pd.DataFrame:
    """What labels for every K are made from."""
    opened, ablations = datasets.open_dataset(source), read_ablations(source)
    assert ablations is not None
    return describe_misses(opened.dataset, opened.cases, ablations)
