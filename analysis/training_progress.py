"""A training as tables and words: its curriculum's stages, its curves, its place in the queue."""

from dataclasses import dataclass
from typing import Any, Final, Literal

import pandas as pd

from analysis.formatting import byte_size, share, stopwatch
from recap.model.config import Stage
from recap.runs.execution.gpus import Gpu
from recap.runs.store.state import Lease
from recap.runs.store.types import RunDescription, RunReference, RunRow
from recap.training.metrics_file import EpochLine
from recap.training_config import AnyTraining, TrainConfig

Meaning = Literal["core", "paths", "revisits", "model"]
Curve = Literal["hr20", "mrr", "loss", "learning_rate"]

CURVES: Final[dict[Curve, str]] = {
    "hr20": "Validation HR@20",
    "mrr": "Validation MRR",
    "loss": "Loss",
    "learning_rate": "Learning rates",
}
GROUPS: Final = {"all": "All", "head": "Head", "tail": "Tail"}


@dataclass(frozen=True)
class StageSpan:
    """Epochs ``first`` to ``last`` in which nothing new is switched on, named by what was switched on at ``first``."""

    name: str
    meaning: Meaning
    first: int
    last: int


def stage_spans(config: AnyTraining) -> list[StageSpan]:
    """The curriculum, stage by stage; parts that the model lacks have no stage, a published model has one."""
    if not isinstance(config, TrainConfig):
        return [StageSpan(config.title, "core", 1, config.epochs)]
    spans: list[StageSpan] = []
    before: list[tuple[str, Meaning]] = []
    for epoch in range(1, config.epochs + 1):
        acting = _acting(config.curriculum.at(epoch), config)
        new = [part for part in acting if part not in before]
        if not spans or new:
            names = [name for name, _ in new] or ["Core"]
            meaning: Meaning = new[-1][1] if new else "core"
            prefix = "+ " if spans and new else ""
            spans.append(StageSpan(prefix + " + ".join(names), meaning, epoch, epoch))
        else:
            spans[-1] = StageSpan(spans[-1].name, spans[-1].meaning, spans[-1].first, epoch)
        before = acting
    return spans


def run_headline(described: RunDescription, spans: list[StageSpan]) -> str:
    """A run's finding in one or two sentences."""
    name, state = described["id"], described["state"]
    epoch, epochs = described["epoch"], described["epochs"]
    if state == "queued":
        return f"Run {name} waits for its turn."
    if state in ("running", "stopping"):
        if epoch == 0:
            return f"Run {name} is starting." if state == "running" else f"Run {name} is stopping."
        span = next((span for span in spans if span.first <= epoch <= span.last), None)
        what = "" if span is None or span.meaning == "core" else f" {span.name.removeprefix('+ ')} is on."
        return f"Run {name} is at epoch {epoch} of {epochs}.{what}"
    if state == "finished":
        return f"Run {name} has finished its {epochs} epochs."
    words = {"stopped": "was stopped", "failed": "failed", "lost": "was lost"}
    return f"Run {name} {words[state]} after {epoch} of {epochs or '?'} epochs."


def curve_table(metrics: list[EpochLine], curve: Curve) -> pd.DataFrame:
    """One row for each epoch and series: ``epoch, series, value``; epochs without validation are absent."""
    rows: list[dict[str, Any]] = []
    for line in metrics:
        values: dict[str, float | None]
        if curve in ("loss", "learning_rate"):
            values = dict(line[curve])
            if curve == "loss" and "stage" in line and not line["stage"]["warm_weight"]:
                values.pop("warm", None)
        else:
            groups = line.get("val") or {}
            values = {GROUPS[group]: groups[group][curve] for group in GROUPS if group in groups}
        rows += [{"epoch": line["epoch"], "series": name, "value": value} for name, value in values.items()]
    return pd.DataFrame(rows, columns=["epoch", "series", "value"]).dropna(subset=["value"])


def reference_value(reference: RunReference, curve: Curve) -> float | None:
    """What counting alone reaches over all validation cases; None where a curve has no such level."""
    if curve not in ("hr20", "mrr") or not reference:
        return None
    value = (reference.get("all") or {}).get(curve)
    return None if value is None else float(value)


def queue_table(rows: list[RunRow]) -> pd.DataFrame:
    """The list of runs, the youngest first: ``run, what, state`` (a list of one, shown as a chip), ``progress`` (share
    of epochs), ``hr20, time, note``."""
    table = pd.DataFrame(
        [
            {
                "run": row["id"],
                "what": row["title"],
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
    """One row for each GPU: ``gpu, use`` (share of the last second), ``memory`` (share in use), ``used, runs``.

    Args:
        leases: what each active run, by number, was given.
    """
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


def _acting(stage: Stage, config: TrainConfig) -> list[tuple[str, Meaning]]:
    inactive = stage.inactive_parts(config.model)
    parts: list[tuple[str, Meaning]] = []
    if "graph_token" not in inactive:
        parts.append(("Graph token", "paths"))
    if "prior" not in inactive:
        parts.append(("Revisit prior", "revisits"))
    if "correction" not in inactive:
        parts.append(("Correction", "revisits"))
    if stage.warm_weight > 0 and config.model.use_history:
        parts.append(("Warm holdout", "model"))
    return parts
