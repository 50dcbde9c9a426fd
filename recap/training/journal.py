"""The files metrics.jsonl and env.json of a training."""

import json
import os
import platform
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Final

import torch

from recap.checkpoint import library_versions
from recap.storage.atomic import replace_json, replace_text
from recap.training.metrics_file import METRICS, EpochLine, whole_lines

ENVIRONMENT: Final = "env.json"


class Journal:
    """Appends one line for each epoch to metrics.jsonl. ``resume_after``: last epoch to keep."""

    def __init__(self, folder: Path, resume_after: int) -> None:
        self.path = folder / METRICS
        earlier: list[EpochLine] = [json.loads(line) for line in whole_lines(self.path)]
        kept = [line for line in earlier if line["epoch"] <= resume_after]
        replace_text(self.path, "".join(json.dumps(line) + "\n" for line in kept))
        self.last_epoch: int = kept[-1]["epoch"] if kept else 0

    def write(self, line: EpochLine) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())


def write_environment(folder: Path, device: torch.device) -> None:
    """Write versions and hardware to env.json."""
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
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)  # noqa: S603 # no user text
    return answer.stdout.strip() or None
