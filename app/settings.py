"""Start options of the app; `recap app` passes them as environment variables."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.door import OWN_NAMES
from recap.baselines import PRETRAINED
from recap.storage.user_folder import bundles_folder

DATA_VARIABLE: Final = "RECAP_APP_DATA"
CHECKPOINT_VARIABLE: Final = "RECAP_APP_CHECKPOINT"
READ_ONLY_VARIABLE: Final = "RECAP_APP_READ_ONLY"
ONLINE_MAP_VARIABLE: Final = "RECAP_APP_ONLINE_MAP"
ADDRESS_VARIABLE: Final = "RECAP_APP_ADDRESS"
UPLOAD_VARIABLE: Final = "RECAP_APP_ALLOW_UPLOAD"
BUNDLES_VARIABLE: Final = "RECAP_APP_BUNDLES"


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
        folders = {name: os.environ.get(name, "").strip() for name in (DATA_VARIABLE, CHECKPOINT_VARIABLE)}
        named = folders[CHECKPOINT_VARIABLE]
        return cls(
            data=Path(folders[DATA_VARIABLE]) if folders[DATA_VARIABLE] else None,
            checkpoint=Path(named) if named and named != PRETRAINED else None,
            pretrained=named == PRETRAINED,
            address=os.environ.get(ADDRESS_VARIABLE, "").strip() or "127.0.0.1",
            allow_upload=os.environ.get(UPLOAD_VARIABLE, "") == "1",
            read_only=os.environ.get(READ_ONLY_VARIABLE, "") == "1",
            online_map=os.environ.get(ONLINE_MAP_VARIABLE, "") == "1",
            bundles=Path(os.environ.get(BUNDLES_VARIABLE, "").strip() or bundles_folder()),
        )

    def to_environment(self) -> dict[str, str]:
        """The variables that `from_environment` reads."""
        return {
            DATA_VARIABLE: str(self.data.absolute()) if self.data else "",
            CHECKPOINT_VARIABLE: str(self.checkpoint.absolute()) if self.checkpoint else PRETRAINED * self.pretrained,
            READ_ONLY_VARIABLE: "1" if self.read_only else "",
            ONLINE_MAP_VARIABLE: "1" if self.online_map else "",
            ADDRESS_VARIABLE: self.address,
            UPLOAD_VARIABLE: "1" if self.allow_upload else "",
            BUNDLES_VARIABLE: str(self.bundles.absolute()),
        }
