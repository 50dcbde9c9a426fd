"""Train a run."""

import time
from pathlib import Path
from typing import Final

import torch

from recap import columns as c
from recap.baselines.counting import CountPlusMarkov, VisitCount
from recap.data.dataset import Dataset
from recap.errors import DatasetError, RecapError
from recap.evaluation.cases import describe_cases, numbered_among
from recap.evaluation.metrics import Metrics, metrics_by_group
from recap.evaluation.records import records_file, records_metadata, write_records
from recap.evaluation.scoring import Evaluation, rank_cases
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors
from recap.machine.device import choose_device
from recap.machine.printable import one_line
from recap.runs.store.files import RunSpec, now
from recap.runs.store.process import ProcessIdentity
from recap.runs.store.run_store import PROGRESS, REFERENCE, STOP_RANKS, RunFolder
from recap.storage.atomic import replace_json
from recap.training.group import Group
from recap.training.loop import StepReport, TrainingLoop
from recap.training.run import train
from recap.training_config import AnyTraining

EVERY_SECONDS: Final = 1.0


class ProgressWriter:
    """Writes `progress.json`: time, step and loss."""

    def __init__(self, run: RunFolder, attempt: int, process: ProcessIdentity) -> None:
        self._path = run.path / PROGRESS
        self._fixed = {"attempt": attempt, "process": process.model_dump()}
        self._written = float("-inf")

    def watch(self, report: StepReport) -> None:
        """Call after every step; writes at most once a second."""
        moment = time.monotonic()
        if moment - self._written < EVERY_SECONDS:
            return
        self._written = moment
        replace_json(self._path, {**self._fixed, "time": now(), **vars(report)}, durable=False)


class StopQuestion:
    """Whether the run's state or a signal stops the training; reads the state file twice a second. ``signals``: filled
    by signal handlers.
    """

    def __init__(self, run: RunFolder, attempt: int, signals: list[int]) -> None:
        self._run, self._attempt, self._signals = run, attempt, signals
        self._next, self._answer = 0.0, False

    def __call__(self) -> bool:
        if self._signals or self._answer:
            return True
        moment = time.monotonic()
        if moment >= self._next:
            self._next = moment + EVERY_SECONDS / 2
            self._answer = self._is_asked() or (self._run.path / STOP_RANKS).exists()
        return self._answer

    def _is_asked(self) -> bool:
        try:
            state = self._run.read_state()
        except RecapError:
            return not self._run.path.is_dir()
        return state.state == "stopping" or state.attempt != self._attempt


def write_reference(run: RunFolder, dataset: Dataset, config: AnyTraining) -> None:
    """Write once the metrics of both counting baselines on the run's validation cases, the reference lines of its
    curves. Raises OSError if the disk refused.
    """
    if run.read_reference():
        return
    graph = TransitionGraph.from_dataset(dataset)
    cases = describe_cases(dataset, graph, c.VAL, numbered_among(config.select_on), most=config.validation_cases)
    if cases.empty:
        return
    checkins = CheckinTensors.from_dataset(dataset)
    counters = (VisitCount(dataset), CountPlusMarkov(dataset, graph))
    metrics = {counter.name: metrics_by_group(rank_cases(counter, cases, checkins)) for counter in counters}
    replace_json(run.path / REFERENCE, metrics)


def train_run(
    run: RunFolder, attempt: int, signals: list[int], group: Group | None = None, device: torch.device | None = None
) -> bool:
    """Train or continue a run; False if it was stopped before its end. Raises RecapError if the dataset is not the one
    the run was queued for, or the training failed.
    """
    spec, group = run.read_spec(), group or Group()
    threads = run.read_state().threads
    if threads is not None:  # sums depend on it: a resumed run keeps it
        torch.set_num_threads(threads)
    device = device or choose_device(spec.device)
    dataset = load_dataset(spec)
    if group.is_writer:
        write_reference(run, dataset, spec.train_config())
        what = one_line(f"{spec.title}; {dataset.manifest.name} on {device}")
        print(f"run {run.id}, start {attempt}: {what}", flush=True)
    tests: list[Evaluation] = []

    def after_epoch(trainer: TrainingLoop, epoch: int) -> None:
        line = trainer.progress.line
        assert line is not None, "an epoch was finished"
        shown: Metrics = line["val"]["all"] if "val" in line else {}
        numbers = "  ".join(f"{name} {shown[name]:.4f}" for name in ("hr1", "hr20", "mrr") if shown.get(name))
        print(f"epoch {epoch} of {trainer.config.epochs}  loss {line['loss']['main']:.4f}  {numbers}", flush=True)

    checkpoint = train(
        dataset,
        spec.train_config(),
        run.checkpoint,
        device=device,
        resume=True,
        watch=ProgressWriter(run, attempt, ProcessIdentity.current()).watch,
        stop=StopQuestion(run, attempt, signals),
        after_epoch=after_epoch,
        after_test=tests.append,
        journal_folder=run.path,
        group=group,
    )
    if checkpoint is None:
        return False
    (test,) = tests
    if test.drawn_from is None:  # a sample must not pass for all cases
        of = (spec.dataset_hash, checkpoint.hash, "test", test.protocol)
        # `recap evaluate` and the app look here: a finished run opens at once.
        write_records(
            test.records, records_file(*of), records_metadata(*of, model=test.model, options=checkpoint.options)
        )
    return True


def load_dataset(spec: RunSpec) -> Dataset:
    """The run's dataset; raises DatasetError if it is missing or has changed."""
    dataset = Dataset.load(Path(spec.dataset))
    if dataset.hash != spec.dataset_hash:
        raise DatasetError(
            f"{spec.dataset} was {spec.dataset_hash[:12]}… when the run was queued and is {dataset.hash[:12]}… now; "
            "put the old dataset back or submit a new run"
        )
    return dataset
