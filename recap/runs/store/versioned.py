"""A configuration that lies in a run's folder as JSON, with the version of its format."""

from typing import Any, Self

from recap.config import Config
from recap.errors import ConfigError, FormatVersionError


class VersionedConfig(Config):
    """The base of what a run's folder holds; a subclass gives ``format_version`` its newest value as default."""

    format_version: int

    @classmethod
    def from_json(cls, values: dict[str, Any], where: str) -> Self:
        """Read what a file holds.

        Args:
            where: the file, for messages.

        Raises:
            FormatVersionError: written by a newer version.
            ConfigError: a field is missing, unknown or out of range.
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
