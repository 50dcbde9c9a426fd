"""What commands and views show of a run; a damaged folder is described, never hidden."""

from recap.errors import RecapError
from recap.runs.store.run_folder import RunFolder
from recap.runs.store.spec import RunSpec
from recap.runs.store.state import RunState
from recap.runs.store.types import RunDescription, RunRow
from recap.training.metrics_file import EpochLine


def describe_run(run: RunFolder) -> RunDescription:
    """Everything about a run under the contract's keys; ``epoch`` is the last finished one.

    Raises:
        RecapError: the run's folder is gone.
    """
    state, error = _state(run)
    spec, epochs = None, None
    try:
        parsed = run.read_spec()
        spec, epochs = parsed.as_json(), planned_epochs(parsed)
    except RecapError as problem:
        error = error or str(problem)
    metrics = run.read_metrics()
    finished = state.state == "finished"
    return {
        "id": run.id,
        "state": state.state,
        "spec": spec,
        "created": state.created,
        "started": state.started,
        "ended": state.ended,
        "epoch": metrics[-1]["epoch"] if metrics else 0,
        "epochs": epochs,
        "metrics": metrics,
        "pid": state.process.pid if state.process is not None and state.state in ("running", "stopping") else None,
        "host": state.host,
        "device": state.device.shown if state.device is not None else None,
        "error": error,
        "checkpoint": str(run.checkpoint) if finished and run.has_checkpoint else None,
        "reference": run.read_reference(),
        "attempt": state.attempt,
        "progress": run.read_progress() if state.state in ("running", "stopping") else {},
    }


def describe_briefly(run: RunFolder) -> RunRow:
    """A row of the list: the contract's keys without the long ones, and the best validation metrics so far.

    ``seconds`` is the time its finished epochs took, validation included, without the pauses between two starts.

    Raises:
        RecapError: the run's folder is gone.
    """
    full = describe_run(run)
    spec = full["spec"]
    best = best_epoch(full["metrics"])
    seconds = sum(line.get("seconds", 0.0) + line.get("validation_seconds", 0.0) for line in full["metrics"])
    return {
        "id": full["id"],
        "state": full["state"],
        "created": full["created"],
        "started": full["started"],
        "ended": full["ended"],
        "epoch": full["epoch"],
        "epochs": full["epochs"],
        "pid": full["pid"],
        "host": full["host"],
        "device": full["device"],
        "error": full["error"],
        "checkpoint": full["checkpoint"],
        "seconds": seconds if full["metrics"] else None,
        "title": RunSpec.parse({**spec}).title if spec is not None else "",
        "dataset": spec["dataset_name"] if spec is not None else "",
        "notes": spec["notes"] if spec is not None else "",
        "parent": spec["parent"] if spec is not None else None,
        "best": None if best is None else {"epoch": best["epoch"], **best["val"]["all"]},
    }


def best_epoch(metrics: list[EpochLine]) -> EpochLine | None:
    """The finished epoch with the highest MRR over the cases that choose, None before the first validation."""
    validated = [(mrr, line) for line in metrics if (mrr := _validation_mrr(line)) is not None]
    return max(validated, key=lambda entry: entry[0])[1] if validated else None


def _validation_mrr(line: EpochLine) -> float | None:
    if "selection" in line:
        return line["selection"]["mrr"]
    return line["val"]["all"]["mrr"] if line.get("val") else None


def planned_epochs(spec: RunSpec) -> int | None:
    """How many epochs a run trains; None where this version does not know its preset any more."""
    try:
        return spec.train_config().epochs
    except RecapError:
        return None


def _state(run: RunFolder) -> tuple[RunState, str | None]:
    try:
        state = run.read_state()
    except RecapError as error:
        if not run.path.is_dir():
            raise
        # A newer version wrote it: nobody of this version can say more, nor look after it.
        return RunState(state="lost", created=""), str(error)
    return state, state.error
