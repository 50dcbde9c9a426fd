"""The named experiments, one TOML file each; nothing heavy is imported here."""

from pathlib import Path
from typing import Final

SPECS: Final = Path(__file__).parent / "specs"
EXPERIMENTS: Final = tuple(sorted(path.stem for path in SPECS.glob("*.toml")))
CITIES: Final = "cities"
SEVERAL: Final = (CITIES, "given-time")
"""Experiments that take several datasets."""
