"""Start options of the app; `recap app` passes them as environment variables such as ``RECAP_APP_READ_ONLY``."""

import os
from dataclasses import field
from pathlib import Path
from typing import Any

from pydantic.dataclasses import dataclass

from app.door import OWN_NAMES
from recap.storage.user_folder import bundles_folder


@dataclass(frozen=True)
class AppSettings:
    """Start options.

    Attributes:
        data, checkpoint: folders given on the command line.
        pretrained: `pretrained` was named instead of a checkpoint's folder.
        read_only: the app writes nothing to disk.
        online_map: browsers fetch street tiles, so their provider sees which area is shown.
        address: on which the app listens.
        allow_upload: accept files even if others can reach the app.
        bundles: the folder whose subfolders are bundles (dataset, checkpoint, basemap).
    """

    data: Path | None = None
    checkpoint: Path | None = None
    pretrained: bool = False
    read_only: bool = False
    online_map: bool = False
    address: str = "127.0.0.1"
    allow_upload: bool = False
    bundles: Path = field(default_factory=bundles_folder)

    @property
    def is_local(self) -> bool:
        return self.address in OWN_NAMES

    @property
    def takes_files(self) -> bool:
        return self.is_local or self.allow_upload

    @classmethod
    def from_environment(cls) -> "AppSettings":
        """Read the variables; an empty one counts as missing."""
        given = {name: os.environ.get(variable(name), "").strip() for name in cls.__dataclass_fields__}
        named: dict[str, Any] = {name: text for name, text in given.items() if text}
        return cls(**named)

    def to_environment(self) -> dict[str, str]:
        """The variables that `from_environment` reads."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        texts = {name: str(value.absolute()) for name, value in values.items() if isinstance(value, Path)}
        return {variable(name): texts.get(name, str(value or "")) for name, value in values.items()}


def variable(name: str) -> str:
    """The environment variable of an option."""
    return f"RECAP_APP_{name.upper()}"
