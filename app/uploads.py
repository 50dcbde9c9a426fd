"""Files that a user opens in the app (a private copy, or a path on this computer), and what becomes of them."""

import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO, Any, Final

from pydantic import Field

from app.sources import own_datasets
from recap.config import Config
from recap.data.parsing.options import ReadOptions
from recap.data.preparation import choose_engine
from recap.data.reading import detect_format
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
    least: int | None = Field(
        None, description="Check-ins that a place and a user need to be kept; None: the format's."
    )

    @property
    def folder(self) -> Path:
        """The upload's own folder, below the user's."""
        return user_subfolder("uploads") / self.token

    @property
    def changes(self) -> list[str]:
        """Of the format's protocol, as `choose_protocol` takes them."""
        return [] if self.least is None else [f"min_{kind}_checkins={self.least}" for kind in ("poi", "user")]

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
        DataError: the disk is full; nothing is left then.
    """
    folder = _new_folder()
    path = folder / "file" / re.sub(r"^\.+|[^\w.-]+", "_", Path(name).name, flags=re.ASCII)[-60:]
    try:
        path.parent.mkdir()
        with path.open("wb") as copy:
            shutil.copyfileobj(file, copy)
        return Upload(token=folder.name, path=path).answer()
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise DataError(f"{name} cannot be copied: {error.strerror}") from error


def open_path(text: str) -> Upload:
    """Open a file on this computer without copying it.

    Raises:
        DataError: there is none, or it may not fit into memory.
    """
    path = Path(text.strip()).expanduser()
    if not path.is_absolute() or not path.exists():
        raise DataError(f"there is no file {text.strip()!r}; give its whole path, such as /home/me/visits.csv")
    if choose_engine("auto", path, detect_format(path)[0]):
        raise DataError(f"{path.name} is too large for the memory of this computer; prepare it with `recap prepare`")
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


@contextmanager
def new_dataset_folder(name: str) -> Iterator[Path]:
    """Claim an empty folder for a new dataset of the user; nobody else gets it, and it goes if it stays empty."""
    home, base = user_subfolder("datasets", make=True), _folder_name(name)
    for number in count(1):
        folder = home / (base if number == 1 else f"{base}-{number}")
        with suppress(FileExistsError):
            folder.mkdir()
            break
    try:
        yield folder
    finally:
        with suppress(OSError):  # it holds a dataset
            folder.rmdir()


def delete_dataset(folder: Path) -> None:
    """Delete one of the user's datasets.

    Raises:
        ConfigError: it is not one of them.
    """
    if folder not in own_datasets():
        raise ConfigError(f"{folder.name} is not a dataset of yours")
    (folder / DATASET_MANIFEST).unlink()  # gone from every list at once
    shutil.rmtree(folder, ignore_errors=True)


def _folder_name(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40] or "data"


def _new_folder() -> Path:
    folder = user_subfolder("uploads", make=True) / secrets.token_hex(8)
    folder.mkdir(mode=0o700)
    return folder
