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
from recap.predictor import CaseRanker, open_ranker
from recap.pretrained import PretrainedCheckpoint
from recap.scores import Scorer
from recap.training.baselines import build_baseline

_NAMES: Final = (PRETRAINED, *BASELINES)
"""Models that need no folder."""


def check_name(name: str | Path) -> None:
    """Refuse a name that means no model; raises as `open_model`."""
    if name not in _NAMES:
        _folder(name)


def open_model(
    name: str | Path,
    dataset: Dataset,
    *,
    extension: Extension | None = None,
    graph: TransitionGraph | None = None,
    device: torch.device | str = "cpu",
) -> CaseRanker:
    """The model that a name means, opened on the dataset or on its extension; baselines are on the CPU.

    Args:
        name: one of `_NAMES` or a checkpoint folder; names win over folders, ``./NAME`` is a folder.
        extension: of ``dataset``; the places of ``dataset`` stay the only candidates.

    Raises ConfigError: neither a baseline nor a folder; CheckpointError: the folder holds no checkpoint;
    VocabularyError: the checkpoint does not open with the dataset, or with the extension's new users or places.
    """
    fitted_on = graph or TransitionGraph.from_dataset(dataset)
    opened = dataset if extension is None else extension.dataset
    graph = fitted_on if extension is None else TransitionGraph.from_dataset(opened)
    checkpoint: Checkpoint | None = None
    scorer: Scorer
    if name not in BASELINES:
        checkpoint = PretrainedCheckpoint.of(dataset) if name == PRETRAINED else _folder(name)
        if extension is not None and isinstance(checkpoint, PretrainedCheckpoint) and checkpoint.is_unfitted:
            checkpoint.build_model(dataset, fitted_on)  # fits to the dataset alone
        scorer = checkpoint.scorer(opened, graph, device)
    elif extension is not None and name == FEATURE_CURVES:
        device, scorer = "cpu", _enlarged(build_baseline(FEATURE_CURVES, dataset, fitted_on), opened, graph)
    else:
        device, scorer = "cpu", build_baseline(str(name), opened, graph)
    checkins = CheckinTensors.from_dataset(opened, device)
    own = {"scorer": scorer, "graph": graph, "checkins": checkins, "num_candidates": dataset.num_pois}
    return open_ranker(checkpoint, opened, **own)


def _folder(name: str | Path) -> Checkpoint:
    if not Path(name).is_dir():
        raise ConfigError(f"{str(name)!r} is neither a checkpoint folder nor one of {', '.join(_NAMES)}")
    return Checkpoint.load(Path(name))


def _enlarged(scorer: Scorer, extended: Dataset, graph: TransitionGraph) -> RecapScorer:
    """The curves of a dataset over its extension, which they would otherwise be fitted to again."""
    assert isinstance(scorer, RecapScorer)
    model = Recap(scorer.model.config, extended, graph, torch.float64)
    model.load_state_dict(scorer.model.state_dict())
    return RecapScorer(model, scorer.stage, scorer.name)
