"""The analysis tables a view asks for, computed once for each choice and shared: nobody changes them."""

from collections.abc import Callable
from typing import Final, cast

import pandas as pd
import streamlit as st

from analysis.long_tail import accuracy_tables, headlines
from analysis.long_tail.ablations import ablation_table
from analysis.long_tail.lift import CONTROLS, two_hop_lift
from analysis.records.accuracy import METRIC_LABELS, is_known
from analysis.records.case_groups import By
from analysis.records.causes import Carriers, ablation_worth, find_carriers
from analysis.long_tail.notable_cases import NotableCase, notable_cases
from analysis.records.table_cache import TableKey, kept_table
from app.cached import datasets
from app.cached.ablations import kept_causes
from app.cached.keys import BY_DATASET, BY_MODEL
from app.cached.per_object import PerObject
from app.cached.records import LISTS, model_keys, read_records
from app.settings import AppSettings
from app.sources import Source
from recap import columns as c
from recap.baselines import FEATURE_CURVES
from recap.dataset_statistics import hop_statistics
from recap.errors import DataError
from recap.storage.json_text import read_json

MAX_HOPS: Final = 5
_FORMAT: Final = "1"
"""Of the kept tables of hops and lifts: their columns and how they are computed."""


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
    return [key for key in datasets.imported(source) if is_known(read_records(source, key), metric)]


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_MODEL)
def _by_group(source: Source, metric: str, more: tuple[str, ...]) -> pd.DataFrame:
    models = {datasets.model_label(source): read_records(source)}
    for name in more:
        if name != datasets.model_key(source):
            models[datasets.model_label(source, name)] = read_records(source, name)
    return accuracy_tables.accuracy_by_group(models, metric)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=BY_DATASET)
def distribution(source: Source) -> pd.DataFrame:
    """See `analysis.long_tail.accuracy_tables.transition_distribution`."""
    return accuracy_tables.transition_distribution(datasets.open_dataset(source).cases)


@st.cache_resource(
    max_entries=16, show_spinner="Walking the transition graph, once for each city", hash_funcs=BY_DATASET
)
def hops(source: Source) -> pd.DataFrame:
    """See `recap.dataset_statistics.hop_statistics`."""
    opened = datasets.open_dataset(source)
    return _kept(source, "hops", MAX_HOPS, lambda: pd.DataFrame(hop_statistics(opened.dataset, opened.graph, MAX_HOPS)))


@st.cache_resource(
    max_entries=16, show_spinner="Comparing truths with chance, once for each city", hash_funcs=BY_DATASET
)
def lift(source: Source) -> pd.DataFrame:
    """See `analysis.long_tail.lift.two_hop_lift`."""
    return _kept(source, "two-hop-lift", len(CONTROLS), lambda: two_hop_lift(datasets.open_dataset(source)))


def _kept(source: Source, kind: str, rows: int, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """A table of the dataset alone, from the user's cache where it was made before."""
    key = TableKey(source.dataset_hash, kind, c.SPLIT_NAMES[c.TEST], kind, _FORMAT)
    return kept_table(key, make, rows=rows, keep=not AppSettings.from_environment().read_only)


def ablations(source: Source, metric: str, group: str = "all") -> pd.DataFrame | None:
    """The bundle's ablation results, or None where the source has none of its own."""
    if source.bundle is None or source.checkpoint_hash is None:
        return None
    try:
        changed = (source.bundle / "ablations.json").stat().st_mtime_ns
    except OSError:
        return None
    return _ablations(source, metric, group, changed)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=BY_MODEL)
def _ablations(source: Source, metric: str, group: str, changed: int) -> pd.DataFrame | None:
    assert source.bundle is not None
    try:
        content = read_json(source.bundle / "ablations.json")
        if content["checkpoint_hash"] != source.checkpoint_hash:
            return None
        table = ablation_table(content, metric, group)
    except (OSError, ValueError, KeyError, TypeError, DataError):
        return None
    return table if len(table) else None


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=BY_MODEL)
def notable(source: Source, *, causes: bool) -> list[NotableCase]:
    """See `analysis.long_tail.notable_cases`; by the kept ablations, or by what coincides."""
    opened = datasets.open_dataset(source)
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
    return None if table is None else ablation_worth(table, datasets.open_dataset(source).cases[c.USER].to_numpy())


def curves_finding(source: Source) -> str:
    """See `analysis.long_tail.headlines.curves_finding`; empty where the curves were not fitted."""
    if not source.has_parts or FEATURE_CURVES not in model_keys(source):
        return ""
    records = read_records(source), read_records(source, FEATURE_CURVES)
    return headlines.curves_finding(datasets.model_label(source), *records)


def flat_records(source: Source, model: str | None = None) -> pd.DataFrame:
    """The evaluation records without the columns that hold lists."""
    return read_records(source, model).drop(columns=list(LISTS), errors="ignore")
