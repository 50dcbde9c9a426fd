"""Predictors for tests of explanations: a trained small city, with its weights shaken so that every part speaks."""

import tempfile
from functools import cache
from pathlib import Path

import torch

from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.graph import TransitionGraph
from recap.predictor import Predictor
from recap.training.config import TrainConfig
from recap.training.run import train
from tests.worlds import shake, small_city, small_training


def train_predictor(dataset: Dataset, config: TrainConfig) -> Predictor:
    """Train in a temporary folder and load the result."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = train(dataset, config, Path(folder) / "checkpoint", device=torch.device("cpu"))
        assert checkpoint is not None
        return Predictor(Checkpoint.load(checkpoint.folder), dataset)


def shaken(predictor: Predictor, seed: int = 0, spread: float = 0.4) -> Predictor:
    """The same checkpoint with noise on every weight."""
    model = predictor.checkpoint.build_model(predictor.dataset, TransitionGraph.from_dataset(predictor.dataset))
    shake(model, seed, spread)
    return Predictor(predictor.checkpoint, predictor.dataset, model)


@cache
def small_predictor(**changes: object) -> Predictor:
    """A predictor of `small_city` with every part active and saying something; changes are to the model."""
    dataset = small_city()
    with tempfile.TemporaryDirectory() as folder:
        config = small_training(model=dict(changes))
        checkpoint = train(dataset, config, Path(folder) / "checkpoint", device=torch.device("cpu"))
        assert checkpoint is not None
        model = checkpoint.build_model(dataset, TransitionGraph.from_dataset(dataset))
    shake(model)
    return Predictor(checkpoint, dataset, model)
