"""What the Compare view asks: who can stand on a side, a side's records, and the comparison; kept by content hash."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis.compare.cells import HitSelection, cell_label, cell_mask, listed_cases
from analysis.compare.comparison import Comparison, PairedCases, compare
from analysis.compare.side import SEEDS_MARK, Side, label_of_seeds, table_of_ranks
from analysis.records.case_selection import CaseSelection
from analysis.records.evaluation_records import MODEL_LABELS, records_key
from analysis.records.imported import ImportedPredictions, find_predictions
from app.cached.workspace import BY_DATASET, BY_MODEL, HashFuncs, folder_label, open_workspace, read_lists, read_records
from app.settings import AppSettings
from app.sources import Source, find_sources
from recap.baselines import BASELINES
from recap.errors import ConfigError
from recap.printable import markdown_text
from recap.storage.artifacts import CHECKPOINT_MANIFEST
from recap.storage.json_text import read_json

DEFAULT_A = "count_plus_markov"
Selection = CaseSelection | HitSelection
"""The cases that a link to Walk names: a bar or cell of Long tail, or a list of a comparison."""


@dataclass(frozen=True)
class Option:
    """Something that can stand on a side.

    Attributes:
        token: what a link carries; from content hashes, so that it means the same on every machine.
        name, seeds: what it is called, and how many seeds of it there are.
        checkpoints: the seeds of a trained model; empty for the others.
        baseline, imported: the other two kinds.
        kept_seeds: whether kept seed replicates stand beside the checkpoint.
        shown: what Walk and Explain open of it; None for a counter.
    """

    token: str
    name: str
    seeds: int = 1
    checkpoints: tuple[Source, ...] = ()
    baseline: str | None = None
    imported: ImportedPredictions | None = None
    kept_seeds: bool = False
    shown: Source | None = None

    @property
    def label(self) -> str:
        """What people read."""
        return label_of_seeds(self.name, self.seeds)

    @property
    def source(self) -> Source | None:
        """The trained model, its first seed; None where there is none."""
        return self.checkpoints[0] if self.checkpoints else None


BY_OPTION: HashFuncs = BY_DATASET | {Option: lambda option: option.token}


def side_options(source: Source) -> dict[str, Option]:
    """Everything that has, or can make, records of the source's dataset: token -> option."""
    mine = [
        other
        for other in find_sources(AppSettings.from_environment())
        if other.dataset_hash == source.dataset_hash and other.checkpoint_hash is not None
    ]
    names = [folder_label(item) for item in mine]
    options = []
    for item, name in zip(mine, names, strict=True):
        label = name if names.count(name) == 1 else f"{name} ({item.token[:6]})"
        options.append(Option(item.token, label, checkpoints=(item,), shown=item))
        if _kept_seeds(item):
            token, seeds = f"{item.token}{SEEDS_MARK}", len(_kept_seeds(item)) + 1
            options.append(Option(token, label, seeds, (item,), kept_seeds=True, shown=item))
    for group in _replicates(mine):
        token = ".".join(item.token for item in group)
        options.append(Option(token, folder_label(group[0]), len(group), tuple(group), shown=group[0]))
    options += [Option(name, MODEL_LABELS[name], baseline=name) for name in reversed(BASELINES)]
    options += [
        Option(item.key, item.name, imported=item, shown=source.ranked_by(item.key))
        for item in find_predictions(source.dataset_hash)
    ]
    return {option.token: option for option in options}


def default_pair(source: Source, options: dict[str, Option]) -> tuple[str, str]:
    """A: another model whose records are there, else counting. B: the source's own model, else `feature_curves`.

    Models stand with their kept seeds where there are any.
    """

    def with_seeds(token: str) -> str:
        return f"{token}{SEEDS_MARK}" if f"{token}{SEEDS_MARK}" in options else token

    b = source.token if source.token in options else BASELINES[-1]
    for option in options.values():
        if len(option.checkpoints) == 1 and not option.kept_seeds and option.token != b:
            key = records_key(source.dataset_hash, str(option.checkpoints[0].checkpoint_hash))
            if key.is_kept(source.bundle):
                return with_seeds(option.token), with_seeds(b)
    return DEFAULT_A, with_seeds(b)


def read_side(source: Source, option: Option) -> Side:
    """A side with its records; they are made where they are not there yet, with a message.

    Made here and in no cached function, which would play back the message's empty place at every later run.
    """
    if option.baseline is not None:
        read_records(source.without_checkpoint, option.baseline)
    for item in option.checkpoints:
        read_records(item)
    return _side(source, option)


def listed_records(source: Source, option: Option) -> pd.DataFrame:
    """The records of a side's first seed with the best places of every case."""
    if option.baseline is not None:
        return read_lists(source.without_checkpoint, option.baseline)
    return read_lists(option.checkpoints[0]) if option.checkpoints else read_side(source, option).cases


@st.cache_resource(max_entries=24, show_spinner=False, hash_funcs=BY_OPTION)
def _side(source: Source, option: Option) -> Side:
    return Side(option.token, option.name, tuple(_tables(source, option)), trained=bool(option.checkpoints))


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=BY_DATASET)
def paired_cases(source: Source) -> PairedCases:
    """What every comparison on the source's dataset draws."""
    return PairedCases(open_workspace(source).cases)


def compared(source: Source, a: Option, b: Option, metric: str, k: int) -> Comparison:
    """See `analysis.compare.comparison.compare`."""
    read_side(source, a), read_side(source, b)
    return _compared(source, a, b, metric, k)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_OPTION)
def _compared(source: Source, a: Option, b: Option, metric: str, k: int) -> Comparison:
    return compare(paired_cases(source), _side(source, a), _side(source, b), metric, k)


def cell_cases(source: Source, a: Option, b: Option, k: int, cell: str) -> pd.DataFrame:
    """The cases of one list, largest change of rank first, see `analysis.compare.cells.listed_cases`."""
    read_side(source, a), read_side(source, b)
    return _cell_cases(source, a, b, k, cell)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_OPTION)
def _cell_cases(source: Source, a: Option, b: Option, k: int, cell: str) -> pd.DataFrame:
    side_a, side_b = _side(source, a), _side(source, b)
    return listed_cases(side_a, side_b, cell_mask(side_a, side_b, k, cell))


def hit_mask(source: Source, selection: HitSelection) -> np.ndarray:
    """Which test cases a link's list of a comparison holds.

    Raises:
        ConfigError: a side is not here.
    """
    a, b = _sides_of(source, selection)
    return cell_mask(read_side(source, a), read_side(source, b), selection.k, selection.cell)


def hit_label(source: Source, selection: HitSelection) -> str:
    """What the cases of a link's list have in common.

    Raises:
        ConfigError: a side is not here.
    """
    a, b = _sides_of(source, selection)
    return cell_label(selection.cell, a.label, b.label)


def _sides_of(source: Source, selection: HitSelection) -> tuple[Option, Option]:
    options = side_options(source)
    if not {selection.a, selection.b} <= set(options):
        raise ConfigError("the link compares a model that is not here")
    return options[selection.a], options[selection.b]


def _tables(source: Source, option: Option) -> list[pd.DataFrame]:
    if option.baseline is not None:
        return [read_records(source.without_checkpoint, option.baseline)]
    cases = open_workspace(source).cases
    if option.imported is not None:
        return [option.imported.read(len(cases))]
    tables = [read_records(item) for item in option.checkpoints]
    if option.kept_seeds:
        tables += [table_of_ranks(cases, table) for table in _kept_seeds(option.checkpoints[0]).values()]
    return tables


@st.cache_resource(max_entries=16, ttl=120, show_spinner=False, hash_funcs=BY_MODEL)
def _kept_seeds(source: Source) -> dict[int, pd.DataFrame]:
    """Ranks of kept seed replicates; looked up again after two minutes."""
    return open_workspace(source).seeds()


def _replicates(sources: list[Source]) -> list[list[Source]]:
    """Checkpoints that differ in their seed only, where there are at least two."""
    groups: dict[str, dict[Any, Source]] = {}
    for source in sources:
        train = _training(source)
        if train is not None:
            seed = train.pop("seed", None)
            groups.setdefault(json.dumps(train, sort_keys=True), {}).setdefault(seed, source)
    return [list(group.values()) for group in groups.values() if len(group) > 1]


def _training(source: Source) -> dict[str, Any] | None:
    """What two checkpoints must share to be one model; None where it cannot be read."""
    assert source.checkpoint_folder is not None
    try:
        manifest = read_json(source.checkpoint_folder / CHECKPOINT_MANIFEST)
    except (OSError, ValueError):
        return None
    train = manifest.get("train") if isinstance(manifest, dict) else None
    return train if isinstance(train, dict) else None


def parse_selection(source: Source, text: str) -> Selection:
    """Read the text of a link.

    Raises:
        ConfigError: another form, or a comparison with a model that is not here.
    """
    if not text.startswith("hits:"):
        return CaseSelection.parse(text)
    selection = HitSelection.parse(text)
    hit_label(source, selection)
    return selection


def selected_cases(source: Source, selection: Selection) -> np.ndarray:
    """Which test cases belong to it."""
    if isinstance(selection, HitSelection):
        return hit_mask(source, selection)
    return selection.mask(open_workspace(source).cases)


def selection_label(source: Source, selection: Selection) -> str:
    """What the cases have in common, in words."""
    if isinstance(selection, HitSelection):
        return hit_label(source, selection)
    labels = open_workspace(source).labels
    if selection.kind == "poi" and selection.numbers[0] < len(labels):
        return f"From or to {markdown_text(labels[selection.numbers[0]])}"
    return selection.label
