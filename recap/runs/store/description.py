"""Descriptions of runs, also of damaged folders."""

from typing import TYPE_CHECKING, Any, TypedDict

from recap.errors import FormatVersionError, RecapError
from recap.runs.store.files import RunSpec, RunState, StateName
from recap.runs.store.run_store import RunFolder
from recap.training.metrics_file import EpochLine, epoch_seconds

if TYPE_CHECKING:
    from recap.evaluation.metrics import Metrics, MetricsByGroup


class RunRow(TypedDict):
    """A row of the list of runs. ``epoch`` is the last finished one; ``seconds`` the time of its finished epochs, with
    validation and without pauses; ``best`` the best epoch and its validation metrics over all cases.
    """

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
    seconds: float | None
    title: str
    dataset: str
    notes: str
    best: "Metrics | None"


class RunDescription(RunRow):
    """Everything about a run."""

    spec: dict[str, Any] | None
    metrics: list[EpochLine]
    reference: "dict[str, MetricsByGroup]"
    attempt: int
    progress: dict[str, Any]


def describe_run(run: RunFolder) -> RunDescription:
    """Everything about a run. Raises RecapError if the run's folder is gone."""
    row, spec, metrics, attempt = _look_at(run)
    return {
        **row,
        "spec": None if spec is None else spec.model_dump(mode="json"),
        "metrics": metrics,
        "reference": run.read_reference(),
        "attempt": attempt,
        "progress": run.read_progress() if row["state"] in ("running", "stopping") else {},
    }


def describe_briefly(run: RunFolder) -> RunRow:
    """A row of the list of runs. Raises RecapError if the run's folder is gone."""
    return _look_at(run)[0]


def _look_at(run: RunFolder) -> tuple[RunRow, RunSpec | None, list[EpochLine], int]:
    spec, epochs = None, None
    try:
        state = run.read_state()
        error = state.error
    except FormatVersionError as problem:
        state, error = RunState(state="lost", created=""), str(problem)
    try:
        spec = run.read_spec()
        epochs = spec.train_config().epochs
    except RecapError as problem:  # an unknown preset is no damage
        error = error or (None if spec else str(problem))
    metrics = run.read_metrics()
    best = best_epoch(metrics)
    process = state.process if state.state in ("running", "stopping") else None
    row: RunRow = {
        "id": run.id,
        "state": state.state,
        "created": state.created,
        "started": state.started,
        "ended": state.ended,
        "epoch": metrics[-1]["epoch"] if metrics else 0,
        "epochs": epochs,
        "pid": None if process is None else process.pid,
        "host": state.host,
        "device": state.device.shown if state.device is not None else None,
        "error": error,
        "checkpoint": str(run.checkpoint) if state.state == "finished" and run.has_checkpoint else None,
        "seconds": sum(map(epoch_seconds, metrics)) if metrics else None,
        "title": "" if spec is None else spec.title,
        "dataset": "" if spec is None else spec.dataset_name,
        "notes": "" if spec is None else spec.notes,
        "best": None if best is None else {"epoch": best["epoch"], **best["val"]["all"]},
    }
    return row, spec, metrics, state.attempt


def best_epoch(metrics: list[EpochLine]) -> EpochLine | None:
    """The finished epoch with the highest MRR over the selecting cases; None before the first validation."""
    selecting = [(line, line.get("selection") or line["val"]["all"]) for line in metrics if line.get("val")]
    validated = [(line, mrr) for line, selection in selecting if (mrr := selection["mrr"]) is not None]
    return max(validated, key=lambda entry: entry[1])[0] if validated else None
