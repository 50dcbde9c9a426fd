"""Paths of the files that come with the library: inside its packages, and the bundles of a checkout next to them."""

from importlib.resources import files
from pathlib import Path


def data_path(package: str, name: str) -> Path:
    """A file or folder inside an installed package.

    Args:
        package: dotted name of the package, such as ``analysis.experiments``.
        name: the file's or folder's path inside it.
    """
    return Path(str(files(package) / name))


def bundles_folder() -> Path:
    """The folder whose subfolders are the bundled cities.

    A wheel carries the repository's ``checkpoints`` as ``recap/bundles`` (the mapping is in pyproject.toml). A
    checkout, whether installed as editable or named in PYTHONPATH, is read in place: there is one copy.
    """
    in_wheel = data_path("recap", "bundles")
    return in_wheel if in_wheel.is_dir() else in_wheel.parents[1] / "checkpoints"
