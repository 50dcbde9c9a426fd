"""Predictions, explanations and curves of an open model, cached by content hash."""

from datetime import date, datetime
from typing import Any

import pandas as pd
import streamlit as st

from analysis.explain.curves import Learned, describe_learned, values_at
from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import parse_edits
from analysis.explain.explain_case import explain_case
from analysis.explain.explanation import CaseExplanation
from analysis.explain.model_flow import ModelFlow, describe_flow
from analysis.explain.ranks_only import RanksOnly
from analysis.explain.ranks_only import explain_ranks as ranks_of_case
from analysis.explain.robustness import RowCheck, check_rows
from analysis.explain.what_if import Flip, smallest_flip
from analysis.records.ablations import GROUP_NAMES, describe_ablations
from analysis.trajectories import everyone
from analysis.trajectories.everyone import Everyone
from analysis.trajectories.predictions import CasePrediction, predict_case, recorded_prediction
from analysis.workspace import Workspace
from app.cached.workspace import BY_DATASET, BY_MODEL, kept_causes, open_workspace, read_records
from app.sources import Source
from app.threads import TURNS, share_cores
from recap import columns as c
from recap.asking.predictor import CaseRanker, Predictor
from recap.baselines import visit_counter
from recap.evaluation.scoring import rank_cases
from recap.history.moments import Moment


def ready(source: Source) -> Workspace:
    """The workspace with its model opened, under a message that says what is done.

    Raises:
        ConfigError: only imported predictions are open.
    """
    opened = open_workspace(source)
    share_cores()
    if not opened.is_open:
        with st.spinner(opened.opening):
            opened.scorer  # noqa: B018
    return opened


@st.cache_resource(max_entries=512, show_spinner=False, hash_funcs=BY_MODEL)
def predict(source: Source, moment: Moment, **options: Any) -> CasePrediction:
    """Predictions of the source's model, with options of `predict_case`; imported lists have cases only.

    They know the true next place if there is one: a view that hides it takes `CasePrediction.without_truth`.
    """
    if source.imported is not None:
        assert moment.case is not None
        return recorded_prediction(open_workspace(source), read_records(source), moment.case)
    opened = ready(source).at(moment)
    with TURNS:
        return predict_case(opened, moment, **options)


@st.cache_resource(max_entries=8, show_spinner="Predicting where everyone goes next", hash_funcs=BY_MODEL)
def predict_everyone(
    source: Source, as_of: date | None, at: datetime | None = None, closed: tuple[int, ...] = ()
) -> Everyone:
    opened = ready(source).known
    with TURNS:
        return everyone.predict_everyone(opened, as_of, at, closed)


def visit_count_rank(source: Source, case: int) -> float:
    """By the counter of visits that knows as much as the model."""
    return _baseline_rank(source, visit_counter(source.reads_time), case)


@st.cache_data(max_entries=4096, show_spinner=False, hash_funcs=BY_DATASET)
def _baseline_rank(source: Source, baseline: str, case: int) -> float:
    share_cores()
    opened = open_workspace(source, baseline)
    ranked = rank_cases(opened.scorer, opened.cases.iloc[[case]], opened.checkins)
    return float(ranked[c.RANK].iloc[0])


@st.cache_data(max_entries=4096, show_spinner=False, hash_funcs=BY_MODEL)
def ranks_without(source: Source, case: int) -> dict[str, float]:
    """Rank of the true place without each feature group and the graph token; kept ranks if there are any."""
    if not source.has_parts:
        return {}
    kept = kept_causes(source)
    if kept is None:
        with TURNS:
            row = describe_ablations(open_predictor(source), open_workspace(source).cases.iloc[[case]]).iloc[0]
    else:
        row = kept.iloc[case]
    return {name: float(row[f"without_{name}"]) for name in (*GROUP_NAMES, "graph_token")}


def open_ranker(source: Source, shown: int | Moment = 0) -> CaseRanker:
    """The model that ranks what is shown: a case, or another moment with all that is known of users."""
    return ready(source).at(shown).ranker


def open_predictor(source: Source, shown: int | Moment = 0) -> Predictor:
    """As `open_ranker`, of a checkpoint whose scores have parts, see `Source.has_parts`."""
    ranker = open_ranker(source, shown)
    assert isinstance(ranker, Predictor)
    return ranker


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def explain_ranks(source: Source, moment: Moment, *, edits: str = "", **asked: Any) -> RanksOnly:
    """Explain one case or moment of any checkpoint, as edited, by ranks only; ``asked``: ``about``, ``hide_truth``."""
    with TURNS:
        return ranks_of_case(open_ranker(source, moment), moment, edits=parse_edits(edits), **asked)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def explain(source: Source, moment: Moment, *, edits: str = "", **asked: Any) -> CaseExplanation:
    """Explain one case or moment, as edited; by default the truth, if known, against the best other place.

    Args:
        asked: ``about, against`` and ``hide_truth`` of `explain_case`.
    """
    with TURNS:
        return explain_case(open_predictor(source, moment), moment, edits=parse_edits(edits), **asked)


def best_place(source: Source, moment: Moment, *, hide_truth: bool = True) -> int:
    """The model's first choice, which a page explains while the truth is hidden or not known yet."""
    # Same arguments as in the view, for Streamlit's cache.
    return explain(source, moment, about=None, against=None, hide_truth=hide_truth).target


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_MODEL)
def smallest_edit(source: Source, moment: Moment, about: int, against: int, edits: str) -> tuple[Flip | None, int]:
    with TURNS:
        edited_case = build_edited_case(open_predictor(source, moment), moment, parse_edits(edits))
        return smallest_flip(edited_case, about, against)


def check(source: Source, shown: CaseExplanation) -> list[RowCheck]:
    known = tuple(_seed_tables(source))
    hidden = shown.has_truth and shown.truth is None
    return _check(source, shown.moment, shown.target, shown.edits, known, hidden)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def _check(
    source: Source, moment: Moment, about: int, edits: str, known: tuple[int, ...], hide_truth: bool
) -> list[RowCheck]:
    """Cached by the known seeds."""
    with TURNS:
        edited_case = build_edited_case(open_predictor(source, moment), moment, parse_edits(edits))
        return check_rows(edited_case.asked(about, hide_truth=hide_truth), _seed_tables(source))


@st.cache_resource(max_entries=4, ttl=120, show_spinner=False, hash_funcs=BY_MODEL)
def _seed_tables(source: Source) -> dict[int, pd.DataFrame]:
    """Tables of seed replicates, read again every two minutes."""
    return open_workspace(source).seeds()


@st.cache_resource(max_entries=4, show_spinner="Reading the curves", hash_funcs=BY_MODEL)
def learned(source: Source) -> Learned:
    predictor = open_predictor(source)
    with TURNS:
        return describe_learned(predictor)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def flow(source: Source, moment: Moment, *, about: int | None, against: int | None, hide_truth: bool) -> ModelFlow:
    """How the model scores the explained place and its runner-up."""
    with TURNS:
        edited_case = build_edited_case(open_predictor(source, moment), moment)
        return describe_flow(edited_case.asked(about, hide_truth=hide_truth), against)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_MODEL)
def feature_values(source: Source, moment: Moment, edits: str, pois: tuple[int, ...]) -> dict[str, list[float | None]]:
    with TURNS:
        return values_at(build_edited_case(open_predictor(source, moment), moment, parse_edits(edits)), pois)
