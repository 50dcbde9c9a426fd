"""The analysis tables a view asks for, computed once for each choice and shared: nobody changes them."""

from collections.abc import Callable
from typing import Final, cast

import pandas as pd
import streamlit as st

from analysis.long_tail import accuracy_tables
from analysis.long_tail import lift as lift_analysis
from analysis.long_tail.ablations import ablation_table
from analysis.records.accuracy import METRIC_LABELS, is_known
from analysis.records.bootstrap import Unit
from analysis.records.carriers import Carriers, find_carriers
from analysis.records.case_groups import By
from analysis.records.growing_records import LISTS, DrawnRecords
from analysis.records.notable_cases import NotableCase, notable_cases
from analysis.records.table_cache import TableKey, kept_table
from app.cached import datasets
from app.cached.keys import BY_DATASET, BY_MODEL, HashFuncs
from app.cached.per_object import PerObject
from app.cached.records import read_records
from app.cached.refining import model_keys
from app.cached.removals import kept_causes
from app.settings import AppSettings
from app.sources import Source
from recap import columns as c
from recap.dataset_statistics import hop_statistics
from recap.errors import DataError
from recap.storage.json_text import read_json

BY_DRAW: Final[HashFuncs] = {DrawnRecords: lambda draw: (draw.num_drawn, draw.num_cases)}
"""A source's draw of so many cases is always the same one."""
MAX_HOPS: Final = 5
_FORMAT: Final = "1"
"""Of the kept tables of hops and lifts: their columns and how they are computed."""


def metric_label(metric: str) -> str:
    """HR@20 for hr20."""
    return METRIC_LABELS[metric]


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def by_count(source: Source, model: str | None, beside: str, by: str, metric: str, unit: str) -> pd.DataFrame:
    """See `analysis.long_tail.accuracy_tables.accuracy_by_count`."""
    records, reference = read_records(source, model), read_records(source, beside)
    return accuracy_tables.accuracy_by_count(
        records, cast("By", by), metric, unit=cast("Unit", unit), reference=reference
    )


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def rises(source: Source, model: str | None, metric: str, unit: str) -> pd.DataFrame:
    """See `analysis.long_tail.accuracy_tables.accuracy_rises`."""
    return accuracy_tables.accuracy_rises(read_records(source, model), metric, unit=cast("Unit", unit))


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def by_evidence(source: Source, model: str | None, beside: str, metric: str, unit: str, eta: int) -> pd.DataFrame:
    """See `analysis.long_tail.accuracy_tables.accuracy_by_evidence`."""
    records, reference = read_records(source, model), read_records(source, beside)
    return accuracy_tables.accuracy_by_evidence(records, metric, eta=eta, unit=cast("Unit", unit), reference=reference)


def by_group(source: Source, metric: str) -> pd.DataFrame:
    """The source's model beside the baselines, see `analysis.long_tail.accuracy_tables.accuracy_by_group`.

    Imported predictions stand among them where their lists are long enough for the metric.
    """
    return _by_group(source, metric, (*known_imports(source, metric), *model_keys(source)[1:]))


def known_imports(source: Source, metric: str) -> list[str]:
    """Keys of the predictions without a model whose lists are long enough for the metric."""
    return [key for key in datasets.imported(source) if is_known(read_records(source, key), metric)]


def by_group_drawn(source: Source, metric: str, draw: DrawnRecords) -> pd.DataFrame:
    """The same over the cases of a draw, for all models alike."""
    return _by_group_drawn(source, metric, tuple(known_imports(source, metric)), draw)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_MODEL | BY_DRAW)
def _by_group_drawn(source: Source, metric: str, imports: tuple[str, ...], draw: DrawnRecords) -> pd.DataFrame:
    own, *others = draw.models
    drawn = draw.models[own][c.CASE].to_numpy()
    models = {datasets.model_label(source): draw.models[own]}
    models |= {datasets.model_label(source, key): read_records(source, key).iloc[drawn] for key in imports}
    models |= {datasets.model_label(source, key): draw.models[key] for key in others}
    return accuracy_tables.accuracy_by_group(models, metric)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=BY_MODEL | BY_DRAW)
def notable_drawn(source: Source, draw: DrawnRecords, *, causes: bool) -> list[NotableCase]:
    """`notable` among the cases of a draw."""
    own = draw.models[datasets.model_key(source)]
    removals = kept_causes(source) if causes else None
    if removals is not None:
        removals = removals.iloc[own[c.CASE].to_numpy()].reset_index(drop=True)
    return notable_cases(datasets.open_dataset(source), own, draw.models["markov"], removals)


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
    max_entries=32, show_spinner="Comparing truths with chance, once for each city", hash_funcs=BY_DATASET
)
def lift(source: Source, group: str) -> pd.DataFrame:
    """See `analysis.long_tail.lift.evidence_lift`."""
    rows = len(lift_analysis.EVIDENCE) * len(lift_analysis.CONTROLS)
    return _kept(
        source, f"lift-{group}", rows, lambda: lift_analysis.evidence_lift(datasets.open_dataset(source), group=group)
    )


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
    """See `analysis.records.notable_cases`; by the kept removals, or by what coincides."""
    opened = datasets.open_dataset(source)
    removals = kept_causes(source) if causes else None
    return notable_cases(opened, read_records(source), read_records(source, "markov"), removals)


def carriers(source: Source) -> Carriers | None:
    """See `analysis.records.carriers`; None where no removals are kept."""
    removals = kept_causes(source)
    return None if removals is None else _carriers(removals)


_carriers: Final = PerObject(find_carriers)


def flat_records(source: Source, model: str | None = None) -> pd.DataFrame:
    """The evaluation records without the columns that hold lists."""
    return read_records(source, model).drop(columns=list(LISTS), errors="ignore")
