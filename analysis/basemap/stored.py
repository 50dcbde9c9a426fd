"""Choose the ground of a dataset's maps: the user's own, the bundle's, the package's shores, or none."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from analysis.basemap.document import Basemap, read_basemap
from analysis.basemap.shores import shores
from recap.errors import RecapError
from recap.storage.user_folder import user_subfolder

BUNDLED = "basemap.json"


def stored_path(dataset_hash: str) -> Path:
    """Path of the user's own basemap of a dataset, made by an earlier version."""
    return user_subfolder("basemaps") / f"{dataset_hash}.json"


def find_basemap(
    dataset_hash: str, bundle: Path | None, latitude: np.ndarray, longitude: np.ndarray, *, synthetic: bool
) -> Basemap | None:
    """The ground of a dataset's maps; an unreadable file counts as missing.

    Args:
        bundle: a folder that may hold the dataset's own basemap.
        latitude, longitude: degrees of every place, longitudes unwrapped.
        synthetic: the city is invented, so it gets no real shores.
    """
    basemap = next(filter(None, map(_readable, _paths(dataset_hash, bundle))), None)
    if basemap is None and not synthetic:
        basemap = shores(latitude, longitude)
    return basemap


def last_change(dataset_hash: str) -> int:
    """Time when the user's own basemap of a dataset was written, in ns; 0 without one."""
    with suppress(RecapError, OSError):
        return stored_path(dataset_hash).stat().st_mtime_ns
    return 0


def _paths(dataset_hash: str, bundle: Path | None) -> Iterator[Path]:
    with suppress(RecapError):
        yield stored_path(dataset_hash)
    if bundle is not None:
        yield bundle / BUNDLED


def _readable(path: Path) -> Basemap | None:
    with suppress(RecapError):
        return read_basemap(path)
    return None
