"""metrics.jsonl: one line for each finished epoch, readable without torch."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict

if TYPE_CHECKING:
    from recap.evaluation.metrics import Metrics, MetricsByGroup
    from recap.model.config import StageValues

METRICS: Final = "metrics.jsonl"


class EpochLine(TypedDict):
    """One finished epoch; ``loss`` holds main (and RECAP's warm), ``val`` is there where the epoch was validated.

    ``stage`` is RECAP's; its rivals have no curriculum.
    ``val_drawn_from`` says how many validation cases there are, where ``val`` is over a draw of them.
    ``selection`` are the metrics over the cases that choose the kept epoch, where those are not all of ``val``.
    """

    epoch: int
    loss: dict[str, float]
    learning_rate: dict[str, float]
    stage: NotRequired["StageValues"]
    steps_per_second: float
    seconds: float
    val: NotRequired["MetricsByGroup"]
    val_drawn_from: NotRequired[int]
    selection: NotRequired["Metrics"]
    validation_seconds: NotRequired[float]


def read_metrics(path: Path) -> list[EpochLine]:
    """All whole lines of a metrics.jsonl; a last line cut off by a crash is left out."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines[:-1]]
