"""Predictors for tests of explanations: small cities with shaken weights, and worlds whose answer is known."""

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch

from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.graph import TransitionGraph
from recap.model.recap import Recap
from recap.predictor import Predictor
from recap.training.run import train
from recap.training_config import TrainConfig
from tests.checkins import small_dataset
from tests.worlds import batch_of, habit_rows, shake, small_city, small_training


def train_checkpoint(dataset: Dataset, config: TrainConfig, folder: Path) -> Checkpoint:
    """Train and write a checkpoint on the CPU."""
    checkpoint = train(dataset, config, folder, device=torch.device("cpu"))
    assert checkpoint is not None
    return checkpoint


@cache
def _trained(dataset_key: tuple[int, int] | None, changes: str) -> tuple[Checkpoint, Dataset]:
    if dataset_key is None:
        dataset = small_city()
    else:
        dataset = small_dataset(habit_rows(num_users=dataset_key[0], num_walks=dataset_key[1]))
    config = small_training(model=json.loads(changes), curriculum={"staged": False}, epochs=1, batch_size=4096)
    with tempfile.TemporaryDirectory() as folder:
        return train_checkpoint(dataset, config, Path(folder) / "checkpoint"), dataset


def untrained_predictor(num_users: int = 0, num_walks: int = 0, **changes: Any) -> Predictor:
    """A predictor with shaken weights, every enabled part active; changes are to the model."""
    key = (num_users, num_walks) if num_users else None
    checkpoint, dataset = _trained(key, json.dumps(changes, sort_keys=True))
    torch.manual_seed(0)
    graph = TransitionGraph.from_dataset(dataset)
    model = Recap.for_dataset(checkpoint.recap_training.model, dataset, graph, torch.float64)
    if model.curves is not None:
        model.curves.place_knots(batch_of(dataset, torch.from_numpy(dataset.cases(c.TRAIN))))
    shake(model)
    return Predictor(checkpoint, dataset, model)


def small_predictor(**changes: Any) -> Predictor:
    """`untrained_predictor` of `small_city`, made once."""
    return _small(json.dumps(changes, sort_keys=True))


@cache
def _small(changes: str) -> Predictor:
    return untrained_predictor(**json.loads(changes))


def predictor_with(dataset: Dataset, change: Callable[[Recap], None], **changes: Any) -> Predictor:
    """A predictor of any dataset whose fresh small model was changed by hand; every enabled part is active."""
    config = small_training(model=changes, curriculum={"staged": False}, epochs=1, batch_size=4096)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = train_checkpoint(dataset, config, Path(folder) / "checkpoint")
    graph = TransitionGraph.from_dataset(dataset)
    model = Recap.for_dataset(checkpoint.recap_training.model, dataset, graph, torch.float64)
    change(model)
    return Predictor(checkpoint, dataset, model)
