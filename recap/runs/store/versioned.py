"""Versioned JSON files of a run's folder."""

from pathlib import Path
from typing import Any, Self

from recap.config import Config
from recap.errors import ConfigError, FormatVersionError, RecapError
from recap.storage.json_text import parse_json


class VersionedConfig(Config):
    """A subclass gives ``format_version`` its newest value as default."""

    format_version: int

    @classmethod
    def from_json(cls, values: dict[str, Any], where: str) -> Self:
        """Validate a file's content. Raises FormatVersionError: written by a newer version; ConfigError: a field is
        missing, unknown or out of range.
        """
        version, newest = values.get("format_version"), cls.model_fields["format_version"].default
        if isinstance(version, int) and version > newest:
            raise FormatVersionError(
                f"{where} was written in format {version}, this version reads up to {newest}: update recap"
            )
        try:
            return cls.parse(values)
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from error


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
