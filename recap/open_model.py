"""MODEL of a command, a baseline's name or a checkpoint folder, opened on a dataset."""

from pathlib import Path

import torch

from recap.baselines import BASELINES, COUNTING_BASELINES
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.data.extension import Extension
from recap.errors import ConfigError, VocabularyError
from recap.graph import TransitionGraph
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.predictor import CaseRanker, Predictor
from recap.scores import Scorer
from recap.training.baselines import build_baseline


def named_scorer(
    name: str | Path, dataset: Dataset, graph: TransitionGraph, device: torch.device | str = "cpu"
) -> tuple[Checkpoint | None, Scorer]:
    """The scorer that a name means, and its checkpoint if it has one; baselines are on the CPU.

    Args:
        name: a baseline's name, else a checkpoint folder; write ``./NAME`` for a folder called like a baseline.

    Raises:
        ConfigError: neither a baseline nor a folder.
        CheckpointError: no checkpoint, or one of another dataset.
    """
    if name in BASELINES:
        return None, build_baseline(str(name), dataset, graph)
    if not Path(name).is_dir():
        raise ConfigError(f"{str(name)!r} is neither a checkpoint folder nor one of {', '.join(BASELINES)}")
    checkpoint = Checkpoint.load(Path(name))
    return checkpoint, checkpoint.scorer(dataset, graph, device)


def open_model(
    name: str | Path,
    dataset: Dataset,
    *,
    extension: Extension | None = None,
    graph: TransitionGraph | None = None,
) -> CaseRanker:
    """The model that a name means, opened on the dataset or on its extension.

    Args:
        name: see `named_scorer`.
        extension: of ``dataset``; the places of ``dataset`` stay the only candidates.

    Raises:
        VocabularyError: the model cannot score the extension's new users or places.
        ConfigError, CheckpointError: see `named_scorer`.
    """
    graph = graph or TransitionGraph.from_dataset(dataset)
    checkpoint, scorer = named_scorer(name, dataset, graph)
    num_candidates = dataset.num_pois
    if extension is not None:
        dataset = extension.dataset
        if extension.new_users or extension.new_places:
            graph = TransitionGraph.from_dataset(dataset)
            scorer = _enlarged(scorer, extension, graph)
    kind = Predictor if isinstance(scorer, RecapScorer) else CaseRanker
    return kind(checkpoint, dataset, scorer=scorer, graph=graph, num_candidates=num_candidates)


def _enlarged(scorer: Scorer, extension: Extension, graph: TransitionGraph) -> Scorer:
    """The same scorer over the extension's users and places.

    Raises:
        VocabularyError: it has weights for each user or place.
    """
    if scorer.name in COUNTING_BASELINES:
        return build_baseline(scorer.name, extension.dataset, graph)
    if isinstance(scorer, RecapScorer) and not scorer.model.config.has_encoder:
        model = Recap.for_dataset(scorer.model.config, extension.dataset, graph, torch.float64)
        model.load_state_dict(scorer.model.state_dict())
        return RecapScorer(model, scorer.stage, scorer.name)
    unknown = [f"{n:,} {what}" for n, what in ((extension.new_users, "users"), (extension.new_places, "places")) if n]
    raise VocabularyError(
        f"{scorer.name} learned one vector for each user and place, and does not know {' and '.join(unknown)} of the "
        "added check-ins: leave them out, or use feature_curves"
    )
