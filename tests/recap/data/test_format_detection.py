"""Formats recognised by content."""

from pathlib import Path

import pandas as pd
import pytest

from recap.data.format_detection import detect_format
from recap.data.reading import SOURCE_FORMATS, read_checkins
from tests.sources import write_source


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_each_format_is_recognised_by_its_content(tmp_path: Path, source_format: str) -> None:
    """A good file of each format; `auto` reads the same as the format's name, and the reason is a phrase."""
    path, options = write_source(tmp_path, source_format)
    recognised, why = detect_format(path)
    assert recognised == source_format and why
    auto, named = (read_checkins(path, name, options).table for name in ("auto", source_format))
    pd.testing.assert_frame_equal(auto, named)


def test_a_few_bad_lines_do_not_hide_a_format(tmp_path: Path) -> None:
    """More than half of the first lines decide."""
    path, _ = write_source(tmp_path, "foursquare")
    lines = path.read_text(encoding="latin-1").splitlines()
    path.write_text("\n".join(["what", *lines]), encoding="latin-1")
    assert detect_format(path)[0] == "foursquare"
