"""Paths of installed files."""

from importlib.resources import files
from pathlib import Path


def data_path(package: str, name: str) -> Path:
    """A file or folder inside an installed package, named with dots."""
    return Path(str(files(package) / name))


def bundles_folder() -> Path:
    """The folder of the bundled cities. A wheel has the repository's ``checkpoints`` as ``recap/bundles`` (see
    pyproject.toml). A checkout is read in place.
    """
    in_wheel = data_path("recap", "bundles")
    return in_wheel if in_wheel.is_dir() else in_wheel.parents[1] / "checkpoints"
