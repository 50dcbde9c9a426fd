"""Examples in docstrings are true: every module that has one is imported and its examples run."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in ("recap", "analysis", "app")
    for path in sorted((ROOT / package).rglob("*.py"))
    if "    >>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    """What the docstring says comes out; the module is a library's, so that importing it does nothing else."""
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0 and result.failed == 0


def test_there_are_examples() -> None:
    """The search above still finds them."""
    assert len(MODULES) >= 9 and "recap.evaluation.metrics" in MODULES
