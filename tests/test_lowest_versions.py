"""What is promised to work is what `make test-lowest` runs with."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PACKAGES = {"recap", "analysis", "app"}


def test_constraints_are_the_lower_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = [Requirement(text) for text in project["dependencies"] + extras["app"] + extras["dev"]]
    bounds = {item.name: min(s.version for s in item.specifier if s.operator == ">=") for item in needed}
    pins = [Requirement(line) for line in (ROOT / "constraints-lowest.txt").read_text().splitlines() if "==" in line]
    assert {pin.name: str(pin.specifier).removeprefix("==") for pin in pins} == bounds


def test_everything_imported_is_declared() -> None:
    """No module of the packages relies on what another dependency happens to bring along."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = {canonicalize_name(Requirement(text).name) for group in groups for text in group}
    provided_by = packages_distributions()
    undeclared = {
        f"{path.relative_to(ROOT)} imports {name}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for name in _imported(path)
        if name not in PACKAGES | sys.stdlib_module_names
        and not declared & {canonicalize_name(each) for each in provided_by.get(name, [])}
    }
    assert undeclared == set()


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
