"""MODEL of a command, a baseline's name or a checkpoint folder, opened on a dataset."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import pandas as pd
import torch

from recap.asking.predictor import CaseRanker, open_ranker
from recap.baselines import BASELINES, FEATURE_CURVES, PRETRAINED
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.data.extension import Extension, extend_dataset
from recap.errors import ConfigError, VocabularyError
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors
from recap.machine.printable import count_of
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.pretrained.checkpoint import PretrainedCheckpoint
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
    given_time: bool = False,
) -> CaseRanker:
    """The model that a name means, opened on the dataset or on its extension; baselines are on the CPU.

    Args:
        given_time: ask where at a given time; a model that must read the time is asked so anyway.
        name: one of `NAMES` or a checkpoint folder; names win over folders, ``./NAME`` is a folder.
        extension: of ``dataset``; its new places are candidates where curves score them.

    Raises ConfigError: neither a baseline nor a folder, or it cannot read the time; CheckpointError: no checkpoint;
    VocabularyError: the checkpoint does not open with the dataset, or with the extension's new users or places.
    """
    fitted_on = graph or TransitionGraph.from_dataset(dataset)
    opened = dataset if extension is None else extension.dataset
    graph = fitted_on if extension is None else TransitionGraph.from_dataset(opened)
    checkpoint: Checkpoint | None = None
    scorer: Scorer
    if name not in BASELINES:
        checkpoint = PretrainedCheckpoint.of(dataset) if name == PRETRAINED else _folder(name)
        checkpoint = checkpoint.given_time if given_time else checkpoint
        if extension is not None and isinstance(checkpoint, PretrainedCheckpoint) and checkpoint.is_unfitted:
            checkpoint.fit(dataset, fitted_on)  # not to the extension
        scorer = checkpoint.scorer(opened, graph, device)
    elif extension is not None and name == FEATURE_CURVES:
        device, scorer = "cpu", _enlarged(build_baseline(FEATURE_CURVES, dataset, fitted_on), opened, graph)
    else:
        device, scorer = "cpu", build_baseline(str(name), opened, graph)
    if given_time and not scorer.reads_target_time:
        raise ConfigError(
            f"{name} cannot read the time of the next check-in: name a model that can, such as pretrained"
        )
    checkins = CheckinTensors.from_dataset(opened, device)
    has_curves = isinstance(scorer, RecapScorer) and scorer.model.curves is not None
    most = (opened if has_curves else dataset).num_pois
    return open_ranker(checkpoint, opened, scorer=scorer, graph=graph, checkins=checkins, num_candidates=most)


def open_for_prediction(
    name: str | Path, dataset: Dataset, raw: pd.DataFrame | None = None, *, given_time: bool = False
) -> tuple[CaseRanker, list[str]]:
    """The model opened on all that is known of users, see `extend_dataset`, and what the reader must know, a line each.
    A model that knows its users and places by heart does without those that training has not seen. Raises as
    `open_model` and `extend_dataset`.
    """
    if raw is None and dataset.unseen is None:
        return open_model(name, dataset, given_time=given_time), []
    try:
        extension = extend_dataset(dataset, raw)
        opened = open_model(name, dataset, extension=extension, given_time=given_time)
        return opened, [extension.line] * bool(extension.line)
    except VocabularyError:
        if dataset.unseen is None:
            raise
    opened, notes = open_for_prediction(name, replace(dataset, unseen=None), raw, given_time=given_time)
    users = count_of(len(dataset.unseen), "check-in")
    left = (
        f"{opened.label} knows users and places of training only and does without {users} that evaluation leaves out."
    )
    return opened, [*notes, left]


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
