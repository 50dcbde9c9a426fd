"""The one training loop (Algorithm 1): steps, validation, best epochs, exact resume.

Shape suffixes: N training cases, B cases of a batch.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from recap import columns as c
from recap.data.dataset import Dataset
from recap.evaluation.metrics import METRICS, metrics_by_group
from recap.evaluation.records import describe_cases, rank_cases
from recap.graph import TAIL_MAX_COUNT, TransitionGraph
from recap.history import CheckinTensors
from recap.model.config import Stage
from recap.model.recap import Recap, RecapScorer
from recap.scores import CaseBatch
from recap.tensor_files import save_tensors
from recap.training.config import TrainConfig
from recap.training.journal import Journal
from recap.training.losses import training_losses
from recap.training.optimiser import build_optimiser, set_learning_rates
from recap.training.state import STATE_FILE, load_state, save_state

BEST = "best.safetensors"
BEST_OVERALL = "best_overall.safetensors"


@dataclass
class Progress:
    """Counters of a run; everything here is in the resume state.

    Attributes:
        epoch: the epoch being trained, from 1.
        step: steps of it already done.
        loss_sums: sums over its steps of main and warm loss.
        best, best_overall: ``{"epoch", "stage", "val"}`` of the kept epochs, None before the first.
        seconds: wall time so far, over all sessions.
    """

    epoch: int = 1
    step: int = 0
    loss_sums: dict[str, float] = field(default_factory=lambda: {"main": 0.0, "warm": 0.0})
    best: dict[str, Any] | None = None
    best_overall: dict[str, Any] | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class StepReport:
    """What a watcher is told after each step."""

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float


Watcher = Callable[[StepReport], None]
StopRequest = Callable[[], bool]


class Trainer:
    """Trains one model on one dataset in one folder.

    Args:
        folder: holds state, best weights and journal; must exist and be this trainer's alone.
        device: where model and check-in tensors live for the whole run.
    """

    def __init__(self, dataset: Dataset, config: TrainConfig, folder: Path, device: torch.device) -> None:
        self.config, self.folder, self.device = config, folder, device
        self.graph = TransitionGraph.from_dataset(dataset)
        self.checkins = CheckinTensors.from_dataset(dataset, device)
        self.validation = describe_cases(dataset, self.graph, c.VAL)
        row_N = dataset.cases(c.TRAIN)
        poi_T = dataset.checkins[c.POI].to_numpy()
        warm_N = self.graph.count(poi_T[row_N], poi_T[row_N + 1]) > TAIL_MAX_COUNT
        self.row_N = torch.from_numpy(row_N).to(device)
        self.warm_N = torch.from_numpy(warm_N).to(device)
        torch.manual_seed(config.seed)
        self.model = Recap.for_dataset(config.model, dataset, self.graph).to(device)
        if config.compile:
            self.model.backbone.compile(dynamic=True)
        self.optimiser = build_optimiser(self.model, config.optimiser)
        self.progress = Progress()

    @property
    def steps_per_epoch(self) -> int:
        return -(-len(self.row_N) // self.config.batch_size)

    def resume(self) -> None:
        """Continue from the folder's state; raises CheckpointError where it cannot be read."""
        self.progress = Progress(**load_state(self.folder / STATE_FILE, self.model, self.optimiser))

    def run(self, watch: Watcher | None = None, stop: StopRequest = lambda: False) -> bool:
        """Train to the last epoch; returns False when ``stop`` asked for an end (the state is saved)."""
        journal = Journal(self.folder, resume_after=self.progress.epoch - 1)
        started = saved = time.perf_counter()
        earlier_seconds = self.progress.seconds
        try:
            while self.progress.epoch <= self.config.epochs:
                stage = self.config.curriculum.at(self.progress.epoch)
                rates = set_learning_rates(self.optimiser, stage)
                order_N = self._epoch_order(self.progress.epoch)
                epoch_started = time.perf_counter()
                while self.progress.step < self.steps_per_epoch:
                    start = self.progress.step * self.config.batch_size
                    loss = self._step(order_N[start : start + self.config.batch_size], stage)
                    self.progress.step += 1
                    if watch is not None:
                        watch(self._report(loss))
                    now = time.perf_counter()
                    self.progress.seconds = earlier_seconds + now - started
                    if stop():
                        self.save()
                        return False
                    if now - saved > self.config.save_every_seconds and self.progress.step < self.steps_per_epoch:
                        self.save()
                        saved = now
                self._end_epoch(stage, rates, journal, time.perf_counter() - epoch_started)
                self.progress.seconds = earlier_seconds + time.perf_counter() - started
                self.save()
                saved = time.perf_counter()
            return True
        finally:
            journal.close()

    def save(self) -> None:
        """Write the resume state."""
        save_state(self.folder / STATE_FILE, self.model, self.optimiser, vars(self.progress))

    def validate(self, stage: Stage) -> dict[str, dict[str, float | int | None]]:
        """Validation metrics by group at a stage."""
        scorer = RecapScorer(self.model, stage)
        metrics = metrics_by_group(rank_cases(scorer, self.validation, self.checkins))
        self.model.train()
        return metrics

    def _epoch_order(self, epoch: int) -> Tensor:
        generator = np.random.default_rng([self.config.seed, epoch])
        return torch.from_numpy(generator.permutation(len(self.row_N))).to(self.device)

    def _step(self, index_B: Tensor, stage: Stage) -> Tensor:
        self.model.train()
        batch = CaseBatch(self.checkins, self.row_N[index_B])
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.precision == "bf16"):
            scores = self.model(batch, stage)
        losses = training_losses(
            scores, batch.target_B, self.warm_N[index_B], stage.warm_weight, self.config.label_smoothing
        )
        self.optimiser.zero_grad(set_to_none=True)
        losses.objective.backward()
        self.optimiser.step()
        self.progress.loss_sums["main"] += float(losses.main)
        self.progress.loss_sums["warm"] += float(losses.warm)
        return losses.main

    def _end_epoch(self, stage: Stage, rates: dict[str, float], journal: Journal, seconds: float) -> None:
        progress, config = self.progress, self.config
        line: dict[str, Any] = {
            "epoch": progress.epoch,
            "loss": {name: total / self.steps_per_epoch for name, total in progress.loss_sums.items()},
            "learning_rate": rates,
            "stage": stage.model_dump(),
            "steps_per_second": self.steps_per_epoch / seconds,
            "seconds": seconds,
        }
        if progress.epoch % config.validate_every == 0 or progress.epoch == config.epochs:
            metrics = self.validate(stage)
            line["val"] = metrics
            self._keep_best(stage, metrics["all"])
        journal.write(line)
        progress.epoch += 1
        progress.step = 0
        progress.loss_sums = {"main": 0.0, "warm": 0.0}

    def _keep_best(self, stage: Stage, val: dict[str, float | int | None]) -> None:
        result = {
            "epoch": self.progress.epoch,
            "stage": stage.model_dump(),
            "val": {name: val[name] or 0.0 for name in METRICS},
        }
        everything_on = stage.inactive_parts(self.config.model) == Stage().inactive_parts(self.config.model)
        if everything_on and _beats(result, self.progress.best):
            save_tensors(self.model.state_dict(), self.folder / BEST)
            self.progress.best = result
        if _beats(result, self.progress.best_overall):
            save_tensors(self.model.state_dict(), self.folder / BEST_OVERALL)
            self.progress.best_overall = result

    def _report(self, loss: Tensor) -> StepReport:
        progress = self.progress
        return StepReport(progress.epoch, self.config.epochs, progress.step, self.steps_per_epoch, float(loss))


def _beats(result: dict[str, Any], kept: dict[str, Any] | None) -> bool:
    return kept is None or result["val"]["mrr"] > kept["val"]["mrr"]
