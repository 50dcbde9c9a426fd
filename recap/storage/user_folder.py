"""Folder of the user's own files, moved by the environment variable RECAP_HOME, and paths of installed files."""

import os
import sys
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from recap.errors import ConfigError, RecapError

HOME_VARIABLE: Final = "RECAP_HOME"
Subfolder = Literal[
    "datasets", "checkpoints", "runs", "cases", "predictions", "cache", "basemaps", "uploads", "answers"
]


def user_folder() -> Path:
    """The user's folder: ``$RECAP_HOME`` if set, else the platform's data folder; it may not exist yet. Raises
    ConfigError: RECAP_HOME names a file.
    """
    moved = os.environ.get(HOME_VARIABLE, "").strip()
    folder = Path(moved).expanduser().absolute() if moved else _data_home() / "recap"
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{HOME_VARIABLE} should name a folder, {folder} is a file")
    return folder


def _data_home() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    variable, usual = (
        ("LOCALAPPDATA", "AppData/Local") if sys.platform == "win32" else ("XDG_DATA_HOME", ".local/share")
    )
    return Path(os.environ.get(variable, "").strip() or Path.home() / usual)


def user_subfolder(name: Subfolder, *, make: bool = False) -> Path:
    """One of the user's folders; it may not exist yet. Raises RecapError: it cannot be made or read."""
    folder = user_folder() / name
    if make:
        make_folder(folder)
        return folder
    try:
        folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise RecapError(f"cannot read {folder} ({error.strerror or error}); set {HOME_VARIABLE} elsewhere") from error
    return folder


def make_folder(folder: Path) -> None:
    """Make a folder if missing; raises RecapError if it cannot."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecapError(f"cannot make {folder} ({error.strerror or error}); set {HOME_VARIABLE} elsewhere") from error


def data_path(package: str, name: str) -> Path:
    """A file or folder inside an installed package, named with dots."""
    return Path(str(files(package) / name))


def bundles_folder() -> Path:
    """The folder of the bundled cities. A wheel has the repository's ``checkpoints`` as ``recap/bundles`` (see
    pyproject.toml). A checkout is read in place.
    """
    in_wheel = data_path("recap", "bundles")
    return in_wheel if in_wheel.is_dir() else in_wheel.parents[1] / "checkpoints"
