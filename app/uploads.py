"""Files that a user opens in the app: a private copy, or a path on this computer."""

import re
import secrets
import shutil
import time
from itertools import count
from pathlib import Path
from typing import IO, Any, Final

from pydantic import Field

from recap.config import Config
from recap.data.dataset import Dataset
from recap.data.parsing.options import ReadOptions
from recap.errors import ConfigError, DataError
from recap.storage.artifacts import DATASET_MANIFEST
from recap.storage.atomic import replace_json
from recap.storage.json_text import read_json
from recap.storage.user_folder import user_subfolder

LARGEST_MB: Final = 200
"""Limit for an uploaded file; a path on this computer has none."""
_KEPT_SECONDS: Final = 3600
"""After the last answer; then the copy of a file whose page was closed goes."""
_CHOICES: Final = "choices.json"


class Upload(Config):
    """A file to be prepared; its folder holds the copy and the answers, so a reload loses nothing."""

    token: str = Field(pattern="^[0-9a-f]{16}$", description="The upload's name in a link, and its folder's.")
    path: Path = Field(description="The copy, or the file elsewhere on this computer.")
    options: ReadOptions = Field(ReadOptions(), description="Answers so far.")
    least: int = Field(10, description="Check-ins that a place and a user need to be kept.")

    @property
    def folder(self) -> Path:
        """The upload's own folder, below the user's."""
        return user_subfolder("uploads") / self.token

    def answer(self, **answers: Any) -> "Upload":
        """Keep new values of some fields."""
        answered = self.model_copy(update=answers)
        replace_json(self.folder / _CHOICES, answered.model_dump(mode="json"))
        return answered

    def discard(self) -> None:
        """Remove the copy and the answers; a file elsewhere on this computer stays."""
        shutil.rmtree(self.folder, ignore_errors=True)


def keep_copy(name: str, file: IO[bytes]) -> Upload:
    """Copy an uploaded file into a new folder.

    Args:
        name: what the user's file is called; only its letters, digits, dots, - and _ are used.

    Raises:
        DataError: it is empty, or the disk is full; nothing is left then.
    """
    discard_old()
    folder = _new_folder()
    path = folder / ("table-" + re.sub(r"[^\w.-]+", "_", Path(name).name, flags=re.ASCII)[-60:])
    try:
        with path.open("wb") as copy:
            shutil.copyfileobj(file, copy)
        if not path.stat().st_size:
            raise DataError("the file is empty; drop one with a row for each check-in")
        return Upload(token=folder.name, path=path).answer()
    except (OSError, DataError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise DataError(str(error)) from error


def open_path(text: str) -> Upload:
    """Open a file on this computer without copying it.

    Raises:
        DataError: there is none.
    """
    path = Path(text.strip()).expanduser()
    if not path.is_absolute() or not path.exists():
        raise DataError(f"there is no file {text.strip()!r}; give its whole path, such as /home/me/visits.csv")
    return Upload(token=_new_folder().name, path=path).answer()


def find_upload(token: str) -> Upload | None:
    """The upload that a link names; None if it is gone."""
    try:
        return Upload.parse(read_json(Upload(token=token, path=Path()).folder / _CHOICES))
    except (OSError, ValueError, ConfigError):
        return None


def discard_old() -> None:
    """Remove copies and answers that nobody has changed for an hour."""
    for folder in user_subfolder("uploads").glob("*"):
        if time.time() - folder.stat().st_mtime > _KEPT_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def own_datasets() -> dict[Path, str]:
    """Complete datasets in the user's folder, and their names."""
    found = {}
    for folder in sorted(user_subfolder("datasets").glob("*")):
        try:
            found[folder] = str(read_json(folder / DATASET_MANIFEST)["name"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def save_dataset(dataset: Dataset, card: str) -> Path:
    """Write a dataset into a free folder of the user, completely or not at all."""
    home, base = user_subfolder("datasets", make=True), _folder_name(dataset.manifest.name)
    numbered = (home / (base if number == 1 else f"{base}-{number}") for number in count(1))
    folder = next(folder for folder in numbered if not folder.exists())
    dataset.save(folder, card=card)
    return folder


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
    """Copy a checkpoint folder of this computer to the user's checkpoints, whole or not at all.

    Raises:
        RecapError: there is none, it is damaged, or it is here already.
    """
    from recap.checkpoint import Checkpoint  # torch is loaded only for whoever adds a checkpoint

    folder = Path(text.strip()).expanduser()
    if not folder.is_absolute() or not folder.is_dir():
        raise DataError(f"there is no folder {text.strip()!r}; give the whole path of a checkpoint")
    name = f"{_folder_name(folder.name)}-{Checkpoint.load(folder).hash[:6]}"
    target = user_subfolder("checkpoints", make=True) / name
    if target.exists():
        raise ConfigError(f"{folder.name} is here already")
    half = target.with_name(f".{name}")
    try:
        shutil.copytree(folder, half)
        half.rename(target)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return target


def _folder_name(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40] or "data"


def _new_folder() -> Path:
    folder = user_subfolder("uploads", make=True) / secrets.token_hex(8)
    folder.mkdir(mode=0o700)
    return folder
