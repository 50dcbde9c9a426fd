"""The named experiments, one TOML file each; nothing heavy is imported here."""

from pathlib import Path
from typing import Final

EXPERIMENTS: Final = tuple(sorted(path.stem for path in (Path(__file__).parent / "specs").glob("*.toml")))
CITIES: Final = "cities"
SEVERAL: Final = (CITIES, "given-time")
"""Experiments that take several datasets."""
