"""A training as tables: stages, curves, result, place in the queue."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import pandas as pd

from analysis.formatting import byte_size, share, stopwatch
from recap.evaluation.metrics import MetricsByGroup
from recap.model.config import Stage
from recap.runs.execution.gpus import Gpu
from recap.runs.store.description import RunRow
from recap.runs.store.files import Lease
from recap.training.metrics_file import EpochLine
from recap.training_config import AnyTraining, TrainConfig, TrainingSummary

_Meaning = Literal["core", "paths", "revisits", "model"]
TrainingCurve = Literal["hr20", "mrr", "loss"]

CURVES: Final[dict[TrainingCurve, str]] = {
    "hr20": "Validation HR@20",
    "mrr": "Validation MRR",
    "loss": "Loss",
}
_GROUPS: Final = {"all": "All", "head": "Frequent", "tail": "Rare"}
_COUNTERS: Final = {"visit_count": "Visit count", "count_plus_markov": "Count + Markov"}


@dataclass(frozen=True)
class StageSpan:
    """Epochs ``first`` to ``last`` without a new part, named by the part that became active at ``first``."""

    name: str
    meaning: _Meaning
    first: int
    last: int


def stage_spans(config: AnyTraining) -> list[StageSpan]:
    """The curriculum by stages; missing parts have none, a published model has one."""
    if not isinstance(config, TrainConfig):
        return [StageSpan(config.title, "core", 1, config.epochs)]
    spans: list[StageSpan] = []
    before: list[tuple[str, _Meaning]] = []
    for epoch in range(1, config.epochs + 1):
        acting = _acting(config.curriculum.at(epoch), config)
        new = [part for part in acting if part not in before]
        if not spans or new:
            names = [name for name, _ in new] or ["Core"]
            meaning: _Meaning = new[-1][1] if new else "core"
            prefix = "+ " if spans and new else ""
            spans.append(StageSpan(prefix + " + ".join(names), meaning, epoch, epoch))
        else:
            spans[-1] = StageSpan(spans[-1].name, spans[-1].meaning, spans[-1].first, epoch)
        before = acting
    return spans


def curve_table(metrics: list[EpochLine], curve: TrainingCurve) -> pd.DataFrame:
    """Curves as ``epoch, series, value``; epochs without validation are absent."""
    rows: list[dict[str, Any]] = []
    for line in metrics:
        values: dict[str, float | None]
        if curve == "loss":
            values = dict(line["loss"])
            if "stage" in line and not line["stage"]["warm_weight"]:
                values.pop("warm", None)
        else:
            groups = line.get("val") or {}
            values = {_GROUPS[group]: groups[group][curve] for group in _GROUPS if group in groups}
        rows += [{"epoch": line["epoch"], "series": name, "value": value} for name, value in values.items()]
    return pd.DataFrame(rows, columns=["epoch", "series", "value"]).dropna(subset=["value"])


def counter_levels(reference: dict[str, MetricsByGroup], curve: TrainingCurve) -> dict[str, float]:
    """Each counter's value over all validation cases, by label; empty for curves without such a level."""
    if curve == "loss" or not reference:
        return {}
    levels = {label: (reference.get(name, {}).get("all") or {}).get(curve) for name, label in _COUNTERS.items()}
    return {label: float(value) for label, value in levels.items() if value is not None}


def result_table(model: str, summary: TrainingSummary) -> pd.DataFrame:
    """HR@20 on the test cases, the best model first: ``Model, All, Frequent, Rare``; empty before a run has ended."""
    rows = {model: summary.get("test", {})}
    rows |= {label: summary.get("baselines", {}).get(name, {}) for name, label in _COUNTERS.items()}
    known = {label: groups for label, groups in rows.items() if _hit_rate(groups, "all") is not None}
    ordered = sorted(known, key=lambda label: -(_hit_rate(known[label], "all") or 0.0))
    columns = {title: [share(_hit_rate(known[label], group)) for label in ordered] for group, title in _GROUPS.items()}
    return pd.DataFrame({"Model": ordered, **columns})


def _hit_rate(groups: Mapping[str, Any], group: str) -> float | None:
    return (groups.get(group) or {}).get("hr20")


def queue_table(rows: list[RunRow]) -> pd.DataFrame:
    """Runs, latest first: ``run, what, state`` (in a list), ``progress`` (share of epochs), ``hr20, time, note``."""
    table = pd.DataFrame(
        [
            {
                "run": row["id"],
                "what": row["title"] + (f" on {row['dataset']}" if row["dataset"] else ""),
                "state": [row["state"]],
                "progress": row["epoch"] / row["epochs"] if row["epochs"] else 0.0,
                "hr20": "" if row["best"] is None else share(row["best"]["hr20"] or 0.0),
                "time": stopwatch(row["seconds"]),
                "note": " ".join((row["error"] or row["notes"]).split()),
            }
            for row in rows
        ],
        columns=["run", "what", "state", "progress", "hr20", "time", "note"],
    )
    return table.iloc[::-1].reset_index(drop=True)


def gpu_table(gpus: list[Gpu], leases: dict[str, Lease]) -> pd.DataFrame:
    """GPUs: ``gpu, use`` (share of the last second), ``memory`` (share in use), ``used`` and ``runs`` (numbers)."""
    rows = []
    for gpu in gpus:
        used = gpu.total_bytes - gpu.free_bytes
        runs = [run for run, lease in leases.items() if gpu.uuid in lease.gpu_uuids]
        rows.append(
            {
                "gpu": gpu.name,
                "use": gpu.busy,
                "memory": used / gpu.total_bytes if gpu.total_bytes else 0.0,
                "used": f"{byte_size(used)} of {byte_size(gpu.total_bytes)}",
                "runs": ", ".join(runs),
            }
        )
    return pd.DataFrame(rows, columns=["gpu", "use", "memory", "used", "runs"])


def _acting(stage: Stage, config: TrainConfig) -> list[tuple[str, _Meaning]]:
    inactive = stage.inactive_parts(config.model)
    parts: list[tuple[str, _Meaning]] = []
    if "graph_token" not in inactive:
        parts.append(("Graph token", "paths"))
    if "prior" not in inactive:
        parts.append(("Feature curves" if config.model.prior.kind == "curves" else "Revisit prior", "revisits"))
    if "correction" not in inactive:
        parts.append(("Correction", "revisits"))
    if stage.warm_weight > 0 and config.model.use_history:
        parts.append(("Holdout loss", "model"))
    return parts
