"""What a training leaves to read: metrics.jsonl, TensorBoard events, env.json; cut back exactly on resume."""

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import torch
from torch.utils.tensorboard import SummaryWriter

from recap.checkpoint import library_versions
from recap.storage.atomic import replace_json, replace_text
from recap.training.metrics_file import METRICS, EpochLine, whole_lines

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
        earlier: list[EpochLine] = [json.loads(line) for line in whole_lines(self.path)]
        kept = [line for line in earlier if line["epoch"] <= resume_after]
        replace_text(self.path, "".join(json.dumps(line) + "\n" for line in kept))
        self.last_epoch: int = kept[-1]["epoch"] if kept else 0
        self._events = SummaryWriter(str(folder / _EVENTS), purge_step=resume_after + 1)

    def write(self, line: EpochLine) -> None:
        """Record one epoch; nested numbers become TensorBoard scalars named by their path."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        for name, value in _scalars(line):
            self._events.add_scalar(name, value, line["epoch"])
        self._events.flush()

    def close(self) -> None:
        self._events.close()


def write_environment(folder: Path, device: torch.device) -> None:
    """Record versions and hardware next to the results."""
    environment = {
        **library_versions(),
        "platform": platform.platform(),
        "device": str(device),
        "gpu": torch.cuda.get_device_name(device) if device.type == "cuda" else None,
        "threads": torch.get_num_threads(),
        "recap": version("recap-mobility"),
        "commit": _commit(),
    }
    replace_json(folder / ENVIRONMENT, environment)


def _commit() -> str | None:
    """The commit this package runs from, None outside a git checkout."""
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)  # noqa: S603 # no user text
    return answer.stdout.strip() or None


def _scalars(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            found += _scalars(value, f"{prefix}{name}/")
        elif isinstance(value, int | float) and name != "epoch":
            found.append((prefix + name, float(value)))
    return found
