"""What is known of published formats, exports of one person, and files of other kinds: the tables of `formats.toml`."""

import tomllib
from pathlib import Path
from typing import Any, Final

KNOWN_FILES: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
