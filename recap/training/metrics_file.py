"""metrics.jsonl: one line for each finished epoch. Does not import torch."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NotRequired, TypedDict, cast

from recap.errors import CheckpointError
from recap.storage.atomic import replace_text
from recap.storage.json_text import parse_json

if TYPE_CHECKING:
    from recap.evaluation.metrics import Metrics, MetricsByGroup

METRICS_FILE: Final = "metrics.jsonl"


class EpochLine(TypedDict):
    """One finished epoch; ``loss`` holds main (and RECAP's warm), ``val`` exists if the epoch was validated. Only RECAP
    has a ``stage``. ``val_drawn_from`` is the number of validation cases if ``val`` is over a sample.
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


def epoch_seconds(line: EpochLine) -> float:
    """Time of an epoch with its validation."""
    return line.get("seconds", 0.0) + line.get("validation_seconds", 0.0)


class Journal:
    """Appends one line for each epoch to metrics.jsonl. ``resume_after``: last epoch to keep. Raises CheckpointError: a
    line is damaged.
    """

    def __init__(self, folder: Path, resume_after: int) -> None:
        self.path = folder / METRICS_FILE
        earlier, whole = read_metrics(self.path), len(whole_lines(self.path))
        if len(earlier) < whole:
            raise CheckpointError(f"{self.path}: line {len(earlier) + 1} is not a finished epoch; remove it and resume")
        kept = [line for line in earlier if line["epoch"] <= resume_after]
        replace_text(self.path, "".join(json.dumps(line) + "\n" for line in kept))
        self.last_epoch: int = kept[-1]["epoch"] if kept else 0

    def write(self, line: Mapping[str, Any]) -> None:
        """Append an `EpochLine`, unless the file has it."""
        if line["epoch"] <= self.last_epoch:
            return
        self.last_epoch = line["epoch"]
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())


def read_metrics(path: Path) -> list[EpochLine]:
    """The finished epochs of a metrics.jsonl, up to the first damaged line; the file may be absent."""
    lines: list[EpochLine] = []
    for text in whole_lines(path):
        try:
            line = parse_json(text.decode())
        except ValueError:
            return lines
        if not _is_epoch(line):
            return lines
        lines.append(cast(EpochLine, line))
    return lines


def _is_epoch(line: Any) -> bool:
    """Whether a line has the numbers that an epoch's readers take from it."""
    try:
        val, stage = line.get("val") or {"all": {}}, line.get("stage") or {"warm_weight": 0.0}
        tables = [*(line.get("val") or {}).values(), *filter(None, [line.get("selection")])]
        values = [table[name] for table in tables for name in ("hr20", "mrr")]
        numbers = [*line["loss"].values(), epoch_seconds(line), stage["warm_weight"], *values]
        is_known = all(number is None or isinstance(number, int | float) for number in numbers)
        return isinstance(line["epoch"], int) and isinstance(val["all"], dict) and is_known
    except (AttributeError, KeyError, TypeError):
        return False


def whole_lines(path: Path) -> list[bytes]:
    """The complete lines of a metrics.jsonl."""
    return path.read_bytes().split(b"\n")[:-1] if path.is_file() else []
