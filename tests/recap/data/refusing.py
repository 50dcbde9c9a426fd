"""A file that the readers refuse."""

from pathlib import Path

import pytest

from recap.data.parsing.options import ReadOptions
from recap.data.reading import read_checkins
from recap.errors import DataError


def assert_unreadable(part: str, path: Path, source_format: str, options: ReadOptions | None = None) -> None:
    """The message has the part, a regular expression."""
    with pytest.raises(DataError, match=part):
        read_checkins(path, source_format, options)
