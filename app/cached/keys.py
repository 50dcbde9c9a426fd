"""How cached functions tell sources apart: by the hashes of their content, not by label, folder or link.

Two sources of the same content share what was computed, wherever they lie; a copy that was changed does not.
"""

from collections.abc import Callable
from typing import Any, Final

from app.sources import Source

HashFuncs = dict[str | type[Any], Callable[[Any], Any]]


def dataset_of(source: Source) -> str:
    """For what hangs on the dataset alone, whatever model was trained on it."""
    return source.dataset_hash


def content_of(source: Source) -> tuple[str, str | None]:
    """For what hangs on the model too."""
    return source.dataset_hash, source.checkpoint_hash or source.imported


BY_DATASET: Final[HashFuncs] = {Source: dataset_of}
BY_MODEL: Final[HashFuncs] = {Source: content_of}
