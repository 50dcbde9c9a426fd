"""The JSON files of a run's folder: what is asked for, the state, the step, the counters' accuracy."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, TypedDict

from pydantic import Field

from recap.config import Config
from recap.errors import ConfigError, RecapError
from recap.model.config import AnyValue
from recap.presets import preset_title, training_preset
from recap.runs.store.process import ProcessIdentity
from recap.storage.artifacts import check_format
from recap.storage.json_text import parse_json
from recap.training_config import AnyTraining

if TYPE_CHECKING:
    from recap.evaluation.metrics import Metrics, MetricsByGroup

FORMAT_VERSION: Final = 1
MAX_NOTES: Final = 2000

DeviceRequest = Literal["auto", "cpu", "cuda"]
StateName = Literal["queued", "running", "stopping", "stopped", "finished", "failed", "lost"]
ACTIVE: Final[frozenset[StateName]] = frozenset({"queued", "running", "stopping"})
"""States that somebody has to look after."""
RESUMABLE: Final[frozenset[StateName]] = frozenset({"stopped", "failed", "lost"})


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object. Raises RecapError: missing, cut off, or not an object."""
    try:
        values = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecapError(f"{path} cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise RecapError(f"{path} is damaged: expected a JSON object ({error})") from error
    if not isinstance(values, dict):
        raise RecapError(f"{path} is damaged: expected a JSON object, got {type(values).__name__}")
    return values


class VersionedConfig(Config):
    """A file that names its format."""

    format_version: int = FORMAT_VERSION

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read and validate a file. Raises FormatVersionError: written by a newer version; RecapError: missing or
        damaged, or a field is missing, unknown or out of range.
        """
        values = read_json(path)
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
    threads: int | None = Field(None, ge=1, description="CPU threads of a process; none takes the machine's setting.")
    backend: Literal["local", "slurm"] = Field("local", description="Who runs it: this machine's runner, or Slurm.")
    notes: str = Field("", max_length=MAX_NOTES, description="Anything; shown with the run.")

    retired: ClassVar = {"snapshots": AnyValue(), "sweep": AnyValue(), "parent": AnyValue()}

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


class RunReference(TypedDict, total=False):
    """`reference.json`: metrics of counting on the validation cases; empty before, and without cases. ``all`` and so on
    belong to ``model``; ``visit_count`` has the same for counting visits alone.
    """

    model: str
    split: str
    all: "Metrics"
    head: "Metrics"
    tail: "Metrics"
    unseen: "Metrics"
    visit_count: "MetricsByGroup"
