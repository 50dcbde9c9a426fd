"""Opened workspaces, shared by all visitors and cached by content hash.

Torch is loaded only to compute missing records or ablations, so views of kept ones appear earlier.
"""

import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import pandas as pd
import streamlit as st

from analysis.records.ablations import describe_ablations
from analysis.records.evaluation_records import MODEL_LABELS, distinct_labels, is_time_given, models_shown, records_key
from analysis.records.first_case import first_case as best_first_case
from analysis.records.imported import ImportedPredictions, find_predictions
from analysis.workspace import ReportProgress, Workspace
from app.settings import AppSettings
from app.sources import Source, find_sources
from app.threads import share_cores
from recap.baselines import BASELINES
from recap.errors import RecapError
from recap.storage.cache_keys import cache_key

HashFuncs = dict[str | type[Any], Callable[[Any], Any]]
DEFAULT_BASELINE: Final = "count_plus_markov"
MOST_SCORES: Final = 200_000_000
"""Largest test cases × places for which a page runs ablations; New York has 35 million."""
_frozen = threading.Event()
_evaluating = threading.Lock()
"""One evaluation at a time: two would share the same cores."""


def dataset_of(source: Source) -> str:
    """Cache key of what depends on the dataset only."""
    return cache_key(source.dataset_hash)


def content_of(source: Source) -> str:
    """Cache key of what also depends on the model's content."""
    return cache_key(source.dataset_hash, model_key(source))


BY_DATASET: Final[HashFuncs] = {Source: dataset_of}
BY_MODEL: Final[HashFuncs] = {Source: content_of}


def open_workspace(source: Source, model: str | None = None) -> Workspace:
    """Open the source's dataset with its model or with another one.

    Args:
        model: a baseline's name or the key of imported predictions; None for the source's own, or without a checkpoint
            `DEFAULT_BASELINE`.

    Raises:
        RecapError: the files changed since the source was found, or imported predictions are gone.
    """
    settings = AppSettings.from_environment()
    named = model or source.imported or _named_by(source)
    return _workspace(
        source if named is None else source.without_checkpoint,
        named,
        given_time=model is None and source.given_time,
        keep=not settings.read_only,
        shows_ids=settings.is_local,
    )


def _named_by(source: Source) -> str | None:
    """The name of the source's own model; None for a checkpoint on disk."""
    if source.checkpoint_folder is not None:
        return None
    return DEFAULT_BASELINE if source.checkpoint_hash is None else source.model


@st.cache_resource(max_entries=4, show_spinner="Reading the dataset", hash_funcs=BY_DATASET)
def _dataset(source: Source, *, keep: bool, shows_ids: bool) -> Workspace:
    opened = Workspace.open(source.dataset_folder, keep=keep, shows_ids=shows_ids)
    if opened.dataset.hash != source.dataset_hash:
        raise RecapError(f"{source.dataset_folder} changed while the app was running; reload the page")
    return opened


@st.cache_resource(max_entries=24, show_spinner=False, hash_funcs=BY_MODEL)
def _workspace(source: Source, named: str | None, *, given_time: bool, keep: bool, shows_ids: bool) -> Workspace:
    alone = _dataset(source, keep=keep, shows_ids=shows_ids)
    if named is not None:
        return alone.with_model(named, given_time=given_time)
    assert source.checkpoint_folder is not None
    opened = alone.with_model(source.checkpoint_folder, given_time=given_time)
    if opened.key != source.checkpoint_hash:
        raise RecapError(f"{source.checkpoint_folder} changed while the app was running; reload the page")
    return opened


def model_key(source: Source, model: str | None = None) -> str:
    """Key of a model's records: the checkpoint's hash, the imported key, or the baseline's name."""
    return model or source.checkpoint_hash or source.imported or DEFAULT_BASELINE


def model_label(source: Source, model: str | None = None) -> str:
    if model is None and source.checkpoint_hash is not None:
        return source.model_label
    name = model or source.imported or DEFAULT_BASELINE
    if name in MODEL_LABELS:
        return MODEL_LABELS[name]
    predictions = imported_predictions(source).get(name)
    if predictions is None:
        raise RecapError(f"the imported predictions {name} are gone; import them again")
    return predictions.name


def imported_predictions(source: Source) -> dict[str, ImportedPredictions]:
    return {item.key: item for item in find_predictions(source.dataset_hash)}


@dataclass(frozen=True)
class Ranker:
    """A model that ranks the test cases of a dataset.

    Attributes:
        token: in links; from content hashes, so it is the same on every machine.
        source, model: arguments of `read_records`.
    """

    token: str
    label: str
    source: Source
    model: str | None = None

    @property
    def is_kept(self) -> bool:
        key = model_key(self.source, self.model)
        return self.model in imported_predictions(self.source) or records_key(self.source.dataset_hash, key).is_kept(
            self.source.bundle
        )

    @property
    def is_published(self) -> bool:
        return self.source.is_published or (self.model is not None and self.model not in BASELINES)

    @property
    def reads_time(self) -> bool:
        """Whether it knows the time of the next check-in, see `Source.reads_time`."""
        if self.model is None:
            return self.source.reads_time
        predictions = imported_predictions(self.source).get(self.model)
        return is_time_given(model_label(self.source, self.model)) if predictions is None else predictions.given_time

    @property
    def records(self) -> pd.DataFrame:
        return read_records(self.source, self.model)

    @property
    def shown(self) -> Source | None:
        """The source that Walk and Explain open; None for a counter."""
        if self.model is None:
            return self.source
        return None if self.model in BASELINES else self.source.ranked_by(self.model)


BY_RANKER: Final[HashFuncs] = BY_DATASET | {Ranker: lambda ranker: cache_key(ranker.source.dataset_hash, ranker.token)}


def checkpoints_of(source: Source) -> list[Source]:
    sources = find_sources(AppSettings.from_environment())
    return [item for item in sources if item.dataset_hash == source.dataset_hash and item.checkpoint_hash is not None]


def rankers_by_token(rankers: Sequence[Ranker]) -> dict[str, Ranker]:
    """Models of one list, each with a name of its own."""
    labels = distinct_labels([(item.label, item.source.checkpoint_folder, item.token) for item in rankers])
    return {item.token: replace(item, label=label) for item, label in zip(rankers, labels, strict=True)}


def checkpoint_rankers(checkpoints: Sequence[Source]) -> list[Ranker]:
    return [Ranker(item.token, model_label(item), item) for item in checkpoints]


def imported_rankers(source: Source) -> list[Ranker]:
    alone = source.without_checkpoint
    return [Ranker(key, item.name, alone, key) for key, item in imported_predictions(source).items()]


def is_large(source: Source) -> bool:
    opened = open_workspace(source)
    return len(opened.cases) * opened.dataset.num_pois > MOST_SCORES


def model_keys(source: Source) -> list[str]:
    """The models that Overview shows, the source's own first.

    If ranking takes long or cannot be kept, `feature_curves` needs kept records.
    """
    may_rank = not (AppSettings.from_environment().read_only or is_large(source))
    others = models_shown(source.dataset_hash, source.bundle, may_rank=may_rank, given_time=source.reads_time)
    return list(dict.fromkeys([model_key(source), *others]))


def read_records(source: Source, model: str | None = None) -> pd.DataFrame:
    """The model's records over all test cases; ranked once, with a message, then cached.

    Only imported predictions have lists of best places here.

    Args:
        model: see `open_workspace`.
    """
    opened = open_workspace(source, model)
    if not opened.has_records:
        with waiting("Ranking the test cases, once per model") as show, _evaluating:
            opened.records(show)
    records = opened.records()
    if not _frozen.is_set():
        freeze()
    return records


def read_lists(source: Source, model: str | None = None) -> pd.DataFrame:
    """The records with the best places and scores of every case."""
    read_records(source, model)  # outside the cache, because of its message
    return _lists(source, model)


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=BY_MODEL)
def _lists(source: Source, model: str | None) -> pd.DataFrame:
    return open_workspace(source, model).records_with_lists()


def read_ablations(source: Source) -> pd.DataFrame | None:
    """The ablations of all test cases, run once per checkpoint, with a message; None without terms."""
    if not source.has_parts:
        return None
    opened = open_workspace(source)
    if not opened.has_ablations:
        with waiting("Running ablations, once per model") as show:
            opened.ablations(show)
    return opened.ablations()


def kept_causes(source: Source) -> pd.DataFrame | None:
    """The ablations if shipped or computed before, else None, without waiting."""
    return open_workspace(source).kept_ablations() if source.has_parts else None


def waits_for_causes(source: Source) -> bool:
    """Whether ablations were not run yet and would take very long."""
    return kept_causes(source) is None and is_large(source)


def first_case(source: Source) -> int:
    """The default case of Walk, Explain and Present."""
    opened = open_workspace(source)
    return _first_case(source, opened.has_records, kept_causes(source) is not None)


@st.cache_data(max_entries=8, show_spinner=False, hash_funcs=BY_MODEL)
def _first_case(source: Source, is_ranked: bool, has_causes: bool) -> int:
    opened = open_workspace(source)
    records = opened.records() if is_ranked and source.imported is None else None
    causes = kept_causes(source) if has_causes else None
    can_ablate = source.has_parts and not is_large(source)
    ablate = None
    if can_ablate and causes is None:
        share_cores()
        ablate = partial(describe_ablations, opened.predictor)
    return best_first_case(opened.cases, records, causes, ablate)


def freeze() -> None:
    """Exclude all loaded objects from garbage collection, which would otherwise scan them again and again."""
    _frozen.set()
    gc.collect()
    gc.freeze()


@contextmanager
def waiting(message: str) -> Iterator[ReportProgress]:
    """A progress bar for the visitor who waits for a computation.

    Do not use it inside a cached function. Streamlit would repeat its elements, empty, at every later call, and the
    browser would rebuild maps and tables after them.
    """
    share_cores()
    with st.container(), st.spinner(message):
        bar = st.empty()

        def show(done: int, total: int) -> None:
            bar.progress(done / max(total, 1), f"{done:,} of {total:,} cases")

        yield show
        bar.empty()
