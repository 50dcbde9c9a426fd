"""A complete checkpoint without a training: the preset's starting values, whose prior already ranks by revisits."""

from pathlib import Path

import torch

from recap.checkpoint import WEIGHTS, CheckpointManifest, EpochResult, write_checkpoint
from recap.data.dataset import Dataset
from recap.history.graph import TransitionGraph
from recap.model.recap import Recap
from recap.storage.tensors import save_tensors
from recap.training_config import TrainConfig
from recap.vocabulary import write_vocabulary
from tests.tiny import tiny


def write_untrained_checkpoint(
    dataset: Dataset, folder: Path, *, seed: int = 0, config: TrainConfig | None = None
) -> Path:
    """Write a checkpoint of an untrained model (tests' tiny one), every part active; returns ``folder``."""
    folder.mkdir(parents=True)
    config = tiny() if config is None else config
    torch.manual_seed(seed)
    model = Recap(config.model, dataset, TransitionGraph.from_dataset(dataset))
    save_tensors(model.state_dict(), folder / WEIGHTS)
    write_vocabulary(dataset, folder)
    values = dict.fromkeys(("hr1", "hr5", "hr10", "hr20", "ndcg20", "mrr"), 0.0)
    result = EpochResult(epoch=config.epochs, stage=config.curriculum.at(config.epochs), val=values)
    manifest = CheckpointManifest.of(dataset, config, result, result)
    groups = {name: {"n": 0, **dict.fromkeys(values)} for name in ("all", "head", "tail", "unseen")}
    write_checkpoint(folder, manifest, {"protocol": "every_step", "test": groups, "baselines": {}})
    return folder
