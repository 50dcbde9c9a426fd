"""The JSON files of runs: what is asked for, the state, the counters' accuracy, the settings of all."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Final, Literal, Self

from pydantic import Field

from recap.config import Config
from recap.errors import ConfigError
from recap.model.config import AnyValue
from recap.presets import preset_title, training_preset
from recap.runs.store.process import ProcessIdentity
from recap.storage.artifacts import check_format
from recap.storage.json_text import read_object
from recap.training_config import AnyTraining

FORMAT_VERSION: Final = 1
MAX_NOTES: Final = 2000

DeviceRequest = Literal["auto", "cpu", "cuda"]
StateName = Literal["queued", "running", "stopping", "stopped", "finished", "failed", "lost"]
ACTIVE: Final[frozenset[StateName]] = frozenset({"queued", "running", "stopping"})
"""States that somebody has to look after."""
RESUMABLE: Final[frozenset[StateName]] = frozenset({"stopped", "failed", "lost"})


class VersionedConfig(Config):
    """A file that names its format."""

    format_version: int = FORMAT_VERSION

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read and validate a file. Raises FormatVersionError: written by a newer version; RecapError: missing or
        damaged, or a field is missing, unknown or out of range.
        """
        values = read_object(path)
        if isinstance(version := values.get("format_version"), int):
            check_format(path, version, FORMAT_VERSION)
        try:
            return cls.parse(values)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from error


class RunSpec(VersionedConfig):
    """One training, as `spec.json` holds it."""

    dataset: str = Field(description="The dataset folder, absolute.")
    dataset_hash: str = Field(pattern=r"^[0-9a-f]{64}$", description="Content the run must find there.")
    dataset_name: str = Field(description="Name shown for the dataset.")
    cases: int = Field(ge=1, description="Training cases of the dataset; estimates scale with them.")
    pois: int = Field(ge=1, description="POIs of the dataset; estimates scale with them.")
    preset: str = Field(description="Configuration the run starts from.")
    epochs: int | None = Field(None, ge=1, description="Number of epochs; the curriculum's stages keep their share.")
    seed: int = Field(ge=0, description="Seed of weights, dropout and batch order.")
    overrides: tuple[str, ...] = Field((), description="field=value assignments on top of the preset.")
    device: DeviceRequest = Field("auto", description="auto takes a GPU where there is one; cuda waits for one.")
    processes: int = Field(1, ge=1, le=64, description="Processes that share each batch, one GPU each.")
    backend: Literal["local", "slurm"] = Field("local", description="Who runs it: this machine's runner, or Slurm.")
    notes: str = Field("", max_length=MAX_NOTES, description="Anything; shown with the run.")

    retired: ClassVar = {"snapshots": AnyValue(), "sweep": AnyValue(), "parent": AnyValue(), "threads": AnyValue()}

    def train_config(self) -> AnyTraining:
        """The training's configuration. Raises ConfigError: an unknown preset or field, or a refused value."""
        return training_preset(self.preset, epochs=self.epochs, seed=self.seed, changes=self.overrides)

    @property
    def title(self) -> str:
        return ", ".join([preset_title(self.preset), *self.overrides, f"seed {self.seed}"])


class Lease(Config):
    """The device a run was given."""

    kind: Literal["cpu", "cuda"]
    name: str = Field(description="As shown: a GPU's name, or the processor.")
    gpu_uuids: tuple[str, ...] = ()
    bytes_each: int = Field(0, description="Memory set aside on each GPU.")

    @property
    def shown(self) -> str:
        return self.name if self.kind == "cpu" else f"{self.name} ({', '.join(self.gpu_uuids)})"


class SlurmJob(Config):
    """A job of a Slurm cluster; ids are reused, so the submit time belongs to its identity."""

    job_id: str = Field(pattern=r"^[0-9]+$")
    submitted: str = Field(description="As Slurm prints it.")


class RunState(VersionedConfig):
    """Content of `state.json`. Times are UTC, ISO 8601."""

    state: StateName
    created: str
    attempt: int = Field(0, ge=0, description="How often the run was started; a process of an older start backs off.")
    started: str | None = None
    ended: str | None = None
    process: ProcessIdentity | None = None
    host: str | None = None
    device: Lease | None = None
    threads: int | None = Field(None, description="CPU threads of the first start; a resumed run uses as many.")
    error: str | None = None
    slurm: SlurmJob | None = None


def now() -> str:
    """The current time, as states record it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class SlurmSettings(Config):
    """Slurm options of each job."""

    partition: str | None = Field(None, description="--partition.")
    account: str | None = Field(None, description="--account.")
    time_limit: str | None = Field(None, description="--time, such as 12:00:00.")
    cpus: int = Field(2, ge=1, description="--cpus-per-task.")
    memory: str | None = Field(None, description="--mem, such as 8G.")
    gpu_option: str = Field("--gpus={count}", pattern=r"^--[a-z-]+=[^\s]*\{count\}$", description="How GPUs are asked.")
    extra: tuple[str, ...] = Field((), description="Further sbatch options, one argument each.")
    poll_seconds: float = Field(10.0, gt=0, description="Least time between two questions about a job.")


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
