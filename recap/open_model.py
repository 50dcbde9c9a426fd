"""MODEL of a command, a baseline's name or a checkpoint folder, opened on a dataset."""

from pathlib import Path
from typing import Final

import torch

from recap.baselines import BASELINES, FEATURE_CURVES, PRETRAINED
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.data.extension import Extension
from recap.errors import ConfigError
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.predictor import CaseRanker, Predictor
from recap.pretrained import PretrainedCheckpoint
from recap.scores import Scorer
from recap.training.baselines import build_baseline

NAMES: Final = (PRETRAINED, *BASELINES)
"""Models that need no folder."""


def check_name(name: str | Path) -> None:
    """Refuse a name that means no model; raises as `named_checkpoint`."""
    if name not in NAMES:
        _folder(name)


def named_checkpoint(name: str | Path, dataset: Dataset) -> Checkpoint | None:
    """The checkpoint that a name means, `pretrained` for the dataset; None for a baseline.

    Args:
        name: a baseline, `pretrained` or a checkpoint folder; names win over folders, ``./NAME`` is a folder.

    Raises:
        ConfigError: neither a baseline nor a folder.
        CheckpointError: the folder holds no checkpoint.
    """
    if name in BASELINES:
        return None
    return PretrainedCheckpoint.of(dataset) if name == PRETRAINED else _folder(name)


def _folder(name: str | Path) -> Checkpoint:
    if not Path(name).is_dir():
        raise ConfigError(f"{str(name)!r} is neither a checkpoint folder nor one of {', '.join(NAMES)}")
    return Checkpoint.load(Path(name))


def named_scorer(
    name: str | Path, dataset: Dataset, graph: TransitionGraph, device: torch.device | str = "cpu"
) -> tuple[Checkpoint | None, Scorer]:
    """The scorer that a name means, and its checkpoint if it has one; baselines are on the CPU. Raises ConfigError,
    CheckpointError: see `named_checkpoint`; VocabularyError: a checkpoint that does not open with the dataset.
    """
    checkpoint = named_checkpoint(name, dataset)
    if checkpoint is None:
        return None, build_baseline(str(name), dataset, graph)
    return checkpoint, checkpoint.scorer(dataset, graph, device)


def open_model(
    name: str | Path,
    dataset: Dataset,
    *,
    extension: Extension | None = None,
    graph: TransitionGraph | None = None,
    device: torch.device | str = "cpu",
) -> CaseRanker:
    """The model that a name means, opened on the dataset or on its extension.

    Args:
        name: see `named_checkpoint`.
        extension: of ``dataset``; the places of ``dataset`` stay the only candidates.

    Raises:
        VocabularyError: the checkpoint does not open with the dataset, or with the extension's new users or places.
        ConfigError, CheckpointError: see `named_checkpoint`.
    """
    graph = graph or TransitionGraph.from_dataset(dataset)
    opened = dataset
    checkpoint: Checkpoint | None
    scorer: Scorer
    if extension is not None:
        opened, fitted_on = extension.dataset, graph
        graph = TransitionGraph.from_dataset(opened)
    if extension is not None and name == FEATURE_CURVES:
        checkpoint, scorer = None, _enlarged(build_baseline(FEATURE_CURVES, dataset, fitted_on), opened, graph)
    else:
        checkpoint, scorer = named_scorer(name, opened, graph, device)
    kind = Predictor if isinstance(scorer, RecapScorer) else CaseRanker
    checkins = CheckinTensors.from_dataset(
        opened, "cpu" if checkpoint is None else device
    )  # baselines count on the CPU
    return kind(checkpoint, opened, scorer=scorer, graph=graph, checkins=checkins, num_candidates=dataset.num_pois)


def _enlarged(scorer: Scorer, extended: Dataset, graph: TransitionGraph) -> RecapScorer:
    """The curves of a dataset over its extension, which they would otherwise be fitted to again."""
    assert isinstance(scorer, RecapScorer)
    model = Recap.for_dataset(scorer.model.config, extended, graph, torch.float64)
    model.load_state_dict(scorer.model.state_dict())
    return RecapScorer(model, scorer.stage, scorer.name)
