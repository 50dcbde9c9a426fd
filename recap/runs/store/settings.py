"""Settings of a machine's queue: `settings.json` in the runs folder."""

import os
from pathlib import Path
from typing import Final

from pydantic import Field

from recap.config import Config
from recap.runs.store.state import read_json

SETTINGS: Final = "settings.json"


class SlurmSettings(Config):
    """Slurm options of each job."""

    partition: str | None = Field(None, description="--partition.")
    account: str | None = Field(None, description="--account.")
    time_limit: str | None = Field(None, description="--time, such as 12:00:00.")
    cpus: int = Field(2, ge=1, description="--cpus-per-task.")
    memory: str | None = Field(None, description="--mem, such as 8G.")
    gpu_option: str = Field("--gpus={count}", pattern=r"^--[a-z-]+=[^\s]*\{count\}$", description="How GPUs are asked.")
    extra: tuple[str, ...] = Field((), description="Further sbatch options, one argument each.")
    poll_seconds: float = Field(10.0, gt=0, description="Least time between two squeue calls.")


class RunSettings(Config):
    """The runner's settings."""

    cpu_runs: int = Field(1, ge=1, description="Trainings on the CPU at once.")
    threads: int = Field(
        default_factory=lambda: max(1, (os.cpu_count() or 2) - 1),
        ge=1,
        description="CPU threads of a training; one core is left to the app, because threads that wait for a core "
        "slow a training down manyfold.",
    )
    nice: int = Field(10, ge=0, le=19, description="How far a training's priority is below the app's; 0: equal.")
    gpu_margin_bytes: int = Field(512 << 20, ge=0, description="GPU memory kept free with every lease.")
    default_gpu_bytes: int = Field(3 << 30, ge=0, description="Lease of a run whose memory nobody has measured yet.")
    poll_seconds: float = Field(0.5, gt=0, description="Time between two looks at the queue.")
    idle_seconds: float = Field(20.0, ge=0, description="A runner without work ends after this.")
    stop_seconds: float = Field(30.0, ge=0, description="Time a stopping run gets before its processes are signalled.")
    kill_seconds: float = Field(15.0, ge=0, description="Time after that before they are killed.")
    slurm: SlurmSettings = Field(default_factory=lambda: SlurmSettings(), description="The cluster.")


def read_settings(runs_folder: Path) -> RunSettings:
    """A runs folder's settings; the defaults without a file. Raises RecapError if the file is damaged or holds an
    unknown field.
    """
    path = runs_folder / SETTINGS
    return RunSettings.parse(read_json(path)) if path.is_file() else RunSettings()
