"""Runs side by side: what they were asked and what they reached."""

from typing import Any

from recap.errors import RecapError
from recap.runs.store.description import best_epoch
from recap.runs.store.run_folder import RunFolder
from recap.runs.store.types import ComparedRun, RunComparison


def compare_runs(runs: list[RunFolder]) -> RunComparison:
    """Fields in which the runs' configurations differ, and their best validation and test metrics.

    Raises:
        RecapError: fewer than two runs, or a spec that cannot be read.
    """
    if len(runs) < 2:
        raise RecapError(f"a comparison needs two runs or more, got {len(runs)}")
    specs = [run.read_spec() for run in runs]
    flat = [
        {"dataset": spec.dataset_name, "dataset_hash": spec.dataset_hash, **_flatten(spec.train_config().model_dump())}
        for spec in specs
    ]
    names = list(dict.fromkeys(name for values in flat for name in values))
    differing = [name for name in names if len({repr(values.get(name)) for values in flat}) > 1]
    rows: list[ComparedRun] = []
    for run, values in zip(runs, flat, strict=True):
        best, summary = best_epoch(run.read_metrics()), run.read_summary()
        rows.append(
            {
                "id": run.id,
                "state": run.read_state().state,
                "fields": {name: values.get(name) for name in differing},
                "best_epoch": None if best is None else best["epoch"],
                "val": None if best is None else best.get("val"),
                "test": summary.get("test"),
                "seconds": summary.get("seconds"),
            }
        )
    return {"differing": differing, "runs": rows}


def _flatten(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= _flatten(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return flat
