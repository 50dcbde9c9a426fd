"""metrics.jsonl: one line for each finished epoch. Does not import torch."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NotRequired, TypedDict, cast

from recap.storage.json_text import parse_json

if TYPE_CHECKING:
    from recap.evaluation.metrics import Metrics, MetricsByGroup

METRICS: Final = "metrics.jsonl"


class EpochLine(TypedDict):
    """One finished epoch; ``loss`` holds main (and RECAP's warm), ``val`` exists if the epoch was validated.

    Only RECAP has a ``stage``. ``val_drawn_from`` is the number of validation cases if ``val`` is over a sample.
    ``selection`` are the metrics over the cases that choose the kept epoch, if these are not all of ``val``.
    """

    epoch: int
    loss: dict[str, float]
    learning_rate: dict[str, float]
    stage: NotRequired[dict[str, Any]]
    steps_per_second: float
    seconds: float
    val: NotRequired["MetricsByGroup"]
    val_drawn_from: NotRequired[int]
    selection: NotRequired["Metrics"]
    validation_seconds: NotRequired[float]


def read_metrics(path: Path) -> list[EpochLine]:
    """The finished epochs of a metrics.jsonl, up to the first damaged line; the file may be absent."""
    lines: list[EpochLine] = []
    for text in whole_lines(path):
        try:
            line = parse_json(text.decode())
        except ValueError:
            return lines
        if not isinstance(line, dict):
            return lines
        lines.append(cast(EpochLine, line))
    return lines


def whole_lines(path: Path) -> list[bytes]:
    """The complete lines of a metrics.jsonl."""
    return path.read_bytes().split(b"\n")[:-1] if path.is_file() else []
