"""Tables of the views, computed once per choice and shared; do not change them."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import pandas as pd
import streamlit as st

from analysis.cases.case_table import USER_NAME, case_table, listed_table
from analysis.cases.recipes import FoundCases, RecipeName, RecipeTables, find_all
from analysis.long_tail import accuracy_tables, overview_headlines
from analysis.long_tail.lift import kept_hops, kept_lift
from analysis.long_tail.miss_map import miss_cells
from analysis.long_tail.misses import describe_misses, label_misses
from analysis.long_tail.notable_cases import NotableCase, find_notable
from analysis.records.accuracy import is_known
from analysis.records.case_selection import CaseSelection
from analysis.records.causes import ablation_worth, worth_by_kind
from analysis.records.evaluation_records import MODEL_LABELS
from app.cached.figures import BY_FUNCTION
from app.cached.workspace import (
    BY_DATASET,
    BY_MODEL,
    BY_RANKER,
    Ranker,
    checkpoint_rankers,
    checkpoints_of,
    imported_rankers,
    is_large,
    kept_causes,
    model_key,
    model_keys,
    model_label,
    open_workspace,
    rankers_by_token,
    read_ablations,
    read_lists,
    read_records,
)
from app.sources import Source
from app.threads import share_cores
from recap import columns as c
from recap.baselines import AT_TIME, BASELINES, FEATURE_CURVES, visit_counter

_Made = TypeVar("_Made")
FIRST_CARDS: Final = 12
_COUNTERS: Final = ("visit_count", "markov")
"""Recipes compare with these; cases flip against the first."""


def rankers(source: Source, metric: str) -> dict[str, Ranker]:
    """All rankers of the source's dataset by token: its own model, checkpoints, published models, counters.

    Imported predictions are included if their lists are long enough for the metric.
    """
    checkpoints = [other for other in checkpoints_of(source) if other.checkpoint_hash != source.checkpoint_hash]
    if source.checkpoint_hash is not None:
        checkpoints = [source, *checkpoints]
    listed = checkpoint_rankers(checkpoints)
    listed += [ranker for ranker in imported_rankers(source) if is_known(ranker.records, metric)]
    listed = [ranker for ranker in listed if ranker.reads_time == source.reads_time]
    own, alone = model_key(source), source.without_checkpoint
    listed += [Ranker(name, MODEL_LABELS[name], alone, name) for name in model_keys(source) if name in BASELINES]
    if source.checkpoint_hash is None:
        listed.sort(key=lambda ranker: ranker.token != own)
    return rankers_by_token(listed)


@st.cache_resource(max_entries=1024, show_spinner=False, hash_funcs=BY_RANKER | BY_FUNCTION)
def of_records(
    make: Callable[..., _Made], ranker: Ranker, *shown: Any, reference: Ranker | None = None, **options: Any
) -> _Made:
    """``make(records, *shown, **options)``, with ``reference=`` the records of a second model if there is one."""
    more = {} if reference is None else {"reference": reference.records}
    return make(ranker.records, *shown, **options, **more)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=BY_RANKER)
def by_user(ranker: Ranker) -> pd.DataFrame:
    opened = open_workspace(ranker.source)
    table = accuracy_tables.accuracy_by_user(ranker.records, opened.dataset.num_users)
    table.insert(1, USER_NAME, table[c.USER].map(opened.user_name))
    return table


def by_group(source: Source, metric: str) -> pd.DataFrame:
    """Accuracy by group of every model of the dataset with records; the source's own is first."""
    first, *others = rankers(source, metric).values()
    known = [first, *(ranker for ranker in others if ranker.model in BASELINES or ranker.is_kept)]
    for ranker in known:  # outside the cache, which would repeat the progress bar
        _ = ranker.records
    return _by_group(tuple(known), metric)


def lead_groups(source: Source, metric: str, groups: pd.DataFrame) -> pd.DataFrame:
    """Rows of `by_group` for the figure."""
    published = [ranker.label for ranker in rankers(source, metric).values() if ranker.is_published]
    return accuracy_tables.lead_models(groups, published)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_RANKER)
def _by_group(known: tuple[Ranker, ...], metric: str) -> pd.DataFrame:
    return accuracy_tables.accuracy_by_group({ranker.label: ranker.records for ranker in known}, metric)


@st.cache_resource(max_entries=16, show_spinner="Ranking every next check-in", hash_funcs=BY_MODEL)
def next_records(source: Source) -> dict[str, pd.DataFrame]:
    """Records of every next check-in: the source's model and counters that know as much, by label; none for imports."""
    if source.imported is not None:
        return {}
    counters = (AT_TIME,) if source.reads_time else ("count_plus_markov", "visit_count")
    names = [None, *(name for name in counters if name != source.model)]
    share_cores()
    opened = [open_workspace(source, name) for name in names]
    return {workspace.label: workspace.next_records() for workspace in opened}


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=BY_DATASET)
def distribution(source: Source) -> pd.DataFrame:
    return accuracy_tables.transition_distribution(open_workspace(source).cases)


@st.cache_resource(max_entries=16, show_spinner="Following transitions, once per city", hash_funcs=BY_DATASET)
def hops(source: Source) -> pd.DataFrame:
    return kept_hops(open_workspace(source))


@st.cache_resource(
    max_entries=16, show_spinner="Comparing true places with chance, once per city", hash_funcs=BY_DATASET
)
def lift(source: Source) -> pd.DataFrame:
    return kept_lift(open_workspace(source))


def notable(source: Source) -> list[NotableCase]:
    """Notable cases; ablates a few cases if no ablations are kept."""
    for model in (None, visit_counter(source.reads_time)):  # outside the cache, because of its message
        read_records(source, model)
    return _notable(source, all_ablated=kept_causes(source) is not None)


@st.cache_resource(max_entries=32, show_spinner="Checking three cases", hash_funcs=BY_MODEL)
def _notable(source: Source, *, all_ablated: bool) -> list[NotableCase]:
    may_ablate = source.has_parts and not all_ablated and not is_large(source)
    if may_ablate:
        share_cores()
    return find_notable(open_workspace(source), may_ablate=may_ablate)


def worth(source: Source, k: int | None = None) -> pd.DataFrame | None:
    """Accuracy lost without each part; None if no ablations are kept.

    Args:
        k: of the hits; None for accuracy among known and new places.
    """
    return None if kept_causes(source) is None else _worth(source, k)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=BY_MODEL)
def _worth(source: Source, k: int | None) -> pd.DataFrame:
    table, users = kept_causes(source), open_workspace(source).cases[c.USER].to_numpy()
    assert table is not None
    return worth_by_kind(table, users) if k is None else ablation_worth(table, users, k)


def curves_lines(source: Source, metric: str) -> tuple[str, str]:
    """Headline and line on the feature curves alone; empty if they have no records."""
    if not source.has_parts or FEATURE_CURVES not in model_keys(source):
        return "", ""
    for model in (None, FEATURE_CURVES):  # outside the cache, because of its message
        read_records(source, model)
    return _curves_lines(source, model_label(source), metric)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_MODEL)
def _curves_lines(source: Source, label: str, metric: str) -> tuple[str, str]:
    both = read_records(source), read_records(source, FEATURE_CURVES)
    line = overview_headlines.fitted_curves_line(label, accuracy_tables.paired_difference(*both, metric), metric)
    return overview_headlines.curves_headline(label, *both), line


def miss_labels(source: Source, k: int) -> pd.Series:
    described_misses(source)  # outside the cache, because of its message
    return _miss_labels(source, k)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=BY_MODEL)
def _miss_labels(source: Source, k: int) -> pd.Series:
    return label_misses(described_misses(source), k)


@st.cache_resource(max_entries=4, show_spinner="Sorting the misses, once per model", hash_funcs=BY_MODEL)
def described_misses(source: Source) -> pd.DataFrame:
    opened, ablations = open_workspace(source), read_ablations(source)
    assert ablations is not None
    return describe_misses(opened.dataset, opened.cases, ablations)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_RANKER)
def cells_of_misses(ranker: Ranker, k: int) -> pd.DataFrame:
    return miss_cells(open_workspace(ranker.source), ranker.records, k)


def listed_table_of(ranker: Ranker, reference: Ranker, k: int, selection: str) -> pd.DataFrame:
    """Cases of a bar or cell with the ranks of two models.

    Args:
        selection: text of a `CaseSelection`; empty for all cases.
    """
    is_ablated = ranker.model is None and kept_causes(ranker.source) is not None
    return _listed_cases(ranker, reference, k, selection, is_ablated=is_ablated)


@st.cache_resource(max_entries=24, show_spinner=False, hash_funcs=BY_RANKER)
def _listed_cases(ranker: Ranker, reference: Ranker, k: int, selection: str, *, is_ablated: bool) -> pd.DataFrame:
    opened, described = open_workspace(ranker.source), described_misses(ranker.source) if is_ablated else None
    table = listed_table(case_table(opened, ranker.records, described, k), reference.records[c.RANK], k)
    if not selection:
        return table
    inside = CaseSelection.parse(selection).mask(opened.cases)
    return table[inside[table[c.CASE].to_numpy()]]


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=BY_DATASET)
def cases_of_any_model(source: Source) -> pd.DataFrame:
    """The case table without ranks, reasons or causes."""
    opened = open_workspace(source)
    return case_table(opened, pd.DataFrame({c.RANK: [float("nan")] * len(opened.cases)}))


def other_models(source: Source) -> dict[str, Ranker]:
    """Models that recipes compare with, by label: two counters, and the dataset's shipped checkpoints.

    The user's own trainings are left out, so they do not change a recipe's result.
    """
    mine, alone = model_key(source), source.without_checkpoint
    counters = (AT_TIME,) if source.reads_time else _COUNTERS
    models = [Ranker(name, MODEL_LABELS[name], alone, name) for name in counters if name != mine]
    opened = [other for other in checkpoints_of(source) if other.reads_time == source.reads_time]
    shipped = [item for item in opened if item.checkpoint_folder and item.checkpoint_folder.parent == item.bundle]
    for ranker in rankers_by_token(checkpoint_rankers(shipped)).values():
        if ranker.source.checkpoint_hash != mine and ranker.is_kept:
            models.append(ranker)
    return {ranker.label: ranker for ranker in models}


def recipe_tables(source: Source) -> RecipeTables:
    """Tables that recipes search; without ablations if none are kept."""
    return _tables(source, _with_records(source), kept_causes(source) is not None)


def _with_records(source: Source) -> tuple[str, ...]:
    """The names of the other models, after reading all records."""
    others = other_models(source)
    read_records(source)
    for ranker in others.values():
        _ = ranker.records
    return tuple(others)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_MODEL)
def _tables(source: Source, names: tuple[str, ...], has_causes: bool) -> RecipeTables:
    models = other_models(source)
    return RecipeTables(
        model=model_label(source),
        records=read_lists(source),
        train_checkins=open_workspace(source).dataset.pois[c.TRAIN_CHECKINS].to_numpy(),
        others={name: models[name].records for name in names},
        ablations=kept_causes(source) if has_causes else None,
        probabilistic=source.has_parts,
    )


def recipes(source: Source) -> dict[RecipeName, FoundCases]:
    return _recipes(source, _with_records(source), kept_causes(source) is not None)


@st.cache_resource(max_entries=8, show_spinner="Searching all cases", hash_funcs=BY_MODEL)
def _recipes(source: Source, names: tuple[str, ...], has_causes: bool) -> dict[RecipeName, FoundCases]:
    return find_all(_tables(source, names, has_causes), first=FIRST_CARDS)
