"""State of a run: `state.json`, replaced at every change; and what all JSON files of a run's folder share."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import Field

from recap.config import Config
from recap.errors import ConfigError, RecapError
from recap.runs.store.process import ProcessIdentity
from recap.storage.artifacts import check_format
from recap.storage.json_text import parse_json

FORMAT_VERSION: Final = 1

StateName = Literal["queued", "running", "stopping", "stopped", "finished", "failed", "lost"]
ACTIVE: Final[frozenset[StateName]] = frozenset({"queued", "running", "stopping"})
"""States that somebody has to look after."""
RESUMABLE: Final[frozenset[StateName]] = frozenset({"stopped", "failed", "lost"})


class VersionedConfig(Config):
    """A subclass gives ``format_version`` its newest value as default."""

    format_version: int

    @classmethod
    def from_json(cls, values: dict[str, Any], where: str) -> Self:
        """Validate a file's content. Raises FormatVersionError: written by a newer version; ConfigError: a field is
        missing, unknown or out of range.
        """
        version, newest = values.get("format_version"), cls.model_fields["format_version"].default
        if isinstance(version, int):
            check_format(where, version, newest)
        try:
            return cls.parse(values)
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from error


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

    format_version: int = FORMAT_VERSION
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
