"""What a training leaves to read: metrics.jsonl, TensorBoard events, env.json; cut back exactly on resume."""

import json
import os
import platform
from pathlib import Path
from typing import Any, Final

import torch
from torch.utils.tensorboard import SummaryWriter

from recap.checkpoint import library_versions

METRICS: Final = "metrics.jsonl"
ENVIRONMENT: Final = "env.json"
_EVENTS: Final = "tensorboard"


class Journal:
    """Appends one line for each epoch to metrics.jsonl and the same numbers to TensorBoard.

    Args:
        folder: the training folder.
        resume_after: last epoch to keep; later lines (of an epoch that was cut) are dropped.
    """

    def __init__(self, folder: Path, resume_after: int) -> None:
        self.path = folder / METRICS
        kept = [line for line in read_metrics(self.path) if line["epoch"] <= resume_after]
        temporary = self.path.with_name(f".{METRICS}.part")
        temporary.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
        temporary.replace(self.path)
        self._events = SummaryWriter(str(folder / _EVENTS), purge_step=resume_after + 1)

    def write(self, line: dict[str, Any]) -> None:
        """Record one epoch; nested numbers become TensorBoard scalars named by their path."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        for name, value in _scalars(line):
            self._events.add_scalar(name, value, line["epoch"])
        self._events.flush()

    def close(self) -> None:
        self._events.close()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """All whole lines of a metrics.jsonl; a last line cut off by a crash is left out."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines[:-1]]


def write_environment(folder: Path, device: torch.device) -> None:
    """Record versions and hardware next to the results."""
    environment = {
        **library_versions(),
        "platform": platform.platform(),
        "device": str(device),
        "gpu": torch.cuda.get_device_name(device) if device.type == "cuda" else None,
        "threads": torch.get_num_threads(),
    }
    (folder / ENVIRONMENT).write_text(json.dumps(environment, indent=2) + "\n", encoding="utf-8")


def _scalars(values: dict[str, Any], prefix: str = "") -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            found += _scalars(value, f"{prefix}{name}/")
        elif isinstance(value, int | float) and name != "epoch":
            found.append((prefix + name, float(value)))
    return found
