"""Formats told from content."""

from pathlib import Path

import pandas as pd
import pytest

from recap.data.reading import SOURCE_FORMATS, detect_format, read_checkins
from recap.errors import DataError
from tests.sources import write_source


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_each_format_is_told_from_its_content(tmp_path: Path, source_format: str) -> None:
    """A good file of each format; `auto` reads the same as the format's name, and the reason is a phrase."""
    path, options = write_source(tmp_path, source_format)
    found = detect_format(path)
    assert found.source_format == source_format and found.why
    auto, named = (read_checkins(path, name, options).table for name in ("auto", source_format))
    pd.testing.assert_frame_equal(auto, named)


def test_a_few_bad_lines_do_not_hide_a_format(tmp_path: Path) -> None:
    """More than half of the first lines decide."""
    path, _ = write_source(tmp_path, "foursquare")
    lines = path.read_text(encoding="latin-1").splitlines()
    path.write_text("\n".join(["what", *lines]), encoding="latin-1")
    assert detect_format(path).source_format == "foursquare"


@pytest.mark.parametrize("content", [b"", b"one word\n", b"\x00\x01\x02", b"PK\x03\x04zip"])
def test_refuses_what_is_no_format(tmp_path: Path, content: bytes) -> None:
    """Empty, prose, noise, a zip."""
    (tmp_path / "a.bin").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.bin"):
        detect_format(tmp_path / "a.bin")
    with pytest.raises(DataError, match="--format"):
        detect_format(tmp_path)
    with pytest.raises(DataError, match="does not exist"):
        detect_format(tmp_path / "nowhere")
