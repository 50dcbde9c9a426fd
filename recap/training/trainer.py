"""The one training loop (Algorithm 1): steps, validation, best epochs, exact resume.

Shape suffixes: N training cases, B cases of a batch.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

import numpy as np
import torch
from torch import Tensor

from recap import columns as c
from recap.baselines.evidence import EvidenceRanker, EvidenceRankerConfig
from recap.data.cases import latest_cases
from recap.data.dataset import Dataset
from recap.errors import DataError
from recap.evaluation.cases import describe_cases
from recap.evaluation.metrics import METRICS, Metrics, MetricsByGroup, metrics_by_group, metrics_of
from recap.evaluation.scoring import rank_cases
from recap.graph import TAIL_MAX_COUNT, TransitionGraph
from recap.history import CheckinTensors
from recap.memory import trim_heap
from recap.model.config import Stage, StageValues
from recap.model.recap import Recap, RecapScorer
from recap.scores import CaseBatch
from recap.storage.tensors import save_tensors
from recap.training.group import Group
from recap.training.journal import Journal
from recap.training.losses import training_losses
from recap.training.metrics_file import EpochLine
from recap.training.optimiser import build_optimiser, set_learning_rates
from recap.training.state import STATE_FILE, load_state, save_state
from recap.training_config import TrainConfig

BEST = "best.safetensors"
BEST_OVERALL = "best_overall.safetensors"
_READ_LOSS_EVERY_SECONDS = 0.5
"""A loss read from a GPU makes it wait, so watchers there get a new value at most this often."""


class KeptEpoch(TypedDict):
    """An epoch whose weights are kept; as JSON, since it is part of the resume state (see `EpochResult`)."""

    epoch: int
    stage: StageValues
    val: dict[str, float]


@dataclass
class Progress:
    """Counters of a run; everything here is in the resume state.

    Attributes:
        epoch: the epoch being trained, from 1.
        step: steps of it already done.
        loss_sums: sums over its steps of main and warm loss.
        best, best_overall: the kept epochs, None before the first.
        seconds: wall time so far, over all sessions.
        line: the journal's line of the last finished epoch, so that a crash right after the state cannot lose it.
    """

    epoch: int = 1
    step: int = 0
    loss_sums: dict[str, float] = field(default_factory=lambda: {"main": 0.0, "warm": 0.0})
    best: KeptEpoch | None = None
    best_overall: KeptEpoch | None = None
    seconds: float = 0.0
    line: EpochLine | None = None


@dataclass(frozen=True)
class StepReport:
    """What a watcher is told after each step; on a GPU ``loss`` may be up to half a second old."""

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float


Watcher = Callable[[StepReport], None]
StopRequest = Callable[[], bool]
EpochWatcher = Callable[["Trainer", int], None]
"""Called by the writing process with the trainer and the epoch that has just been finished and saved."""


class Trainer:
    """Trains one model on one dataset in one folder.

    Args:
        folder: holds state, best weights and journal; must exist and be this trainer's alone.
        device: where model and check-in tensors live for the whole run.
        journal_folder: where metrics and TensorBoard events go; ``folder`` if not given.
        group: the processes that share this training.
    """

    def __init__(
        self,
        dataset: Dataset,
        config: TrainConfig,
        folder: Path,
        device: torch.device,
        *,
        journal_folder: Path | None = None,
        group: Group | None = None,
    ) -> None:
        self.config, self.folder, self.device = config, folder, device
        self.journal_folder, self.group = journal_folder or folder, group or Group()
        self.dataset, self.graph = dataset, TransitionGraph.from_dataset(dataset)
        self.checkins = CheckinTensors.from_dataset(dataset, device)
        self.validation = describe_cases(dataset, self.graph, c.VAL)
        if self.validation.empty:
            raise DataError("the dataset has no validation case, so no epoch can be chosen; prepare a longer record")
        selecting = dataset.cases(c.VAL, config.select_on)
        self.selects = self.validation[c.ROW].isin(selecting).to_numpy()
        row_N = latest_cases(dataset.checkins, dataset.cases(c.TRAIN), config.latest_share)
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
        self._loss_sums_2 = torch.zeros(2, dtype=torch.float64, device=device)
        self._seen_loss, self._loss_seen = 0.0, float("-inf")

    @property
    def steps_per_epoch(self) -> int:
        return -(-len(self.row_N) // self.config.batch_size)

    def resume(self) -> None:
        """Continue from the folder's state; raises CheckpointError where it cannot be read."""
        self.progress = Progress(**load_state(self.folder / STATE_FILE, self.model, self.optimiser))
        sums = [self.progress.loss_sums[name] for name in ("main", "warm")]
        self._loss_sums_2 = torch.tensor(sums, dtype=torch.float64, device=self.device) / self.group.size

    def run(
        self,
        watch: Watcher | None = None,
        stop: StopRequest = lambda: False,
        after_epoch: EpochWatcher | None = None,
    ) -> bool:
        """Train to the last epoch; returns False when ``stop`` asked for an end (the state is saved)."""
        journal = self._open_journal()
        if self.progress.epoch == 1 and self.progress.step == 0:
            self._start_evidence()
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
                    if self.group.agrees_to_stop(self.progress.step, stop()):
                        self.save()
                        return False
                    # A group saves at epoch ends and stops only: the processes' clocks do not agree on "every minute".
                    if (
                        now - saved > self.config.save_every_seconds
                        and self.progress.step < self.steps_per_epoch
                        and not self.group.is_shared
                    ):
                        self.save()
                        saved = now
                self._end_epoch(stage, rates, time.perf_counter() - epoch_started)
                self.progress.seconds = earlier_seconds + time.perf_counter() - started
                # The state before the line: whoever reads an epoch in metrics.jsonl can rely on it.
                self.save()
                saved = time.perf_counter()
                if journal is not None and self.progress.line is not None:
                    journal.write(self.progress.line)
                if after_epoch is not None and self.group.is_writer:
                    after_epoch(self, self.progress.epoch - 1)
            return True
        finally:
            if journal is not None:
                journal.close()

    def save(self) -> None:
        """Write the resume state."""
        self._read_loss_sums()
        if self.group.is_writer:
            save_state(self.folder / STATE_FILE, self.model, self.optimiser, vars(self.progress))

    def validate(self, stage: Stage) -> tuple[MetricsByGroup, Metrics]:
        """Validation metrics by group at a stage, and those over the cases that choose the kept epoch."""
        scorer = RecapScorer(self.model, stage)
        ranked = rank_cases(scorer, self.validation, self.checkins)
        self.model.train()
        return metrics_by_group(ranked), metrics_of(ranked[self.selects])

    def _start_evidence(self) -> None:
        """Let evidence weights begin where the log-linear ranker ends."""
        terms, config = self.model.evidence, self.config.model.evidence
        if terms is None or config is None or not self.config.fit_evidence:
            return
        ranker_config = EvidenceRankerConfig(features=config)
        ranker = EvidenceRanker.fit(self.dataset, self.graph, ranker_config, seed=self.config.seed)
        terms.start_from(ranker.dense_weights | ranker.packed_weights)

    def _open_journal(self) -> Journal | None:
        if not self.group.is_writer:
            return None
        journal = Journal(self.journal_folder, resume_after=self.progress.epoch - 1)
        line = self.progress.line
        if line is not None and line["epoch"] > journal.last_epoch:
            journal.write(line)
        return journal

    def _read_loss_sums(self) -> None:
        main, warm = self.group.add(self._loss_sums_2).tolist()
        self.progress.loss_sums = {"main": main, "warm": warm}

    def _epoch_order(self, epoch: int) -> Tensor:
        if self.config.order == "time":
            return torch.argsort(self.checkins.seconds_T[self.row_N + 1], stable=True)
        generator = np.random.default_rng([self.config.seed, epoch])
        return torch.from_numpy(generator.permutation(len(self.row_N))).to(self.device)

    def _step(self, index_B: Tensor, stage: Stage) -> Tensor:
        self.model.train()
        whole_B, index_B = index_B, self.group.share(index_B)
        if not len(index_B):
            self.optimiser.zero_grad(set_to_none=True)
            self._update()
            return torch.zeros((), device=self.device)
        batch = CaseBatch(self.checkins, self.row_N[index_B])
        fast = self.config.precision == "bf16"
        autocast = torch.autocast(self.device.type, torch.bfloat16, enabled=fast)
        with autocast, self.group.masks_of(len(whole_B), words=fast and self.device.type == "cpu"):
            scores = self.model(batch, stage)
        # Means over a share become means over the batch: share by share they are weighted with their number of cases.
        main_part, warm_part, warm_factor = 1.0, 1.0, 1.0
        if self.group.is_shared:
            main_part = len(index_B) / len(whole_B)
            warm_part = int(self.warm_N[index_B].sum()) / max(1, int(self.warm_N[whole_B].sum()))
            warm_factor = warm_part / main_part
        losses = training_losses(
            scores, batch.target_B, self.warm_N[index_B], stage.warm_weight * warm_factor, self.config.label_smoothing
        )
        self.optimiser.zero_grad(set_to_none=True)
        (losses.objective * main_part if self.group.is_shared else losses.objective).backward()
        self._update()
        self._loss_sums_2 += torch.stack([losses.main * main_part, losses.warm * warm_part]).double()
        return losses.main

    def _update(self) -> None:
        self.group.all_reduce_gradients(self.model)
        self.optimiser.step()

    def _end_epoch(self, stage: Stage, rates: dict[str, float], seconds: float) -> None:
        progress, config = self.progress, self.config
        self._read_loss_sums()
        line: EpochLine = {
            "epoch": progress.epoch,
            "loss": {name: total / self.steps_per_epoch for name, total in progress.loss_sums.items()},
            "learning_rate": rates,
            "stage": stage.as_json(),
            "steps_per_second": self.steps_per_epoch / seconds,
            "seconds": seconds,
        }
        if self.group.is_writer and (progress.epoch % config.validate_every == 0 or progress.epoch == config.epochs):
            started = time.perf_counter()
            line["val"], selection = self.validate(stage)
            if not self.selects.all():
                line["selection"] = selection
            line["validation_seconds"] = time.perf_counter() - started
            self._keep_best(stage, selection)
        # A process without a case in the last, short batch drew no masks for it.
        self.group.take_writers_random_state(self.device)
        progress.line = line
        progress.epoch += 1
        progress.step = 0
        self._loss_sums_2.zero_()
        trim_heap()

    def _keep_best(self, stage: Stage, val: Metrics) -> None:
        result: KeptEpoch = {
            "epoch": self.progress.epoch,
            "stage": stage.as_json(),
            "val": {name: value for name in METRICS if (value := val[name]) is not None},
        }
        everything_on = stage.inactive_parts(self.config.model) == Stage().inactive_parts(self.config.model)
        if everything_on and _beats(result, self.progress.best):
            save_tensors(self.model.state_dict(), self.folder / BEST)
            self.progress.best = result
        if _beats(result, self.progress.best_overall):
            save_tensors(self.model.state_dict(), self.folder / BEST_OVERALL)
            self.progress.best_overall = result

    def _report(self, loss: Tensor) -> StepReport:
        progress, now = self.progress, time.perf_counter()
        if self.device.type == "cpu" or now - self._loss_seen > _READ_LOSS_EVERY_SECONDS:
            self._seen_loss, self._loss_seen = float(loss), now
        return StepReport(progress.epoch, self.config.epochs, progress.step, self.steps_per_epoch, self._seen_loss)


def _beats(result: KeptEpoch, kept: KeptEpoch | None) -> bool:
    return kept is None or result["val"]["mrr"] > kept["val"]["mrr"]
