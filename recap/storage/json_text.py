"""JSON from outside: every defect is a ValueError, also too deep nesting."""

import json
from math import isfinite
from pathlib import Path
from typing import Any, Final

from recap.errors import RecapError

DEEPEST: Final = 64
"""Levels of nesting that our own files never reach."""


def parse_json(text: str) -> Any:
    """Parse JSON. Raises ValueError: no JSON, or nested more than `DEEPEST` levels deep."""
    try:
        values = json.loads(text)
    except RecursionError:
        raise ValueError(f"nested more than {DEEPEST} levels deep") from None
    level = [values]
    for _ in range(DEEPEST):
        level = [inner for value in level if isinstance(value, dict | list) for inner in _inside(value)]
        if not level:
            return values
    raise ValueError(f"nested more than {DEEPEST} levels deep")


def finite_json(value: Any) -> Any:
    """The value with None in place of NaN and infinity.

    >>> finite_json({"a": [1.5, float("nan")]})
    {'a': [1.5, None]}
    """
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {name: finite_json(inner) for name, inner in value.items()}
    return [finite_json(inner) for inner in value] if isinstance(value, list | tuple) else value


def read_json(path: Path) -> Any:
    """Parse a JSON file. Raises OSError: it cannot be read; ValueError: no text, no JSON, or nested too deep."""
    return parse_json(path.read_text(encoding="utf-8"))


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object. Raises RecapError: missing, cut off, or not an object."""
    try:
        values = read_json(path)
    except OSError as error:
        raise RecapError(f"{path} cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise RecapError(f"{path} is damaged: expected a JSON object ({error})") from error
    if not isinstance(values, dict):
        raise RecapError(f"{path} is damaged: expected a JSON object, got {type(values).__name__}")
    return values


def _inside(value: dict[str, Any] | list[Any]) -> Any:
    return value.values() if isinstance(value, dict) else value
