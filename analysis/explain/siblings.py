"""Sibling seeds: the same configuration on the same dataset, trained with other seeds.

Trained siblings lie beside a checkpoint, in ``<checkpoint>-siblings/seed-<seed>``. What stamps need of them is one
compact table for each seed, kept under the checkpoint's own hash: a bundle ships the tables and no further weights.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import torch

from analysis.records.kept_seeds import seed_key, seed_tables
from analysis.records.removals import describe_removals
from analysis.records.table_cache import table_in_pieces
from recap import columns as c
from recap.checkpoint import WEIGHTS, Checkpoint
from recap.data.cases import build_cases
from recap.data.dataset import Dataset, hash_tables
from recap.errors import ConfigError, RecapError
from recap.graph import TransitionGraph
from recap.model.recap import Recap
from recap.predictor import Predictor
from recap.storage.artifacts import SUMS
from recap.storage.tensors import load_tensors, load_weights
from recap.training.run import train

_PERMUTED_LABELS: Final = "labels-permuted"
Log = Callable[[str], None]


def siblings_folder(checkpoint: Checkpoint) -> Path:
    """Where a checkpoint's siblings lie."""
    return checkpoint.folder.with_name(f"{checkpoint.folder.name}-siblings")


def train_siblings(checkpoint: Checkpoint, dataset: Dataset, seeds: int, device: torch.device, log: Log) -> None:
    """Train siblings until there are so many seeds, the checkpoint's own among them; a training cut off goes on.

    Raises:
        ConfigError: fewer than two seeds, or a rebalanced checkpoint.
    """
    _check_as_trained(checkpoint)
    if seeds < 2:
        raise ConfigError(f"--train-seeds counts the checkpoint's own seed too: at least 2, got {seeds}")
    own = checkpoint.manifest.train.seed
    for seed in range(own + 1, own + seeds):
        folder = siblings_folder(checkpoint) / f"seed-{seed}"
        if not (folder / SUMS).is_file():
            log(f"Training seed {seed}")
            config = checkpoint.manifest.train.override([f"seed={seed}"])
            train(dataset, config, folder, device=device, resume=folder.exists())


def measure_siblings(
    checkpoint: Checkpoint,
    dataset: Dataset,
    progress: Callable[[int, int], None] | None = None,
    *,
    bundle: Path | None = None,
) -> dict[int, pd.DataFrame]:
    """The removal tables of all trained siblings beside a checkpoint, made and kept where they are not yet.

    Args:
        progress: told (cases done, cases in all) of each table that is made.
        bundle: a folder that may have come with tables of further seeds.

    Raises:
        ConfigError: a sibling differs from the checkpoint in more than its seed.
    """
    rows = len(dataset.cases(c.TEST))
    for folder in sorted(siblings_folder(checkpoint).glob("seed-*")):
        if not (folder / SUMS).is_file():
            continue
        sibling = Checkpoint.load(folder)
        config = sibling.manifest.train
        if (
            sibling.manifest.dataset_hash != checkpoint.manifest.dataset_hash
            or config.override([f"seed={checkpoint.manifest.train.seed}"]) != checkpoint.manifest.train
        ):
            raise ConfigError(f"{folder} is no sibling: it differs in more than its seed; move it elsewhere")
        key = seed_key(dataset.hash, checkpoint.hash, config.seed)
        table_in_pieces(key, _pieces_of(sibling, dataset), rows=rows, progress=progress)
    return seed_tables(dataset.hash, checkpoint.hash, rows=rows, bundle=bundle)


def _pieces_of(sibling: Checkpoint, dataset: Dataset) -> Callable[[int, int], pd.DataFrame]:
    opened: list[Predictor] = []

    def piece(start: int, end: int) -> pd.DataFrame:
        if not opened:  # a kept table needs no model
            opened.append(Predictor(sibling, dataset))
        return describe_removals(opened[0], opened[0].cases.iloc[start:end])

    return piece


def train_on_permuted_labels(checkpoint: Checkpoint, dataset: Dataset, device: torch.device, log: Log) -> Predictor:
    """The same configuration trained where every training check-in got the place of another, scoring the real cases.

    Raises:
        ConfigError: a rebalanced checkpoint.
    """
    _check_as_trained(checkpoint)
    folder = siblings_folder(checkpoint) / _PERMUTED_LABELS
    config = checkpoint.recap_training
    if not (folder / SUMS).is_file():
        log("Training on permuted labels")
        train(permute_labels(dataset, config.seed), config, folder, device=device, resume=folder.exists(), baselines=())
    graph = TransitionGraph.from_dataset(dataset)
    model = Recap.for_dataset(config.model, dataset, graph, torch.float64)
    try:
        load_weights(model, load_tensors(folder / WEIGHTS)[0], WEIGHTS)
    except RuntimeError as error:
        raise RecapError(f"{folder} holds another model; remove it and train again") from error
    return Predictor(checkpoint, dataset, model)


def permute_labels(dataset: Dataset, seed: int) -> Dataset:
    """A dataset whose training check-ins drew each other's places; how often each place is visited stays."""
    checkins = dataset.checkins.copy()
    cases = build_cases(checkins, c.TRAIN)
    rows = np.union1d(cases, cases + 1)
    place = checkins[c.POI].to_numpy().copy()
    place[rows] = np.random.default_rng(seed).permutation(place[rows])
    checkins[c.POI] = place
    digest = hash_tables(checkins, dataset.pois, dataset.users)
    return replace(dataset, checkins=checkins, manifest=dataset.manifest.model_copy(update={"dataset_hash": digest}))


def _check_as_trained(checkpoint: Checkpoint) -> None:
    """What training alone makes is not what a rebalanced checkpoint is."""
    if checkpoint.manifest.rebalanced_on is not None:
        raise ConfigError(
            f"{checkpoint.folder.name} was rebalanced after training, which its siblings would not be: name the "
            "checkpoint it was made from"
        )
