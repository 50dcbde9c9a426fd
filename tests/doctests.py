"""Try the examples in docstrings of the packages that Python finds, without pytest: `python -P tests/doctests.py`."""

import doctest
import importlib
from importlib.util import find_spec
from pathlib import Path


def modules_with_examples() -> list[str]:
    """The modules of recap, analysis and app that have an example."""
    found = []
    for package in ("recap", "analysis", "app"):
        spec = find_spec(package)
        assert spec is not None and spec.origin is not None, f"{package} is not installed"
        root = Path(spec.origin).parent
        for path in sorted(root.rglob("*.py")):
            if "    >>> " in path.read_text(encoding="utf-8"):
                found.append(".".join((package, *path.relative_to(root).with_suffix("").parts)))
    return found


def try_module(name: str) -> tuple[int, int]:
    """How many examples of a module were tried, and how many are wrong."""
    result = doctest.testmod(importlib.import_module(name))
    return result.attempted, result.failed


if __name__ == "__main__":
    tried, wrong = map(sum, zip(*map(try_module, modules_with_examples()), strict=True))
    print(f"{tried - wrong} of {tried} examples are true")
    raise SystemExit(bool(wrong) or tried == 0)
