"""Small worlds that every test can afford: a city of habits, a model of a thousand weights, a training of a second."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import sparse

from recap import columns as c
from recap.data.dataset import Dataset
from recap.history.graph import TransitionGraph
from recap.history.tensors import CaseBatch, CheckinTensors, Histories
from recap.model.config import ModelConfig
from recap.model.recap import Recap
from recap.training.run import train
from recap.training_config import Curriculum, OptimiserConfig, TrainConfig
from tests.checkins import small_dataset


def counted_graph(counts: pd.Series, num_pois: int) -> TransitionGraph:
    """A graph of transition counts by (source, destination)."""
    edges = [counts.index.get_level_values(level).to_numpy() for level in (0, 1)]
    matrix = sparse.coo_array((counts.to_numpy(np.int64), edges), shape=(num_pois, num_pois)).tocsr()
    matrix.sort_indices()
    return TransitionGraph(counts=matrix)


SMALL_MODEL = ModelConfig(
    poi_dim=6,
    category_dim=3,
    hidden_dim=8,
    num_layers=2,
    num_heads=2,
    feedforward_dim=10,
    suffix_length=4,
    graph_dim=7,
    calibration_dim=5,
    recent_window=3,
    dropout=0.0,
    embedding_dropout=0.0,
    output_dropout=0.0,
)
"""Every size different, so that a wrong axis is a wrong shape."""


CURVES: dict[str, Any] = {"prior": {"kind": "curves"}}
"""Changes that make the prior of curves."""


def small_model_config(**changes: Any) -> ModelConfig:
    """`SMALL_MODEL` with some fields replaced and validated again."""
    return ModelConfig.parse(SMALL_MODEL.model_dump() | changes)


def habit_rows(num_users: int = 8, num_walks: int = 8, seed: int = 0) -> list[tuple[str, str, float]]:
    """Users with four favourite places each, walking a few hours at a time, more than a day apart.

    Every third walk ends at ``zoo``, which nobody ever leaves: a POI without out-edges.
    """
    generator = np.random.default_rng(seed)
    places = [f"{letter}{number}" for letter in "abcd" for number in range(4)]
    rows = []
    for user in range(num_users):
        favourites = generator.choice(places, 4, replace=False)
        hour = float(generator.uniform(0, 20))
        for walk in range(num_walks):
            for _ in range(int(generator.integers(3, 6))):
                place = generator.choice(favourites) if generator.random() < 0.8 else generator.choice(places)
                rows.append((f"user{user}", str(place), hour))
                hour += float(generator.uniform(0.5, 6))
            if (walk + user) % 3 == 0:
                rows.append((f"user{user}", "zoo", hour))
            hour += float(generator.uniform(25, 60))
    return rows


@cache
def small_city(seed: int = 0) -> Dataset:
    """`habit_rows` prepared; about 300 check-ins at 17 POIs of five categories."""
    return small_dataset(habit_rows(seed=seed))


def all_cases(dataset: Dataset) -> torch.Tensor:
    """Source rows of all cases of all splits."""
    return torch.from_numpy(np.concatenate([dataset.cases(split) for split in (c.TRAIN, c.VAL, c.TEST)]))


def batch_of(dataset: Dataset, rows: torch.Tensor | None = None) -> Histories:
    """A batch of given source rows, or of all cases."""
    return Histories(CheckinTensors.from_dataset(dataset), all_cases(dataset) if rows is None else rows)


def timed(histories: Histories) -> Histories:
    """The same histories with the time of the check-in that follows in the table."""
    return CaseBatch(histories.checkins, histories.row_B).histories(target_time=True)


def targets_of(histories: Histories) -> torch.Tensor:
    """The place that follows each history in its table."""
    return CaseBatch(histories.checkins, histories.row_B).target_B


def shake(model: torch.nn.Module, seed: int = 0, spread: float = 0.4) -> None:
    """Give every weight, bias and scalar a value of its own, so that leaving one out shows."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.add_((spread * noise).to(parameter.dtype))


def small_recap(dataset: Dataset, seed: int = 0, dtype: torch.dtype = torch.float64, **changes: Any) -> Recap:
    """A shaken small model of a dataset in evaluation mode; curves have their knots."""
    torch.manual_seed(seed)
    model = Recap(small_model_config(**changes), dataset, TransitionGraph.from_dataset(dataset), dtype)
    if model.curves is not None:
        known = batch_of(dataset, torch.from_numpy(dataset.cases(c.TRAIN)))
        model.curves.curves.place_knots(model.curves.knot_values(timed(known)))
    shake(model, seed)
    return model.eval()


def small_training(
    *, model: dict[str, Any] | None = None, curriculum: dict[str, Any] | None = None, **changes: Any
) -> TrainConfig:
    """A staged training of three short epochs: graph from 1, prior from 2, correction and warm loss from 3."""
    stages = {
        "graph_epoch": 1,
        "graph_ramp_epochs": 2,
        "prior_epoch": 2,
        "correction_epoch": 3,
        "warm_epoch": 3,
        "warm_ramp_epochs": 1,
    }
    values: dict[str, Any] = {
        "epochs": 3,
        "batch_size": 64,
        "model": small_model_config(**{"dropout": 0.1, "embedding_dropout": 0.1, **(model or {})}).model_dump(),
        "curriculum": Curriculum.parse(stages | (curriculum or {})).model_dump(),
        "optimiser": OptimiserConfig(learning_rate=1e-2, prior_learning_rate=5e-2).model_dump(),
    }
    return TrainConfig.parse(values | changes)


def train_city(folder: Path, seed: int = 0) -> None:
    """Put a small city and a checkpoint of every part, trained for a second, into a folder."""
    city = small_city(seed)
    city.save(folder / "data")
    assert train(city, small_training(epochs=6), folder / "checkpoint", device=torch.device("cpu")) is not None
