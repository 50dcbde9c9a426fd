"""Descriptions of runs, also of damaged folders."""

from typing import TYPE_CHECKING, Any, TypedDict

from recap.errors import RecapError
from recap.runs.store.run_folder import RunFolder, RunProgress, RunReference
from recap.runs.store.spec import RunSpec
from recap.runs.store.state import RunState, StateName
from recap.training.metrics_file import EpochLine

if TYPE_CHECKING:
    from recap.evaluation.metrics import Metrics


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


def describe_run(run: RunFolder) -> RunDescription:
    """Everything about a run. Raises RecapError if the run's folder is gone."""
    keys, spec, metrics, attempt = _look_at(run)
    return {
        **keys,
        "spec": None if spec is None else spec.model_dump(mode="json"),
        "metrics": metrics,
        "reference": run.read_reference(),
        "attempt": attempt,
        "progress": run.read_progress() if keys["state"] in ("running", "stopping") else {},
    }


def describe_briefly(run: RunFolder) -> RunRow:
    """A row of the list of runs, with the best validation metrics so far. ``seconds`` is the time of its finished
    epochs, with validation and without pauses. Raises RecapError if the run's folder is gone.
    """
    keys, spec, metrics, _ = _look_at(run)
    best = best_epoch(metrics)
    seconds = sum(line.get("seconds", 0.0) + line.get("validation_seconds", 0.0) for line in metrics)
    return {
        **keys,
        "seconds": seconds if metrics else None,
        "title": "" if spec is None else spec.title,
        "dataset": "" if spec is None else spec.dataset_name,
        "notes": "" if spec is None else spec.notes,
        "best": None if best is None else {"epoch": best["epoch"], **best["val"]["all"]},
    }


def _look_at(run: RunFolder) -> tuple[RunKeys, RunSpec | None, list[EpochLine], int]:
    state, error = _state(run)
    spec, epochs = None, None
    try:
        spec = run.read_spec()
        epochs = spec.train_config().epochs
    except RecapError as problem:  # an unknown preset is no damage
        error = error or (None if spec else str(problem))
    metrics = run.read_metrics()
    process = state.process if state.state in ("running", "stopping") else None
    keys: RunKeys = {
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
    }
    return keys, spec, metrics, state.attempt


def best_epoch(metrics: list[EpochLine]) -> EpochLine | None:
    """The finished epoch with the highest MRR over the selecting cases; None before the first validation."""
    validated = [(mrr, line) for line in metrics if (mrr := _validation_mrr(line)) is not None]
    return max(validated, key=lambda entry: entry[0])[1] if validated else None


def _validation_mrr(line: EpochLine) -> float | None:
    if "selection" in line:
        return line["selection"]["mrr"]
    return line["val"]["all"]["mrr"] if line.get("val") else None


def _state(run: RunFolder) -> tuple[RunState, str | None]:
    try:
        state = run.read_state()
    except RecapError as error:
        if not run.path.is_dir():
            raise
        # A newer version wrote it.
        return RunState(state="lost", created=""), str(error)
    return state, state.error
