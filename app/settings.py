"""What the app was started with; `recap app` hands its options over as environment variables."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from recap.storage.installed import bundles_folder

DATA_VARIABLE: Final = "RECAP_APP_DATA"
CHECKPOINT_VARIABLE: Final = "RECAP_APP_CHECKPOINT"
READ_ONLY_VARIABLE: Final = "RECAP_APP_READ_ONLY"
ONLINE_MAP_VARIABLE: Final = "RECAP_APP_ONLINE_MAP"
BUNDLES_VARIABLE: Final = "RECAP_APP_BUNDLES"


@dataclass(frozen=True)
class AppSettings:
    """Start options.

    Attributes:
        data: a dataset folder given on the command line.
        checkpoint: a checkpoint folder given on the command line.
        read_only: whether the app must leave the disk as it is.
        online_map: whether browsers fetch street tiles, which tells their provider which area is looked at.
        bundles: the folder whose subfolders are bundles (dataset, checkpoint, basemap).
    """

    data: Path | None = None
    checkpoint: Path | None = None
    read_only: bool = False
    online_map: bool = False
    bundles: Path = field(default_factory=bundles_folder)

    @classmethod
    def from_environment(cls) -> "AppSettings":
        """Read the variables; an empty one counts as missing."""
        folders = {name: os.environ.get(name, "").strip() for name in (DATA_VARIABLE, CHECKPOINT_VARIABLE)}
        return cls(
            data=Path(folders[DATA_VARIABLE]) if folders[DATA_VARIABLE] else None,
            checkpoint=Path(folders[CHECKPOINT_VARIABLE]) if folders[CHECKPOINT_VARIABLE] else None,
            read_only=os.environ.get(READ_ONLY_VARIABLE, "") == "1",
            online_map=os.environ.get(ONLINE_MAP_VARIABLE, "") == "1",
            bundles=Path(os.environ.get(BUNDLES_VARIABLE, "").strip() or bundles_folder()),
        )

    def to_environment(self) -> dict[str, str]:
        """The variables that `from_environment` reads back."""
        return {
            DATA_VARIABLE: str(self.data.absolute()) if self.data else "",
            CHECKPOINT_VARIABLE: str(self.checkpoint.absolute()) if self.checkpoint else "",
            READ_ONLY_VARIABLE: "1" if self.read_only else "",
            ONLINE_MAP_VARIABLE: "1" if self.online_map else "",
            BUNDLES_VARIABLE: str(self.bundles.absolute()),
        }
