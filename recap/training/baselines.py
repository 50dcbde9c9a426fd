"""Baselines by name, ready to score. Fitted curves are cached by dataset."""

import logging
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import torch

from recap.baselines import AT_TIME, BASELINES, FEATURE_CURVES, counting
from recap.baselines.at_time import VisitCountAtTime
from recap.data.dataset import Dataset
from recap.errors import ConfigError, RecapError
from recap.history.graph import TransitionGraph
from recap.model.config import Stage
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.presets import feature_curves
from recap.scores import Scorer
from recap.storage.cache_keys import cache_key
from recap.storage.tensors import load_tensors, load_weights, save_tensors
from recap.storage.user_folder import user_subfolder

_log: Final = logging.getLogger(__name__)
FITTING: Final = "Fitting the curves to {data}, once"
MOST_PLACES: Final = 20_000
"""With more places the curves are fitted on request only: a fit scores every place for every training case."""


def build_baseline(
    name: str,
    dataset: Dataset,
    graph: TransitionGraph,
    *,
    fitted_on: Dataset | None = None,
    keep: bool = True,
    say: Callable[[str], None] = _log.warning,
) -> Scorer:
    """A baseline by its name. ``fitted_on``: what the curves are fitted to, if ``dataset`` is its extension;
    ``keep``: whether to write a new fit to the cache; ``say`` receives a line before. Raises ConfigError: unknown name;
    DataError: the curves need a training and a validation case.
    """
    builders: dict[str, Callable[[], Scorer]] = {
        "popularity": lambda: counting.Popularity(dataset),
        "markov": lambda: counting.Markov(dataset, graph),
        "visit_count": lambda: counting.VisitCount(dataset),
        "count_plus_markov": lambda: counting.CountPlusMarkov(dataset, graph),
        "nearest": lambda: counting.Nearest(dataset),
        AT_TIME: lambda: VisitCountAtTime(dataset),
        FEATURE_CURVES: lambda: _fitted_curves(dataset, graph, fitted_on or dataset, keep, say),
    }
    if name not in builders:
        raise ConfigError(f"unknown baseline {name!r}; choose one of {', '.join(BASELINES)}")
    return builders[name]()


def is_fitted(dataset_hash: str) -> bool:
    """Whether the cache has the curves of a dataset."""
    with suppress(RecapError):
        return _cache_file(dataset_hash).is_file()
    return False


def _fitted_curves(
    dataset: Dataset, graph: TransitionGraph, fitted_on: Dataset, keep: bool, say: Callable[[str], None]
) -> RecapScorer:
    model = Recap(feature_curves().model, dataset, graph, torch.float64)
    try:
        load_weights(model, load_tensors(_cache_file(fitted_on.hash))[0], FEATURE_CURVES)
    except RecapError:  # no fit is kept, or it is damaged
        from recap.training.trainer import Trainer  # here: other baselines are opened without it

        say(FITTING.format(data=fitted_on.manifest.name))
        with tempfile.TemporaryDirectory() as folder, torch.random.fork_rng([]):
            config = feature_curves().override(["validation_cases=1"])  # the last epoch is kept anyway
            trainer = Trainer(fitted_on, config, Path(folder), torch.device("cpu"))
            trainer.run()
        weights = trainer.model.state_dict()
        load_weights(model, weights, FEATURE_CURVES)
        if keep:
            with suppress(RecapError):  # not writable: fit at every start
                user_subfolder("cache", make=True)
                save_tensors(weights, _cache_file(fitted_on.hash))
    return RecapScorer(model, Stage(), FEATURE_CURVES)


def _cache_file(dataset_hash: str) -> Path:
    """Named after data and configuration. Raises RecapError: the user's folder cannot be read."""
    key = cache_key(dataset_hash, feature_curves().model_dump_json())
    return user_subfolder("cache") / f"curves-{key[:16]}.safetensors"
