"""Core and revisit prior weighed against each other anew, on validation cases.

A core trained for long is surer of itself on its training cases than on others, and the prior, learned beside it on the
same cases, counts for too little elsewhere. One factor on the core (temperature scaling, Guo et al. 2017) and the
prior's weights and time scale (Eq. 9), fitted together on cases that trained nothing, weigh the two anew; every other
weight stays.
"""

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from recap import columns as c
from recap.checkpoint import (
    MANIFEST,
    VOCABULARY,
    WEIGHTS,
    Checkpoint,
    EpochResult,
    Rebalanced,
    TrainingSummary,
    write_checkpoint,
    write_vocabulary,
)
from recap.data.cases import Protocol
from recap.data.dataset import Dataset
from recap.errors import ConfigError, DataError, FolderInUseError
from recap.evaluation.cases import draw_cases
from recap.evaluation.evaluate import evaluate
from recap.evaluation.metrics import METRICS
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.model.config import Stage
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.scores import CaseBatch
from recap.storage.artifacts import new_folder
from recap.storage.tensors import load_tensors, load_weights, save_tensors

MOST_CASES: Final = 4_096
"""Validation cases drawn where there are more: five numbers are fitted."""
_MOST_SCORES: Final = 4_000_000
"""Of one batch: cases times places."""
_ITERATIONS: Final = 40
_SPREAD: Final = 2.0
"""Standard deviation of the normal distribution around what training found that each number is taken from."""
_PRIOR: Final = "prior."
_SCALE: Final = f"{_PRIOR}scale"
_CORE: Final = ("core.output.weight", "core.output.bias")


class Balance(NamedTuple):
    """What was fitted: the factor on the core, the prior's tensors, and the mean loss of a case before and after."""

    core_factor: float
    prior: dict[str, Tensor]
    cases: int
    loss_before: float
    loss_after: float


def rebalance(checkpoint: Checkpoint, dataset: Dataset, out: Path, *, protocol: Protocol | None = None) -> Checkpoint:
    """Fit a factor on the core and the prior's numbers on validation cases, and write a checkpoint with them.

    Args:
        out: the new checkpoint's folder; the old one stays.
        protocol: whose validation cases; of those that chose the epoch if not given.

    Returns:
        The new checkpoint. Its manifest's ``rebalanced`` says what was fitted; validation and test metrics are the new
        model's.

    Raises:
        CheckpointError: a rival.
        ConfigError: a RECAP that has no core beside an active prior, or is rebalanced already.
        DataError: no validation case of the protocol.
        FolderInUseError: ``out`` holds something.
        VocabularyError: another dataset.
    """
    train = checkpoint.recap_training
    _check_balance(checkpoint)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FolderInUseError(f"{out} exists and is not empty; choose another folder")
    protocol = protocol or train.select_on
    graph = TransitionGraph.from_dataset(dataset)
    model = checkpoint.build_model(dataset, graph, dtype=torch.float32)
    checkins = CheckinTensors.from_dataset(dataset)
    found = fit_balance(model, checkpoint.stage, dataset, checkins, protocol)
    tensors, _ = load_tensors(checkpoint.folder / WEIGHTS)
    before = prior_numbers(tensors)
    tensors |= found.prior | {name: found.core_factor * tensors[name] for name in _CORE}
    rebalanced = Rebalanced(
        protocol=protocol,
        cases=found.cases,
        core_factor=found.core_factor,
        prior_before=before,
        prior_after=prior_numbers(tensors),
        loss_before=found.loss_before,
        loss_after=found.loss_after,
    )
    scorer = RecapScorer(checkpoint.build_model(dataset, graph), checkpoint.stage, checkpoint.manifest.model)
    load_weights(scorer.model, tensors, "the rebalanced weights")
    chosen_on = evaluate(scorer, dataset, graph, split=c.VAL, protocol=train.select_on, checkins=checkins)
    test = evaluate(scorer, dataset, graph, checkins=checkins, most=train.test_cases)
    best = EpochResult(
        epoch=checkpoint.manifest.best.epoch,
        stage=checkpoint.stage,
        val={name: value for name in METRICS if (value := chosen_on.metrics["all"][name]) is not None},
    )
    summary: TrainingSummary = {
        **checkpoint.read_summary(),
        "val": best.val,
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "test_seconds": test.seconds,
        "test": test.metrics,
    }
    kept = {"best": best, "best_overall": best, "rebalanced": rebalanced}
    with new_folder(out, MANIFEST) as folder:
        save_tensors(tensors, folder / WEIGHTS)
        write_vocabulary(dataset, folder / VOCABULARY)
        write_checkpoint(folder, checkpoint.manifest.model_copy(update=kept), summary)
    return Checkpoint.load(out)


def fit_balance(model: Recap, stage: Stage, dataset: Dataset, checkins: CheckinTensors, protocol: Protocol) -> Balance:
    """Most probable numbers given the validation cases (L-BFGS); the prior's tensors of ``model`` are moved there.

    Each number has a normal distribution around the trained one beforehand, so that few cases move it little; over a
    thousand cases it is as good as the least cross-entropy. Weights are as they stand beside the prior's scale, factor
    and time scale are logarithms.

    Raises:
        DataError: no validation case of the protocol.
    """
    rows = torch.from_numpy(draw_cases(dataset.cases(c.VAL, protocol), MOST_CASES))
    if not len(rows):
        raise DataError(f"the dataset has no validation case of {protocol} to fit on; prepare a longer record")
    size = max(1, min(512, _MOST_SCORES // dataset.num_pois))
    batches = [CaseBatch(checkins, part) for part in rows.split(size)]
    model.requires_grad_(False)
    learned = {name: tensor for name, tensor in model.named_parameters() if name.startswith(_PRIOR) and name != _SCALE}
    for tensor in learned.values():
        tensor.requires_grad_(True)
    log_factor = torch.zeros((), requires_grad=True)
    with torch.no_grad():
        propagated_PE = model.propagate() if stage.graph_weight > 0 else None
        states = [model.encode(batch, stage, propagated_PE) for batch in batches]
    trained = {name: tensor.detach().clone() for name, tensor in learned.items()}
    search = torch.optim.LBFGS([*learned.values(), log_factor], max_iter=_ITERATIONS, line_search_fn="strong_wolfe")
    losses: list[float] = []

    def closure() -> float:
        search.zero_grad()
        moved = [log_factor, *(tensor - trained[name] for name, tensor in learned.items())]
        pull = sum((step.square().sum() for step in moved), torch.zeros(())) / (2 * _SPREAD**2 * len(rows))
        pull.backward()
        total, of_cases = float(pull.detach()), 0.0
        for batch, state_BD in zip(batches, states, strict=True):
            loss = _loss(model, stage, batch, state_BD, log_factor) / len(rows)
            loss.backward()
            of_cases += float(loss.detach())
        losses.append(of_cases)
        return total + of_cases

    search.step(closure)
    closure()
    model.requires_grad_(False)
    prior = {name: tensor.detach().clone() for name, tensor in learned.items()}
    return Balance(float(log_factor.detach().exp()), prior, len(rows), losses[0], losses[-1])


def _loss(model: Recap, stage: Stage, batch: CaseBatch, state_BD: Tensor, log_factor: Tensor) -> Tensor:
    """Summed cross-entropy of a batch under the numbers of now."""
    parts = model.revisit(batch, stage, state_BD)
    assert parts is not None, "the prior is active"
    score_BP = torch.exp(log_factor) * model.score_core(batch, state_BD)
    at = (parts.candidates.case_C, parts.candidates.poi_C)
    return F.cross_entropy(score_BP.index_put(at, parts.value_C, accumulate=True), batch.target_B, reduction="sum")


def prior_numbers(tensors: Mapping[str, Tensor]) -> dict[str, float]:
    """The prior's weights times its scale, and its time scale in check-ins, from a checkpoint's tensors."""
    named = {name.removeprefix(_PRIOR): float(value) for name, value in tensors.items() if name.startswith(_PRIOR)}
    scale, log_steps = named.pop("scale"), named.pop("log_recency_steps")
    return {name: scale * value for name, value in named.items()} | {"recency_steps": math.exp(log_steps)}


def _check_balance(checkpoint: Checkpoint) -> None:
    model, name = checkpoint.recap_training.model, checkpoint.folder.name
    if checkpoint.manifest.rebalanced is not None:
        raise ConfigError(f"{name} is rebalanced already; name the checkpoint it was made from")
    if model.has_curves or not model.use_history or not checkpoint.stage.prior:
        raise ConfigError(f"{name} has no active revisit prior to weigh its core against")
