"""metrics.jsonl: one line for each finished epoch, readable without torch."""

from pathlib import Path
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict, cast

from recap.storage.json_text import parse_json

if TYPE_CHECKING:
    from recap.evaluation.metrics import Metrics, MetricsByGroup
    from recap.model.config import StageValues

METRICS: Final = "metrics.jsonl"


class EpochLine(TypedDict):
    """One finished epoch; ``loss`` holds main (and RECAP's warm), ``val`` is there where the epoch was validated.

    ``stage`` is RECAP's; its published models have no curriculum.
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
    """The finished epochs of a metrics.jsonl; the first damaged line ends the list, and there need be no file."""
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
    """The lines of a metrics.jsonl as they are; a last one cut off by a crash is left out."""
    return path.read_bytes().split(b"\n")[:-1] if path.is_file() else []
