"""Keys of runs in commands, views and `recap runs ... --json`."""

from typing import TYPE_CHECKING, Any, TypedDict

from recap.runs.store.state import StateName
from recap.training.metrics_file import EpochLine
from recap.training_config import TrainingSummary

if TYPE_CHECKING:
    from recap.evaluation.metrics import Metrics, MetricsByGroup


class RunProgress(TypedDict, total=False):
    """`progress.json`; empty before the first step."""

    attempt: int
    process: dict[str, Any]
    time: str
    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float


class RunReference(TypedDict, total=False):
    """`reference.json`: metrics of counting on the validation cases; empty before, and without cases. ``all`` and so on
    belong to ``model``; ``visit_count`` has the same for counting visits alone.
    """

    model: str
    split: str
    all: "Metrics"
    head: "Metrics"
    tail: "Metrics"
    unseen: "Metrics"
    visit_count: "MetricsByGroup"


class RunSummary(TrainingSummary, total=False):
    """`summary.json` of a finished run: the checkpoint's and the run's own values; empty before."""

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

    spec: dict[str, Any] | None
    metrics: list[EpochLine]
    reference: RunReference
    attempt: int
    progress: RunProgress


class RunRow(RunKeys):
    """A row of the list of runs; ``best`` is the best epoch and its validation metrics over all cases."""

    seconds: float | None
    title: str
    dataset: str
    notes: str
    best: "Metrics | None"
