"""Runs side by side: what they were asked, what they reached, and which cases changed sides."""

from typing import Any

import pandas as pd

from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.errors import RecapError
from recap.evaluation.records import read_records, records_file
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


def changed_cases(run: RunFolder, other: RunFolder, within: int = 20) -> pd.DataFrame:
    """Test cases one run gets right (rank at most ``within``) and the other does not.

    Returns:
        ``case, source, target, transition_count, rank_before, rank, change`` with change ``newly right`` or
        ``newly wrong``; ``other`` is before.

    Raises:
        RecapError: a run is not finished, they used different datasets, or records are missing.
    """
    if run.read_spec().dataset_hash != other.read_spec().dataset_hash:
        raise RecapError(f"runs {other.id} and {run.id} used different datasets: their cases cannot be matched")
    before, after = _records(other), _records(run)
    table = after[[c.CASE, c.SOURCE, c.TARGET, c.TRANSITION_COUNT, c.RANK]].assign(rank_before=before[c.RANK])
    right, was_right = table[c.RANK] <= within, table["rank_before"] <= within
    table["change"] = "same"
    table.loc[right & ~was_right, "change"] = "newly right"
    table.loc[~right & was_right, "change"] = "newly wrong"
    return table[table["change"] != "same"].sort_values(["change", c.RANK], ignore_index=True)


def _records(run: RunFolder) -> pd.DataFrame:
    if not run.has_checkpoint:
        raise RecapError(f"run {run.id} is {run.read_state().state}: its cases are ranked when it has finished")
    checkpoint = Checkpoint.load(run.checkpoint)
    path = records_file(checkpoint.manifest.dataset_hash, checkpoint.hash, "test", "every_step")
    if not path.is_file():
        raise RecapError(
            f"the records of run {run.id} are not in the cache any more: write them with "
            f"`recap evaluate {run.checkpoint} --data {run.read_spec().dataset}`"
        )
    return read_records(path)[0]


def _flatten(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= _flatten(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return flat
