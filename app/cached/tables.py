"""The tables a view asks for, computed once for each choice and shared: nobody changes them."""

from typing import Final, cast

import pandas as pd
import streamlit as st

from analysis.cases.case_table import case_table
from analysis.cases.recipes import FoundCases, RecipeName, RecipeTables, find_all
from analysis.long_tail import accuracy_tables, headlines
from analysis.long_tail.ablations import shipped_ablations
from analysis.long_tail.lift import kept_hops, kept_lift
from analysis.long_tail.miss_map import miss_cells
from analysis.long_tail.misses import describe_misses, label_misses
from analysis.long_tail.notable_cases import NotableCase, notable_cases
from analysis.records.accuracy import METRIC_LABELS, is_known
from analysis.records.case_groups import By
from analysis.records.causes import Carriers, ablation_worth, deciding_part, find_carriers, worth_by_kind
from analysis.records.evaluation_records import LISTS, MODEL_LABELS, records_key
from app.cached.figures import PerObject
from app.cached.workspace import (
    BY_DATASET,
    BY_MODEL,
    folder_label,
    imported_predictions,
    kept_causes,
    model_key,
    model_keys,
    model_label,
    open_workspace,
    read_ablations,
    read_lists,
    read_records,
    waits_for_causes,
)
from app.settings import AppSettings
from app.sources import Source, find_sources
from recap import columns as c
from recap.baselines import FEATURE_CURVES

FIRST_CARDS: Final = 12
COUNTERS: Final = ("visit_count", "markov")
"""Recipes compare with these; cases flip against the first."""


def metric_label(metric: str) -> str:
    """HR@20 for hr20."""
    return METRIC_LABELS[metric]


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def by_count(source: Source, model: str | None, beside: str, by: str, metric: str) -> pd.DataFrame:
    """See `analysis.long_tail.accuracy_tables.accuracy_by_count`."""
    records, reference = read_records(source, model), read_records(source, beside)
    return accuracy_tables.accuracy_by_count(records, cast("By", by), metric, reference=reference)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def rises(source: Source, model: str | None, metric: str) -> pd.DataFrame:
    """See `analysis.long_tail.accuracy_tables.accuracy_rises`."""
    return accuracy_tables.accuracy_rises(read_records(source, model), metric)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def by_cohort(source: Source, model: str | None, beside: str, metric: str, eta: int) -> pd.DataFrame:
    """See `analysis.long_tail.accuracy_tables.accuracy_by_cohort`."""
    records, reference = read_records(source, model), read_records(source, beside)
    return accuracy_tables.accuracy_by_cohort(records, metric, eta=eta, reference=reference)


def by_group(source: Source, metric: str) -> pd.DataFrame:
    """The source's model beside the baselines, see `analysis.long_tail.accuracy_tables.accuracy_by_group`.

    Imported predictions stand among them where their lists are long enough for the metric.
    """
    models = (*known_imports(source, metric), *model_keys(source)[1:])
    for name in (None, *models):  # outside the cache, which would play back the progress bar at every later call
        read_records(source, name)
    return _by_group(source, metric, models)


def known_imports(source: Source, metric: str) -> list[str]:
    """Keys of the predictions without a model whose lists are long enough for the metric."""
    return [key for key in imported_predictions(source) if is_known(read_records(source, key), metric)]


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_MODEL)
def _by_group(source: Source, metric: str, more: tuple[str, ...]) -> pd.DataFrame:
    models = {model_label(source): read_records(source)}
    for name in more:
        if name != model_key(source):
            models[model_label(source, name)] = read_records(source, name)
    return accuracy_tables.accuracy_by_group(models, metric)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=BY_DATASET)
def distribution(source: Source) -> pd.DataFrame:
    """See `analysis.long_tail.accuracy_tables.transition_distribution`."""
    return accuracy_tables.transition_distribution(open_workspace(source).cases)


@st.cache_resource(
    max_entries=16, show_spinner="Walking the transition graph, once for each city", hash_funcs=BY_DATASET
)
def hops(source: Source) -> pd.DataFrame:
    """See `recap.dataset_statistics.hop_statistics`."""
    return kept_hops(open_workspace(source))


@st.cache_resource(
    max_entries=16, show_spinner="Comparing truths with chance, once for each city", hash_funcs=BY_DATASET
)
def lift(source: Source) -> pd.DataFrame:
    """See `analysis.long_tail.lift.two_hop_lift`."""
    return kept_lift(open_workspace(source))


def ablations(source: Source, metric: str) -> pd.DataFrame | None:
    """The bundle's ablation results, or None where the source has none of its own."""
    if source.checkpoint_hash is None:
        return None
    return shipped_ablations(source.bundle, metric, checkpoint_hash=source.checkpoint_hash)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=BY_MODEL)
def notable(source: Source, *, causes: bool) -> list[NotableCase]:
    """See `analysis.long_tail.notable_cases`; by the kept ablations, or by what coincides."""
    opened = open_workspace(source)
    ablations = kept_causes(source) if causes else None
    return notable_cases(opened, read_records(source), read_records(source, "markov"), ablations)


def carriers(source: Source) -> Carriers | None:
    """See `analysis.records.causes`; None where no ablations are kept."""
    ablations = kept_causes(source)
    return None if ablations is None else _carriers(ablations)


_carriers: Final = PerObject(find_carriers)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=BY_MODEL)
def worth(source: Source) -> pd.DataFrame | None:
    """See `analysis.records.causes.ablation_worth`; None where no ablations are kept."""
    table = kept_causes(source)
    return None if table is None else ablation_worth(table, open_workspace(source).cases[c.USER].to_numpy())


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=BY_MODEL)
def _worth_by_kind(source: Source) -> pd.DataFrame:
    """See `analysis.records.causes.worth_by_kind`; the ablations are kept."""
    table = kept_causes(source)
    assert table is not None
    return worth_by_kind(table, open_workspace(source).cases[c.USER].to_numpy())


def worth_by_kind_of(source: Source) -> pd.DataFrame | None:
    """The same; None where no ablations are kept."""
    return None if kept_causes(source) is None else _worth_by_kind(source)


def deciding_parts(source: Source) -> tuple[str | None, str | None] | None:
    """What decides between known and among new places; None where no ablations are kept."""
    worth = worth_by_kind_of(source)
    return None if worth is None else (deciding_part(worth, "known"), deciding_part(worth, "new"))


def curves_finding(source: Source) -> str:
    """See `analysis.long_tail.headlines.curves_finding`; empty where the curves were not fitted."""
    if not source.has_parts or FEATURE_CURVES not in model_keys(source):
        return ""
    records = read_records(source), read_records(source, FEATURE_CURVES)
    return headlines.curves_finding(model_label(source), *records)


def flat_records(source: Source, model: str | None = None) -> pd.DataFrame:
    """The evaluation records without the columns that hold lists."""
    return read_records(source, model).drop(columns=list(LISTS), errors="ignore")


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
    opened, ablations = open_workspace(source), read_ablations(source)
    assert ablations is not None
    return describe_misses(opened.dataset, opened.cases, ablations)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_MODEL)
def cells_of_misses(source: Source, model: str | None, k: int) -> pd.DataFrame:
    """See `analysis.long_tail.miss_map.miss_cells`."""
    return miss_cells(open_workspace(source), read_records(source, model), k)


def _cell_rows(cells: pd.DataFrame) -> pd.DataFrame:
    return cells[["cases", "missed", "share", "users", "south", "west"]]


rows_of_cells: Final = PerObject(_cell_rows)
"""The numbers of the cells, as a table shows them."""


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_MODEL)
def _table(source: Source, k: int, has_causes: bool) -> pd.DataFrame:
    described = described_misses(source) if has_causes else None
    return case_table(open_workspace(source), read_records(source), described, k)


def all_cases(source: Source, k: int = 20) -> pd.DataFrame:
    """See `analysis.cases.case_table`; shared by all visitors, so do not change it."""
    read_records(source)  # outside the cache: what takes long is told while it is made
    # Where the cases are many, ablations are not made while somebody waits: the table has no kinds of misses then.
    has_causes = source.has_parts and not waits_for_causes(source)
    return _table(source, k, has_causes)


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=BY_DATASET)
def cases_of_any_model(source: Source) -> pd.DataFrame:
    """The same without what hangs on a model: ranks are unknown, there are no reasons and causes."""
    opened = open_workspace(source)
    return case_table(opened, pd.DataFrame({c.RANK: [float("nan")] * len(opened.cases)}))


def other_models(source: Source) -> dict[str, Source | str]:
    """The models that recipes compare with, by label: two counters, and what came with the dataset.

    What the user trained is not among them, so that no training changes what a recipe finds.
    """
    mine = model_key(source)
    found: dict[str, Source | str] = {MODEL_LABELS[name]: name for name in COUNTERS if name != mine}
    for other in find_sources(AppSettings.from_environment()):
        folder = other.checkpoint_folder
        if other.bundle is None or folder is None or folder.parent != other.bundle:
            continue
        is_other = other.dataset_hash == source.dataset_hash and other.checkpoint_hash != mine
        if is_other and records_key(other.dataset_hash, str(other.checkpoint_hash)).is_kept(other.bundle):
            found[folder_label(other)] = other
    return found


def recipe_tables(source: Source) -> RecipeTables:
    """The tables that recipes search; without ablations where none are kept, since a view does not wait for them."""
    return _tables(source, _with_records(source), kept_causes(source) is not None)


def _with_records(source: Source) -> tuple[str, ...]:
    """The names of the other models, once all records are there: no cached function should wait for them."""
    beside = other_models(source)
    read_records(source)
    for other in beside.values():
        if isinstance(other, str):
            read_records(source, other)
        else:
            read_records(other)
    return tuple(beside)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_MODEL)
def _tables(source: Source, names: tuple[str, ...], has_causes: bool) -> RecipeTables:
    beside = other_models(source)
    others = {}
    for name in names:
        other = beside[name]
        others[name] = read_records(source, other) if isinstance(other, str) else read_records(other)
    return RecipeTables(
        model=model_label(source),
        records=read_lists(source),
        train_checkins=open_workspace(source).dataset.pois[c.TRAIN_CHECKINS].to_numpy(),
        others=others,
        ablations=kept_causes(source) if has_causes else None,
        probabilistic=source.has_parts,
    )


def recipes(source: Source) -> dict[RecipeName, FoundCases]:
    """Every recipe's cases, see `analysis.cases.recipes`."""
    return _recipes(source, _with_records(source), kept_causes(source) is not None)


@st.cache_resource(max_entries=8, show_spinner="Searching all cases", hash_funcs=BY_MODEL)
def _recipes(source: Source, names: tuple[str, ...], has_causes: bool) -> dict[RecipeName, FoundCases]:
    return find_all(_tables(source, names, has_causes), first=FIRST_CARDS)
