"""Predictors for tests of explanations: small cities with shaken weights."""

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import torch

from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.graph import TransitionGraph
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.predictor import Predictor
from tests.untrained import write_untrained_checkpoint
from tests.worlds import CURVES, batch_of, shake, small_city, small_training

MODELS: dict[str, dict[str, Any]] = {
    "paper": {},
    "recap": CURVES | {"core_scope": "unvisited", "use_correction": False},
    "corrected curves": CURVES | {"core_scope": "unvisited"},
    "curves alone": CURVES | {"core_scope": "nowhere", "use_graph": False, "use_correction": False},
    "core everywhere with curves": CURVES | {"num_hops": 3},
}
"""Changes of the small model, by kind of model."""


def predictor_of(dataset: Dataset, seed: int = 0, **changes: Any) -> Predictor:
    """A predictor with shaken weights, every enabled part active; changes are to the model."""
    config = small_training(model=changes, curriculum={"staged": False})
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Checkpoint.load(write_untrained_checkpoint(dataset, Path(folder) / "checkpoint", config=config))
    torch.manual_seed(seed)
    model = Recap.for_dataset(config.model, dataset, TransitionGraph.from_dataset(dataset), torch.float64)
    if model.curves is not None:
        model.curves.place_knots(batch_of(dataset, torch.from_numpy(dataset.cases(c.TRAIN))))
    shake(model, seed)
    return Predictor(checkpoint, dataset, scorer=RecapScorer(model, checkpoint.stage))


def small_predictor(**changes: Any) -> Predictor:
    """`predictor_of` `small_city`, made once."""
    return _small(json.dumps(changes, sort_keys=True))


@cache
def _small(changes: str) -> Predictor:
    return predictor_of(small_city(), **json.loads(changes))
