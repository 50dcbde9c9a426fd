"""Tables of words and patterns: how names, times and coordinates are written, and what is known of other files."""

import tomllib
from pathlib import Path
from typing import Any, Final


def read_words(name: str) -> dict[str, Any]:
    """One of the tables next to this module."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


KNOWN_FILES: Final = read_words("formats")
"""Published formats, exports of one person, and files of other kinds."""
