"""The sides, records and comparisons of the Compare view, cached by content hash."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis.compare.cells import HitSelection, cell_label, cell_mask, listed_cases
from analysis.compare.comparison import Comparison, PairedCases, compare
from analysis.compare.side import Side, records_of_ranks
from analysis.records.case_selection import CaseSelection
from analysis.records.evaluation_records import MODEL_LABELS
from analysis.records.imported import ImportedPredictions, find_predictions
from app.cached.workspace import BY_DATASET, HashFuncs, folder_label, open_workspace, read_lists, read_records
from app.settings import AppSettings
from app.sources import Source, find_sources
from recap.baselines import BASELINES
from recap.errors import ConfigError
from recap.printable import markdown_text
from recap.storage.artifacts import CHECKPOINT_MANIFEST
from recap.storage.json_text import read_json

DEFAULT_A = "visit_count"
Selection = CaseSelection | HitSelection
"""Cases named by a link to Walk: a bar or cell of Long tail, or a list of a comparison."""


@dataclass(frozen=True)
class Option:
    """A model or list that can be one side of a comparison.

    Attributes:
        token: what a link carries; from content hashes, so that it means the same on every machine.
        label: what it is called.
        source: of a trained model.
        baseline, imported: the other two kinds.
        shown: what Walk and Explain open of it; None for a counter.
    """

    token: str
    label: str
    source: Source | None = None
    baseline: str | None = None
    imported: ImportedPredictions | None = None
    shown: Source | None = None


BY_OPTION: HashFuncs = BY_DATASET | {Option: lambda option: option.token}


def side_options(source: Source) -> dict[str, Option]:
    """All sides that have or can compute records of the source's dataset, by token."""
    mine = _checkpoints(source)
    names = [folder_label(item) for item in mine]
    options = []
    for item, name in zip(mine, names, strict=True):
        label = name if names.count(name) == 1 else f"{name} ({item.token[:6]})"
        options.append(Option(item.token, label, source=item, shown=item))
    options += [
        Option(item.key, item.name, imported=item, shown=source.ranked_by(item.key))
        for item in find_predictions(source.dataset_hash)
    ]
    options += [Option(name, MODEL_LABELS[name], baseline=name) for name in reversed(BASELINES)]
    return {option.token: option for option in options}


def default_pair(source: Source) -> tuple[str, str]:
    """A: visit count. B: the source's own model, else the feature curves."""
    return DEFAULT_A, BASELINES[-1] if source.checkpoint_hash is None else source.token


def read_side(source: Source, option: Option) -> Side:
    """Read a side with its records; compute them, with a message, if they are missing.

    Made here and in no cached function, which would play back the message's empty place at every later run.
    """
    if option.baseline is not None:
        read_records(source.without_checkpoint, option.baseline)
    if option.source is not None:
        read_records(option.source)
    return _side(source, option)


def listed_records(source: Source, option: Option) -> pd.DataFrame:
    """Records of a side with the best places of every case."""
    if option.baseline is not None:
        return read_lists(source.without_checkpoint, option.baseline)
    return read_side(source, option).cases if option.source is None else read_lists(option.source)


@st.cache_resource(max_entries=24, show_spinner=False, hash_funcs=BY_OPTION)
def _side(source: Source, option: Option) -> Side:
    if option.baseline is not None:
        return Side(option.token, option.label, read_records(source.without_checkpoint, option.baseline))
    if option.source is None:
        assert option.imported is not None
        cases = open_workspace(source).cases
        return Side(option.token, option.label, option.imported.read(len(cases)))
    return Side(option.token, option.label, read_records(option.source), _replicates(option.source), trained=True)


def _replicates(source: Source) -> tuple[pd.DataFrame, ...]:
    """Records of the same model with other seeds: the kept ones, and those of open checkpoints."""
    kept = open_workspace(source).seeds()
    tables = [records_of_ranks(open_workspace(source).cases, ranks) for ranks in kept.values()]
    mine = _training(source)
    for other in _checkpoints(source):
        train = _training(other)
        is_replicate = train and mine and {**train, "seed": 0} == {**mine, "seed": 0} and train["seed"] != mine["seed"]
        if is_replicate and train["seed"] not in kept:  # type: ignore[index]  # it was read
            tables.append(read_records(other))
    return tuple(tables)


def _checkpoints(source: Source) -> list[Source]:
    found = find_sources(AppSettings.from_environment())
    return [item for item in found if item.dataset_hash == source.dataset_hash and item.checkpoint_hash is not None]


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=BY_DATASET)
def paired_cases(source: Source) -> PairedCases:
    """The cases of the source's dataset, paired for every comparison."""
    return PairedCases(open_workspace(source).cases)


def compared(source: Source, a: Option, b: Option, metric: str, k: int) -> Comparison:
    read_side(source, a), read_side(source, b)
    return _compared(source, a, b, metric, k)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_OPTION)
def _compared(source: Source, a: Option, b: Option, metric: str, k: int) -> Comparison:
    return compare(paired_cases(source), _side(source, a), _side(source, b), metric, k)


def cell_cases(source: Source, a: Option, b: Option, k: int, cell: str) -> pd.DataFrame:
    read_side(source, a), read_side(source, b)
    return _cell_cases(source, a, b, k, cell)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_OPTION)
def _cell_cases(source: Source, a: Option, b: Option, k: int, cell: str) -> pd.DataFrame:
    side_a, side_b = _side(source, a), _side(source, b)
    return listed_cases(side_a, side_b, cell_mask(side_a, side_b, k, cell))


def hit_mask(source: Source, selection: HitSelection) -> np.ndarray:
    """Mask of the test cases in a list of a comparison.

    Raises:
        ConfigError: a side is not here.
    """
    a, b = _sides_of(source, selection)
    return cell_mask(read_side(source, a), read_side(source, b), selection.k, selection.cell)


def hit_label(source: Source, selection: HitSelection) -> str:
    """Label of the cases in a list of a comparison.

    Raises:
        ConfigError: a side is not here.
    """
    a, b = _sides_of(source, selection)
    return cell_label(selection.cell, a.label, b.label)


def _sides_of(source: Source, selection: HitSelection) -> tuple[Option, Option]:
    options = side_options(source)
    if not {selection.a, selection.b} <= set(options):
        raise ConfigError("the link compares a model that is not open here")
    return options[selection.a], options[selection.b]


def _training(source: Source) -> dict[str, Any] | None:
    """What two checkpoints must share to be the same model; None if it cannot be read."""
    assert source.checkpoint_folder is not None
    try:
        manifest = read_json(source.checkpoint_folder / CHECKPOINT_MANIFEST)
    except (OSError, ValueError):
        return None
    train = manifest.get("train") if isinstance(manifest, dict) else None
    return train if isinstance(train, dict) else None


def parse_selection(source: Source, text: str) -> Selection:
    """Read a selection from the text of a link.

    Raises:
        ConfigError: another form, or a comparison with a model that is not open here.
    """
    if not text.startswith("hits:"):
        return CaseSelection.parse(text)
    selection = HitSelection.parse(text)
    hit_label(source, selection)
    return selection


def selected_cases(source: Source, selection: Selection) -> np.ndarray:
    """Mask of the selected test cases."""
    if isinstance(selection, HitSelection):
        return hit_mask(source, selection)
    return selection.mask(open_workspace(source).cases)


def selection_label(source: Source, selection: Selection) -> str:
    """What the selected cases have in common, in words."""
    if isinstance(selection, HitSelection):
        return hit_label(source, selection)
    labels = open_workspace(source).labels
    if selection.kind == "poi" and selection.numbers[0] < len(labels):
        return f"From or to {markdown_text(labels[selection.numbers[0]])}"
    return selection.label
