"""Files that a user opens in the app: a private copy, or a path on this computer."""

import json
import re
import secrets
import shutil
import time
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import IO, Any, Final

from recap.data.dataset import Dataset
from recap.data.parsing.options import ReadOptions
from recap.errors import ConfigError, DataError, RecapError
from recap.storage.artifacts import DATASET_MANIFEST
from recap.storage.atomic import replace_json
from recap.storage.json_text import read_json
from recap.storage.user_folder import user_subfolder

LARGEST_MB: Final = 200
"""Limit for an uploaded file; a path on this computer has none."""
_KEPT_SECONDS: Final = 3600
"""After the last answer; then the copy of a file whose page was closed goes."""
_CHOICES: Final = "choices.json"


@dataclass(frozen=True)
class Upload:
    """A file to be prepared; its folder holds the copy and the answers, so a reload loses nothing.

    Attributes:
        folder: the upload's own folder, below the user's.
        path: the copy, or the file elsewhere on this computer.
        options: answers so far.
        least: check-ins that a place and a user need to be kept.
    """

    folder: Path
    path: Path
    options: ReadOptions = field(default_factory=ReadOptions)
    least: int = 10

    @property
    def token(self) -> str:
        """The upload's name in a link."""
        return self.folder.name

    def answer(self, options: ReadOptions, least: int) -> "Upload":
        """Keep an answer."""
        said = {"path": str(self.path), "options": json.loads(options.model_dump_json()), "least": least}
        replace_json(self.folder / _CHOICES, said)
        return replace(self, options=options, least=least)

    def discard(self) -> None:
        """Remove the copy and the answers; a file elsewhere on this computer stays."""
        shutil.rmtree(self.folder, ignore_errors=True)


def keep_copy(name: str, file: IO[bytes]) -> Upload:
    """Copy an uploaded file into a new folder.

    Args:
        name: what the user's file is called; only its letters, digits, dots, - and _ are used.

    Raises:
        DataError: it is empty.
        OSError: the disk is full; nothing is left then.
    """
    discard_old()
    folder = _new_folder()
    path = folder / ("table-" + re.sub(r"[^\w.-]+", "_", Path(name).name, flags=re.ASCII)[-60:])
    try:
        with path.open("wb") as copy:
            shutil.copyfileobj(file, copy)
        if not path.stat().st_size:
            raise DataError("the file is empty; drop one with a row for each check-in")
        return Upload(folder, path).answer(ReadOptions(), 10)
    except (OSError, DataError):
        shutil.rmtree(folder, ignore_errors=True)
        raise


def open_path(text: str) -> Upload:
    """Open a file on this computer without copying it.

    Raises:
        DataError: there is none.
    """
    path = Path(text.strip()).expanduser()
    if not path.is_absolute() or not path.exists():
        raise DataError(f"there is no file {text.strip()!r}; give its whole path, such as /home/me/visits.csv")
    return Upload(_new_folder(), path).answer(ReadOptions(), 10)


def discard_old() -> None:
    """Remove copies and answers that nobody has changed for an hour."""
    for folder in user_subfolder("uploads").glob("*"):
        if time.time() - folder.stat().st_mtime > _KEPT_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def find_upload(token: str) -> Upload | None:
    """The upload that a link names; None if it is gone."""
    if re.fullmatch(r"[0-9a-f]{16}", token) is None:
        return None
    folder = user_subfolder("uploads") / token
    try:
        kept: dict[str, Any] = read_json(folder / _CHOICES)
        return Upload(folder, Path(kept["path"]), ReadOptions.parse(kept["options"]), int(kept["least"]))
    except (OSError, ValueError, KeyError, TypeError, ConfigError):
        return None


def own_datasets() -> dict[Path, str]:
    """Complete datasets in the user's folder, and their names."""
    found = {}
    for folder in sorted(user_subfolder("datasets").glob("*")):
        try:
            found[folder] = str(read_json(folder / DATASET_MANIFEST)["name"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def delete_dataset(folder: Path) -> None:
    """Delete one of `own_datasets`.

    Raises:
        ConfigError: it is not one of them.
    """
    if folder not in own_datasets():
        raise ConfigError(f"{folder.name} is not a dataset of yours")
    doomed = folder.with_name(f".{folder.name}-{secrets.token_hex(4)}")
    folder.rename(doomed)  # gone from every list at once
    shutil.rmtree(doomed, ignore_errors=True)


def add_checkpoint(text: str) -> Path:
    """Copy a checkpoint folder of this computer to the user's checkpoints, verified before and after.

    Raises:
        RecapError: there is none, it is damaged, or it was trained on a dataset that is not here.
    """
    from recap.checkpoint import Checkpoint  # torch is loaded only for whoever adds a checkpoint

    folder = Path(text.strip()).expanduser()
    if not folder.is_absolute() or not folder.is_dir():
        raise DataError(f"there is no folder {text.strip()!r}; give the whole path of a checkpoint")
    checkpoint = Checkpoint.load(folder)
    home = user_subfolder("checkpoints", make=True)
    target = home / f"{re.sub(r'[^a-z0-9]+', '-', folder.name.lower()).strip('-')[:40]}-{checkpoint.hash[:6]}"
    if target.exists():
        raise ConfigError(f"{folder.name} is here already")
    half = home / f".{target.name}"
    try:
        shutil.copytree(folder, half)
        Checkpoint.load(half)
        half.rename(target)
    except (OSError, RecapError):
        shutil.rmtree(half, ignore_errors=True)
        raise
    return target


def save_dataset(dataset: Dataset, card: str) -> Path:
    """Write a dataset into a free folder of the user, completely or not at all."""
    base = re.sub(r"[^a-z0-9]+", "-", dataset.manifest.name.lower()).strip("-")[:40] or "data"
    home = user_subfolder("datasets", make=True)
    numbered = (home / (base if number == 1 else f"{base}-{number}") for number in count(1))
    folder = next(folder for folder in numbered if not folder.exists())
    dataset.save(folder, card=card)
    return folder


def _new_folder() -> Path:
    folder = user_subfolder("uploads", make=True) / secrets.token_hex(8)
    folder.mkdir(mode=0o700)
    return folder
