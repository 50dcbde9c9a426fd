"""The one door to a model: a baseline's name or a checkpoint folder, opened on a dataset."""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pandas as pd
import torch

from recap.asking.extension import extend_dataset
from recap.asking.predictor import CaseRanker, Predictor
from recap.baselines import BASELINES, PRETRAINED
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.errors import ConfigError, VocabularyError
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors
from recap.machine.printable import count_of
from recap.model.scorer import RecapScorer
from recap.pretrained.checkpoint import PretrainedCheckpoint
from recap.scores import Scorer
from recap.training.baselines import FITTING, build_baseline

_log: Final = logging.getLogger(__name__)
_NAMES: Final = (PRETRAINED, *BASELINES)
"""Models that need no folder."""


def check_name(name: str | Path) -> None:
    """Raise what `open_model` raises for a name that means no model."""
    if name not in _NAMES:
        _folder(name)


def open_model(
    model: str | Path | Checkpoint,
    dataset: Dataset,
    *,
    extension: Dataset | None = None,
    graph: TransitionGraph | None = None,
    checkins: CheckinTensors | None = None,
    device: torch.device | str = "cpu",
    given_time: bool = False,
    keep: bool = True,
    say: Callable[[str], None] = _log.warning,
) -> CaseRanker:
    """The model that a name means, opened on the dataset or on its extension; baselines are on the CPU. Curves that are
    not fitted to the dataset yet are fitted first; ``say`` receives a line before.

    Args:
        model: one of `BASELINES`, `pretrained` or a checkpoint folder; names win over folders, ``./NAME`` is a folder;
            or a checkpoint that was read before.
        extension: of ``dataset``, see `extend_dataset`; its new places are candidates where curves score them.
        graph, checkins: of ``dataset``, if made before.
        given_time: ask where at a given time; a model that must read the time is asked so anyway.
        keep: whether a fit is written to the user's cache.

    Raises ConfigError: neither a baseline nor a folder, or it cannot read the time; CheckpointError: no checkpoint;
    VocabularyError: the checkpoint does not open with the dataset, or with the extension's new users or places.
    """
    fitted_on = graph or TransitionGraph.from_dataset(dataset)
    opened = extension or dataset
    graph = fitted_on if extension is None else TransitionGraph.from_dataset(opened)
    checkpoint: Checkpoint | None = None
    scorer: Scorer
    if isinstance(model, Checkpoint) or model not in BASELINES:
        checkpoint = find_checkpoint(model, dataset, keep=keep)
        checkpoint = checkpoint.given_time if given_time else checkpoint
        if isinstance(checkpoint, PretrainedCheckpoint) and checkpoint.waits_for_fit:
            say(FITTING.format(data=dataset.manifest.name))
            checkpoint.fit(dataset, fitted_on)  # not to the extension
        scorer = checkpoint.scorer(opened, graph, device)
    else:
        device, scorer = "cpu", build_baseline(str(model), opened, graph, fitted_on=dataset, keep=keep, say=say)
    if given_time and not scorer.reads_target_time:
        raise ConfigError(
            f"{model} cannot read the time of the next check-in: name a model that can, such as pretrained"
        )
    if checkins is None or extension is not None:
        checkins = CheckinTensors.from_dataset(opened, device)
    has_curves = isinstance(scorer, RecapScorer) and scorer.model.curves is not None
    most = (opened if has_curves else dataset).num_pois
    kind = Predictor if isinstance(scorer, RecapScorer) else CaseRanker
    return kind(checkpoint, opened, scorer=scorer, graph=graph, checkins=checkins, num_candidates=most)


def find_checkpoint(model: str | Path | Checkpoint, dataset: Dataset, *, keep: bool = True) -> Checkpoint:
    """The checkpoint of a folder, or the one in memory of `pretrained`, verified but not opened; raises as
    `open_model`.
    """
    if isinstance(model, Checkpoint):
        return model
    return PretrainedCheckpoint.of(dataset, keep=keep) if model == PRETRAINED else _folder(model)


def open_for_prediction(
    model: str | Path | Checkpoint, dataset: Dataset, raw: pd.DataFrame | None = None, **asked: Any
) -> tuple[CaseRanker, list[str]]:
    """The model opened on all that is known of users, see `extend_dataset`, and what the reader must know, a line each.
    A model that learned each user and place is opened without those that its training has not seen. ``asked``, errors:
    see `open_model` and `extend_dataset`.
    """
    if raw is None and dataset.unseen is None:
        return open_model(model, dataset, **asked), []
    try:
        extension, added = extend_dataset(dataset, raw)
        return open_model(model, dataset, extension=extension, **asked), [added] * bool(added)
    except VocabularyError:
        if dataset.unseen is None:
            raise
    opened, notes = open_for_prediction(model, replace(dataset, unseen=None), raw, **asked)
    users = count_of(len(dataset.unseen), "check-in")
    knows = f"{opened.label} knows only users and places of its training"
    return opened, [*notes, f"{knows}, so it does not use {users} that evaluation leaves out."]


def _folder(name: str | Path) -> Checkpoint:
    if not Path(name).is_dir():
        raise ConfigError(f"{str(name)!r} is neither a checkpoint folder nor one of {', '.join(_NAMES)}")
    return Checkpoint.load(Path(name))
