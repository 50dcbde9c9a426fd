"""Seed replicates: the same configuration on the same dataset, trained with other seeds.

They are stored next to a checkpoint, in ``<checkpoint>-seeds/seed-<seed>``. One table of ablations per seed is kept
under the checkpoint's hash.
"""

from collections.abc import Callable
from functools import partial

import pandas as pd
import torch

from analysis.records.causes import pieces_of
from analysis.records.kept_seeds import replicate_folders, replicates_folder, seed_key, seed_tables
from analysis.records.table_cache import table_in_pieces
from recap import columns as c
from recap.asking.predictor import Predictor
from recap.checkpoint import Checkpoint, features_read
from recap.data.dataset import Dataset
from recap.errors import ConfigError
from recap.pretrained.curves_file import PretrainedCurves
from recap.storage.artifacts import SUMS
from recap.training.run import train


def train_replicates(
    checkpoint: Checkpoint, dataset: Dataset, seeds: int, device: torch.device, log: Callable[[str], None]
) -> None:
    """Train until this many seeds exist, including the original; an interrupted training continues.

    ConfigError: fewer than two seeds, another dataset than the checkpoint's own, or curves of another version.
    """
    own = checkpoint.manifest
    reads_others = own.features != features_read(own.train)
    if reads_others or own.started_from not in (None, PretrainedCurves.packaged().hash):
        raise ConfigError(f"{checkpoint.folder} has the curves of another version; train it again to compare seeds")
    if dataset.hash != own.dataset_hash:
        raise ConfigError("other seeds train on the checkpoint's own dataset; open it with that one")
    if seeds < 2:
        raise ConfigError(f"--seeds counts the checkpoint's own seed too: at least 2, got {seeds}")
    for seed in range(own.train.seed + 1, own.train.seed + seeds):
        folder = replicates_folder(checkpoint.folder) / f"seed-{seed}"
        if not (folder / SUMS).is_file():
            log(f"Training seed {seed}")
            config = own.train.override([f"seed={seed}"])
            train(dataset, config, folder, device=device, resume=folder.exists())


def measure_replicates(
    checkpoint: Checkpoint, dataset: Dataset, progress: Callable[[int, int], None] | None = None
) -> dict[int, pd.DataFrame]:
    """Ablation tables of all trained replicates, computed if missing; progress is (cases done, all cases) of a table.

    ConfigError: a replicate differs from the checkpoint in more than its seed.
    """
    rows, own = len(dataset.cases(c.TEST)), Checkpoint.load(checkpoint.folder).manifest
    for folder in replicate_folders(checkpoint.folder):
        replicate = Checkpoint.load(folder)
        other = replicate.manifest
        differ = any(
            getattr(other, name) != getattr(own, name) for name in ("dataset_hash", "features", "started_from")
        )
        if differ or other.train.override([f"seed={own.train.seed}"]) != own.train:
            raise ConfigError(f"{folder} differs in more than its seed; move it elsewhere")
        key = seed_key(dataset.hash, checkpoint.hash, other.train.seed)
        asked = replicate.given_time if checkpoint.is_given_time else replicate
        table_in_pieces(key, pieces_of(partial(Predictor, asked, dataset)), rows=rows, progress=progress)
    return seed_tables(dataset.hash, checkpoint.hash, rows=rows)
