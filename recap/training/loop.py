"""The training loop of RECAP and published models.

Subclasses define a step: `Trainer` and `PublishedTrainer`.

Shape suffixes: B examples of a batch.
"""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from pydantic import ConfigDict, Field
from torch import Tensor, nn

from recap import columns as c
from recap.checkpoint import EpochResult
from recap.config import Config
from recap.data.dataset import Dataset
from recap.errors import CheckpointError, ConfigError, DataError, DivergenceError, MissingTensorError
from recap.evaluation.cases import describe_cases, numbered_among
from recap.evaluation.metrics import METRICS, Metrics, metrics_by_group, metrics_of
from recap.evaluation.scoring import rank_cases
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors
from recap.machine.memory import trim_heap
from recap.model.config import Stage
from recap.pretrained.curves_file import PretrainedCurves
from recap.scores import Scorer
from recap.storage.tensors import load_tensors, load_weights, save_tensors
from recap.training.group import Group
from recap.training.metrics_file import EpochLine, Journal
from recap.training_config import AnyTraining

STATE_FILE = "state.safetensors"
BEST = "best.safetensors"
BEST_OVERALL = "best_overall.safetensors"
_RANDOM = "random.cpu"
_READ_LOSS_EVERY_SECONDS = 0.5
"""A loss read from a GPU makes it wait, so watchers there get a new value at most this often."""
_TRAINING_PER_SAVING = 20
"""The next resume state waits this many times as long as the last one took to write: with a million places it has 5 GB
and takes ten seconds or more, so one a minute would take a sixth of the training."""


class Progress(Config):
    """Counters of a run, saved in the resume state: the epoch being trained, its steps already done and the sum of each
    loss over them; the kept epochs; seconds over all sessions; the journal's line of the last finished epoch
    (`EpochLine`), which a crash cannot lose; and the state of a learning rate that depends on validation.
    """

    model_config = ConfigDict(frozen=False)

    format_version: Literal[1] = 1
    epoch: int = Field(1, strict=True)
    step: int = Field(0, strict=True)
    loss_sums: dict[str, float] = Field(default_factory=dict)
    best: EpochResult | None = None
    best_overall: EpochResult | None = None
    seconds: float = Field(0.0, ge=0)
    processor_seconds: float = Field(0.0, ge=0)
    line: dict[str, Any] | None = None
    schedule: dict[str, float] = Field(default_factory=dict)


@dataclass(frozen=True)
class StepReport:
    """Report to a watcher after each step; on a GPU ``loss`` may be up to half a second old."""

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float


Watcher = Callable[[StepReport], None]
StopRequest = Callable[[], bool]
EpochWatcher = Callable[["TrainingLoop", int], None]
"""Receives the loop and the epoch just finished and saved; only the writing process calls it, and the watcher."""


class TrainingLoop(ABC):
    """Trains one model on one dataset in one ``folder``, which must exist and be this trainer's alone: for state, best
    weights and, without a ``journal_folder``, metrics. For the other arguments see `recap.training.run.train`.
    """

    losses: ClassVar[tuple[str, ...]] = ("main",)
    """Names of what `_loss_sums` adds up."""
    config: AnyTraining
    model: nn.Module
    optimiser: torch.optim.Optimizer

    def __init__(
        self,
        dataset: Dataset,
        config: AnyTraining,
        folder: Path,
        device: torch.device,
        *,
        journal_folder: Path | None = None,
        group: Group | None = None,
        pretrained: PretrainedCurves | None = None,
    ) -> None:
        self.pretrained = pretrained
        self.config, self.folder, self.device = config, folder, device
        self.journal_folder, self.group = journal_folder or folder, group or Group()
        self.dataset, self.graph = dataset, TransitionGraph.from_dataset(dataset)
        self.checkins = CheckinTensors.from_dataset(dataset, device)
        protocol = numbered_among(config.select_on)
        self.validation = describe_cases(dataset, self.graph, c.VAL, protocol, most=config.validation_cases)
        if self.validation.empty:
            raise DataError("the dataset has no validation case, so no epoch can be chosen; prepare more check-ins")
        self.num_validation_cases = len(dataset.cases(c.VAL, protocol))
        self.selects = self.validation[c.ROW].isin(dataset.cases(c.VAL, config.select_on)).to_numpy()
        if not self.selects.any():
            raise DataError(
                f"none of the {len(self.validation)} validation cases drawn is one that chooses the epoch "
                f"({config.select_on}); raise validation_cases"
            )
        torch.manual_seed(config.seed)
        self.progress = Progress()
        self._loss_sums = torch.zeros(len(self.losses), dtype=torch.float64, device=device)
        self._seen_loss, self._loss_seen = 0.0, float("-inf")
        self._processor_start = time.process_time()
        self._build()

    @abstractmethod
    def _build(self) -> None:
        """Make ``model`` and ``optimiser``; the seed is set."""

    @property
    @abstractmethod
    def num_examples(self) -> int:
        """Training examples of an epoch."""

    @abstractmethod
    def begin_epoch(self, epoch: int) -> dict[str, float]:
        """Set learning rates and the order of the examples; returns name -> learning rate."""

    @abstractmethod
    def _learn(self, positions: slice) -> Tensor:
        """One step over the examples at these positions of the epoch's order. Adds to `_loss_sums` and returns the
        loss.
        """

    @abstractmethod
    def scorer(self, epoch: int) -> Scorer:
        """The model with its current weights, as it scores at an epoch."""

    def stage(self, epoch: int) -> Stage | None:
        """The curriculum's stage at an epoch; None for a model without one."""
        return None

    def is_complete(self, epoch: int) -> bool:
        """Whether every enabled part acts at an epoch: only then its weights may become the checkpoint."""
        return True

    def begin(self) -> None:  # noqa: B027 # most have nothing to do
        """Prepare the first step of a new training."""

    @property
    def steps_per_epoch(self) -> int:
        return -(-self.num_examples // self.config.batch_size)

    def resume(self) -> None:
        """Continue from the folder's state; raises CheckpointError: unreadable, or written by another version."""
        path = self.folder / STATE_FILE
        tensors, values = load_tensors(path)
        try:
            self.progress = Progress.parse(values)
        except ConfigError as error:
            raise CheckpointError(f"{path}: {error}; continue with the version that started this training") from error
        if _RANDOM not in tensors:
            raise CheckpointError(f"{path} is not a resume state: it lacks tensor {_RANDOM!r}")
        try:
            load_weights(self.model, _under(tensors, "model."), path.name)
        except MissingTensorError as error:
            raise CheckpointError(
                f"{error}; continue with the version that started this training, or train again in another folder"
            ) from error
        state: dict[int, dict[str, Tensor]] = {}
        try:
            for name, tensor in _under(tensors, "optimiser.").items():
                index, _, key = name.partition(".")
                state.setdefault(int(index), {})[key] = tensor
            groups = self.optimiser.state_dict()["param_groups"]
            self.optimiser.load_state_dict({"state": state, "param_groups": groups})
            torch.set_rng_state(tensors[_RANDOM])
            if torch.cuda.is_available() and "random.cuda" in tensors:
                torch.cuda.set_rng_state(tensors["random.cuda"])
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise CheckpointError(f"{path} is damaged ({error}); train again in another folder") from error
        sums = [self.progress.loss_sums.get(name, 0.0) for name in self.losses]
        self._loss_sums = torch.tensor(sums, dtype=torch.float64, device=self.device) / self.group.size

    def run(
        self,
        watch: Watcher = lambda report: None,
        stop: StopRequest = lambda: False,
        after_epoch: Callable[[Self, int], None] = lambda loop, epoch: None,
    ) -> bool:
        """Train to the last epoch; False if ``stop`` ended it early (the state is saved). Raises DivergenceError:
        losses or weights are no longer finite; the saved state is from before that.
        """
        journal = Journal(self.journal_folder, resume_after=self.progress.epoch - 1) if self.group.is_writer else None
        self._write_line(journal)
        if self.progress.epoch == 1 and self.progress.step == 0:
            self.begin()
        started = saved = time.perf_counter()
        every = wait = self.config.save_every_seconds
        earlier_seconds = self.progress.seconds
        self._processor_start = time.process_time() - self.progress.processor_seconds
        while self.progress.epoch <= self.config.epochs:
            rates = self.begin_epoch(self.progress.epoch)
            epoch_started = time.perf_counter()
            while self.progress.step < self.steps_per_epoch:
                loss = self.take_step(self.progress.step)
                self.progress.step += 1
                if self.group.is_writer:
                    watch(self._report(loss))
                now = time.perf_counter()
                self.progress.seconds = earlier_seconds + now - started
                taken = (self.progress.epoch - 1) * self.steps_per_epoch + self.progress.step
                if self.group.agrees_to_stop(taken, stop()):
                    self.save()
                    return False
                # A group saves only at epoch ends and stops: the processes' clocks differ.
                if now - saved > wait and self.progress.step < self.steps_per_epoch and not self.group.is_shared:
                    self.save()
                    saved = time.perf_counter()
                    wait = _seconds_to_next_state(every, saved - now)
            self._end_epoch(rates, time.perf_counter() - epoch_started)
            self.progress.seconds = earlier_seconds + time.perf_counter() - started
            # The state before the line: an epoch in metrics.jsonl is always saved.
            self.save()
            saved = time.perf_counter()
            self._write_line(journal)
            if self.group.is_writer:
                after_epoch(self, self.progress.epoch - 1)
        return True

    def _write_line(self, journal: Journal | None) -> None:
        if journal is not None and self.progress.line is not None:
            journal.write(self.progress.line)

    def _epoch_order(self, epoch: int) -> Tensor:
        """The examples in this epoch's order."""
        generator = np.random.default_rng([self.config.seed, epoch])
        return torch.from_numpy(generator.permutation(self.num_examples)).to(self.device)

    def take_step(self, step: int) -> Tensor:
        """Learn from one step's examples, cyclically within the epoch; returns the loss."""
        start = step % self.steps_per_epoch * self.config.batch_size
        return self._learn(slice(start, start + self.config.batch_size))

    def save(self) -> None:
        """Write all that is needed to continue bit-identically on the same machine. Raises DivergenceError, and keeps
        the earlier state, if it is not finite.
        """
        self._read_loss_sums()
        self.progress.processor_seconds = time.process_time() - self._processor_start
        if not self.group.is_writer:
            return
        tensors = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        for index, values in self.optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{index}.{name}": torch.as_tensor(value) for name, value in values.items()}
        tensors[_RANDOM] = torch.get_rng_state()
        if torch.cuda.is_available():
            tensors["random.cuda"] = torch.cuda.get_rng_state()
        save_tensors(tensors, self.folder / STATE_FILE, self.progress.model_dump(mode="json"))

    def let_go(self) -> None:
        """Free weights and moments of a finished training; what comes next needs the memory."""
        self.optimiser.zero_grad(set_to_none=True)
        self.optimiser.state.clear()
        self.model.to("meta")
        trim_heap()

    def _read_loss_sums(self) -> None:
        # The weights too: the step that breaks them has a finite loss. One message, so all processes end together.
        *sums, weights = self.group.add(torch.cat([self._loss_sums, self._sum_of_weights()])).tolist()
        totals = dict(zip(self.losses, sums, strict=True))
        broken = [f"the loss {name}" for name, total in totals.items() if not math.isfinite(total)]
        if broken or not math.isfinite(weights):
            progress = self.progress
            raise DivergenceError(
                f"{' and '.join(broken) or 'the weights'} became infinite or NaN in epoch {progress.epoch}, by step "
                f"{progress.step} of {self.steps_per_epoch}; the saved state is from before that. Train again with a "
                "lower learning rate"
            )
        self.progress.loss_sums = totals

    def _sum_of_weights(self) -> Tensor:
        """Finite while every weight is, (1,)."""
        learned = [weight.detach() for weight in self.model.parameters() if weight.requires_grad]
        return torch.stack([weight.sum(dtype=torch.float64) for weight in learned]).sum()[None]

    def _update(self) -> None:
        self.group.all_reduce_gradients(self.model)
        self.optimiser.step()

    def _end_epoch(self, rates: dict[str, float], seconds: float) -> None:
        progress, config = self.progress, self.config
        self._read_loss_sums()
        line: EpochLine = {
            "epoch": progress.epoch,
            "loss": {name: total / self.steps_per_epoch for name, total in progress.loss_sums.items()},
            "learning_rate": rates,
            "steps_per_second": self.steps_per_epoch / seconds,
            "seconds": seconds,
        }
        stage = self.stage(progress.epoch)
        if stage is not None:
            line["stage"] = stage.model_dump()
        if self.group.is_writer and (progress.epoch % config.validate_every == 0 or progress.epoch == config.epochs):
            started = time.perf_counter()
            ranked = rank_cases(self.scorer(progress.epoch), self.validation, self.checkins)
            self.model.train()
            line["val"], selection = metrics_by_group(ranked), metrics_of(ranked[self.selects])
            if len(self.validation) < self.num_validation_cases:
                line["val_drawn_from"] = self.num_validation_cases
            if not self.selects.all():
                line["selection"] = selection
            line["validation_seconds"] = time.perf_counter() - started
            self._keep_best(selection)
        # A process without a case in the last batch drew no masks for it.
        self.group.take_writers_random_state(self.device)
        progress.line = {**line}
        progress.epoch += 1
        progress.step = 0
        self._loss_sums.zero_()
        trim_heap()

    def _keep_best(self, val: Metrics) -> None:
        numbers = {name: value for name in METRICS if (value := val[name]) is not None}
        result = EpochResult(epoch=self.progress.epoch, stage=self.stage(self.progress.epoch), val=numbers)
        if self.is_complete(self.progress.epoch) and _beats(result, self.progress.best):
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


def _under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _seconds_to_next_state(every: float, took: float) -> float:
    """Seconds until the next resume state: long compared with writing one.

    >>> _seconds_to_next_state(60, 0.5), _seconds_to_next_state(60, 10), _seconds_to_next_state(0, 10)
    (60, 200, 0)
    """
    return max(every, _TRAINING_PER_SAVING * took) if every else every


def _beats(result: EpochResult, kept: EpochResult | None) -> bool:
    return kept is None or result.val["mrr"] > kept.val["mrr"]
