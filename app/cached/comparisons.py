"""Sides, records and comparisons of the Compare view, cached by content hash."""

from itertools import compress

import numpy as np
import pandas as pd
import streamlit as st

from analysis.compare.cells import HitSelection, cell_label, cell_mask, listed_cases
from analysis.compare.comparison import Comparison, PairedCases, compare
from analysis.compare.model_table import merge_seeds, model_table, write_table
from analysis.compare.side import Side, records_of_ranks
from analysis.records.case_selection import CaseSelection
from analysis.records.evaluation_records import MODEL_LABELS
from app.cached.workspace import (
    BY_DATASET,
    BY_RANKER,
    Ranker,
    checkpoint_rankers,
    checkpoints_of,
    imported_predictions,
    imported_rankers,
    open_workspace,
    rankers_by_token,
    read_records,
)
from app.sources import Source, other_question
from recap.baselines import baselines_of, visit_counter
from recap.errors import ConfigError

Selection = CaseSelection | HitSelection
"""Cases named by a link to Walk: a bar or cell of Long tail, or a list of a comparison."""


def side_options(source: Source) -> dict[str, Ranker]:
    """All sides that have or can compute records of the source's dataset, by token: those that know as much of the
    next check-in as the source's model, and this model with the other question, see `same_question`.
    """
    alone, checkpoints = source.without_checkpoint, checkpoints_of(source)
    options = checkpoint_rankers(checkpoints) + imported_rankers(source)
    options = [option for option in options if option.reads_time == source.reads_time]
    options += [Ranker(name, MODEL_LABELS[name], alone, name) for name in baselines_of(source.reads_time)]
    other = other_question(checkpoints, source)
    return rankers_by_token([*options, *checkpoint_rankers([] if other is None else [other])])


def same_question(a: Ranker, b: Ranker, source: Source) -> tuple[Ranker, Ranker]:
    """The sides; where only one of them knows the time, the other is the source's own model: the two are then one model
    with and without it, which shows what knowing the time is worth.
    """
    if a.reads_time == b.reads_time:
        return a, b
    own = side_options(source)[source.token]
    return (a, own) if a.reads_time != source.reads_time else (own, b)


def default_pair(source: Source) -> tuple[str, str]:
    """A counts visits; B is the source's own model, or else the feature curves."""
    own = baselines_of(False)[0] if source.checkpoint_hash is None else source.token
    return visit_counter(source.reads_time), own


def all_models_table(source: Source, form: str, *, intervals: bool, metric: str, against: str | None = None) -> str:
    """All sides that have ranked the test cases, in a form of `write_table`."""
    options = [option for option in side_options(source).values() if option.reads_time == source.reads_time]
    ranked = {option.label: option.records for option in options if option.is_kept}
    imported = [option.label for option in options if option.model in imported_predictions(source)]
    models = merge_seeds(ranked, imported)
    first = against if against in models else None
    table = model_table(models, metric=metric, against=first, dataset=source.name)
    return write_table(table, form, intervals=intervals)


def read_side(option: Ranker) -> Side:
    """Read a side with its records; compute missing ones, with a message.

    Not in a cached function, which would repeat the message's empty place at every run.
    """
    _ = option.records
    return _side(option, tuple(_replicates(option)))


@st.cache_resource(max_entries=24, show_spinner=False, hash_funcs=BY_RANKER)
def _side(option: Ranker, replicates: tuple[str, ...]) -> Side:
    """Cached by the tokens of the replicates too: a seed that is trained later belongs to the side from then on."""
    if option.model is not None:
        return Side(option.token, option.label, option.records)
    is_trained = option.source.checkpoint_folder is not None  # `pretrained` has no seed
    opened, others = open_workspace(option.source), _replicates(option)
    kept = opened.seeds()
    tables = [records_of_ranks(opened.cases, ranks) for ranks in kept.values()]
    tables += [read_records(others[token]) for token in replicates if others[token].train["seed"] not in kept]
    return Side(option.token, option.label, option.records, tuple(tables), trained=is_trained)


def _replicates(option: Ranker) -> dict[str, Source]:
    """The open checkpoints that differ from a side's only in their seed, by token."""
    source = option.source
    mine = source.train if option.model is None else {}
    others = [other for other in checkpoints_of(source) if other.given_time == source.given_time and mine]
    is_seed = (other.train != mine and other.train == mine | {"seed": other.train.get("seed")} for other in others)
    return {other.token: other for other in compress(others, is_seed)}


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=BY_DATASET)
def paired_cases(source: Source) -> PairedCases:
    return PairedCases(open_workspace(source).cases)


def compared(a: Ranker, b: Ranker, metric: str, k: int) -> Comparison:
    read_side(a), read_side(b)
    return _compared(a, b, metric, k, seeds=(tuple(_replicates(a)), tuple(_replicates(b))))


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_RANKER)
def _compared(a: Ranker, b: Ranker, metric: str, k: int, *, seeds: tuple[tuple[str, ...], ...]) -> Comparison:
    side_a, side_b = map(_side, (a, b), seeds)
    return compare(paired_cases(a.source), side_a, side_b, metric, k)


def cell_cases(a: Ranker, b: Ranker, k: int, cell: str) -> pd.DataFrame:
    read_side(a), read_side(b)
    return _cell_cases(a, b, k, cell)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_RANKER)
def _cell_cases(a: Ranker, b: Ranker, k: int, cell: str) -> pd.DataFrame:
    side_a, side_b = read_side(a), read_side(b)
    return listed_cases(side_a, side_b, cell_mask(side_a, side_b, k, cell))


def _sides_of(source: Source, selection: HitSelection) -> tuple[Ranker, Ranker]:
    """The sides of a link's comparison.

    Raises:
        ConfigError: a side is not here.
    """
    options = side_options(source)
    if not {selection.a, selection.b} <= set(options):
        raise ConfigError("the link compares a model that is not open here")
    return options[selection.a], options[selection.b]


def parse_selection(source: Source, text: str) -> Selection:
    """Read a selection from the text of a link.

    Raises:
        ConfigError: another form, or a comparison with a model that is not open here.
    """
    if not text.startswith("hits:"):
        return CaseSelection.parse(text)
    selection = HitSelection.parse(text)
    _sides_of(source, selection)
    return selection


def selected_cases(source: Source, selection: Selection) -> np.ndarray:
    if isinstance(selection, HitSelection):
        a, b = _sides_of(source, selection)
        return cell_mask(read_side(a), read_side(b), selection.k, selection.cell)
    return selection.mask(open_workspace(source).cases)


def selection_label(source: Source, selection: Selection) -> str:
    if isinstance(selection, HitSelection):
        a, b = _sides_of(source, selection)
        return cell_label(selection.cell, a.label, b.label)
    return selection.label
