"""Baselines by name, ready to score. Fitted curves are cached by dataset."""

import hashlib
import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Final

import torch

from recap.baselines import BASELINES, FEATURE_CURVES
from recap.baselines.counting import CountPlusMarkov, Markov, Nearest, Popularity, VisitCount
from recap.data.dataset import Dataset
from recap.errors import ConfigError, RecapError
from recap.graph import TransitionGraph
from recap.model.config import Stage
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.presets import feature_curves
from recap.scores import Scorer
from recap.storage.tensors import load_tensors, load_weights, save_tensors
from recap.storage.user_folder import make_folder, user_subfolder
from recap.training.trainer import Trainer

MOST_PLACES: Final = 20_000
"""Up to here the curves are fitted unasked: a fit scores every place for every training case."""
_VERSION: Final = 2
"""Part of the cache key: grows when a feature changes its meaning."""


def build_baseline(name: str, dataset: Dataset, graph: TransitionGraph, *, keep: bool = True) -> Scorer:
    """A baseline by its name. ``keep``: whether to write a new fit of the curves to the cache. Raises ConfigError:
    unknown name; DataError: the curves need a training and a validation case.
    """
    of_data: dict[str, Callable[[Dataset], Scorer]] = {
        "popularity": Popularity,
        "visit_count": VisitCount,
        "nearest": Nearest,
    }
    of_graph: dict[str, Callable[[Dataset, TransitionGraph], Scorer]] = {
        "markov": Markov,
        "count_plus_markov": CountPlusMarkov,
    }
    if name in of_data:
        return of_data[name](dataset)
    if name in of_graph:
        return of_graph[name](dataset, graph)
    if name == FEATURE_CURVES:
        return _cached_curves(dataset, graph, keep=keep)
    raise ConfigError(f"unknown baseline {name!r}; choose one of {', '.join(BASELINES)}")


def is_fitted(dataset_hash: str) -> bool:
    """Whether the cache has the curves of a dataset."""
    path = _cache_file(dataset_hash)
    return path is not None and path.is_file()


def _cached_curves(dataset: Dataset, graph: TransitionGraph, *, keep: bool) -> RecapScorer:
    model = Recap(feature_curves().model, dataset, graph, torch.float64)
    path = _cache_file(dataset.hash)
    if path is not None and path.is_file():
        try:
            load_weights(model, load_tensors(path)[0], path.name)
            return RecapScorer(model, Stage(), FEATURE_CURVES)
        except RecapError:
            if keep:
                with suppress(OSError):  # not writable: fit at every start
                    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        config = feature_curves().override(["validation_cases=1"])  # the last epoch is kept anyway
        trainer = Trainer(dataset, config, Path(folder), torch.device("cpu"))
        trainer.run()
    weights = trainer.model.state_dict()
    load_weights(model, weights, FEATURE_CURVES)
    if keep and path is not None:
        with suppress(RecapError):
            make_folder(path.parent)
            save_tensors(weights, path)
    return RecapScorer(model, Stage(), FEATURE_CURVES)


def _cache_file(dataset_hash: str) -> Path | None:
    """Named after data, configuration and version; None without a cache folder."""
    key = json.dumps([dataset_hash, feature_curves().model_dump(mode="json"), _VERSION, version("recap-mobility")])
    try:
        return user_subfolder("cache") / f"curves-{hashlib.sha256(key.encode()).hexdigest()[:16]}.safetensors"
    except RecapError:
        return None
