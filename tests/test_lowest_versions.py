"""What is promised to work is what `make test-lowest` runs with."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def test_constraints_are_the_lower_bounds() -> None:
    """Every dependency has a lower bound, and constraints-lowest.txt pins exactly it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [Requirement(text) for text in project["dependencies"] + project["optional-dependencies"]["dev"]]
    bounds = {item.name: min(s.version for s in item.specifier if s.operator == ">=") for item in needed}
    pins = [Requirement(line) for line in (ROOT / "constraints-lowest.txt").read_text().splitlines() if "==" in line]
    assert {pin.name: str(pin.specifier).removeprefix("==") for pin in pins} == bounds
