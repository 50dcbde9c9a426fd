"""Small JSON files replaced whole: a reader sees the old text or the new one, also when the disk is full."""

import json
from pathlib import Path
from typing import Any

from recap.errors import RecapError
from recap.storage.atomic import replacing
from recap.storage.json_text import parse_json


def write_json(path: Path, values: Any, *, durable: bool = True) -> None:
    """Replace a JSON file atomically.

    Args:
        durable: wait until the disk has it; not for what is written again in a second.

    Raises:
        OSError: the disk refused; the old file stays.
    """
    with replacing(path, durable=durable) as temporary:
        temporary.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        RecapError: missing, cut off, or not an object.
    """
    try:
        values = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecapError(f"{path} cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise RecapError(f"{path} is damaged: expected a JSON object ({error})") from error
    if not isinstance(values, dict):
        raise RecapError(f"{path} is damaged: expected a JSON object, got {type(values).__name__}")
    return values
