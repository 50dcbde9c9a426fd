"""How long a training that was not run would take, from those that were."""

import json
from pathlib import Path
from typing import Any

from recap.checkpoint import TRAINING_FOLDER
from recap.training.metrics_file import METRICS, read_metrics
from recap.training.run import CONFIG
from recap.training_config import AnyTraining


def estimated_time(trainings: Path, config: AnyTraining) -> str:
    """In words: epochs times the seconds of the quickest epoch over trainings of this preset and precision.

    The quickest, since slower ones shared the machine; what a curriculum adds later makes it an estimate from below.

    Args:
        trainings: folder of trainings, finished or begun, on the same dataset.
    """
    kind = _kind(config.model_dump(mode="json"))
    epochs = [seconds for folder in sorted(trainings.glob("*")) for seconds in _epoch_seconds(folder, kind)]
    if not epochs:
        return "its time is not known"
    minutes = config.epochs * min(epochs) / 60
    return f"about {minutes / 60:.1f} h" if minutes >= 90 else f"about {max(1, round(minutes))} min"


def _epoch_seconds(folder: Path, kind: tuple[Any, ...]) -> list[float]:
    working = folder / TRAINING_FOLDER
    try:
        of = _kind(json.loads((working / CONFIG).read_text(encoding="utf-8"))["train"])
    except (OSError, ValueError, KeyError, TypeError):
        return []  # no training: nothing to learn from
    if of != kind:
        return []
    return [float(line["seconds"]) for line in read_metrics(working / METRICS)]


def _kind(values: dict[str, Any]) -> tuple[Any, ...]:
    return values.get("preset"), values.get("rival"), values.get("precision"), values.get("latest_share")
