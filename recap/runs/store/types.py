"""Runs in commands and views, key by key: the contract of `recap runs ... --json`."""

from typing import TYPE_CHECKING, TypedDict

from recap.runs.store.process import ProcessValues
from recap.runs.store.spec import RunSpecValues
from recap.runs.store.state import StateName
from recap.training.metrics_file import EpochLine

if TYPE_CHECKING:
    from recap.evaluation.metrics import Metrics, MetricsByGroup


class RunProgress(TypedDict, total=False):
    """`progress.json`: the worker's last words; empty before the first."""

    attempt: int
    process: ProcessValues
    time: str
    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float


class RunReference(TypedDict, total=False):
    """`reference.json`: what counting reaches on the validation cases; empty before, and where there are none.

    ``all`` and so on are ``model``'s; ``visit_count`` holds the same of counting visits alone.
    """

    model: str
    split: str
    all: "Metrics"
    head: "Metrics"
    tail: "Metrics"
    unseen: "Metrics"
    visit_count: "MetricsByGroup"


class RunSummary(TypedDict, total=False):
    """`summary.json` of a finished run: the checkpoint's `TrainingSummary` and what the run measured; empty before.

    The names are written again, since a list of runs is read without torch.
    """

    epochs: int
    best_epoch: int
    val: dict[str, float]
    seconds: float
    reserved_gpu_bytes: int
    device: str
    finished: str
    protocol: str
    test_seconds: float
    test: "MetricsByGroup"
    test_drawn_from: int
    baselines: "dict[str, MetricsByGroup]"
    checkpoint_hash: str
    peak_bytes: int
    device_type: str


class RunKeys(TypedDict):
    """Keys of every answer about a run; ``epoch`` is the last finished one."""

    id: str
    state: StateName
    created: str
    started: str | None
    ended: str | None
    epoch: int
    epochs: int | None
    pid: int | None
    host: str | None
    device: str | None
    error: str | None
    checkpoint: str | None


class RunDescription(RunKeys):
    """Everything about a run."""

    spec: RunSpecValues | None
    metrics: list[EpochLine]
    reference: RunReference
    attempt: int
    progress: RunProgress


class RunRow(RunKeys):
    """A row of the list of runs; ``best`` is the best epoch's number and its validation metrics over all cases."""

    seconds: float | None
    title: str
    dataset: str
    notes: str
    parent: str | None
    best: "Metrics | None"
