"""Small JSON files replaced whole: a reader sees the old text or the new one, also when the disk is full."""

import errno
import json
from pathlib import Path
from typing import Any, Final

from recap.errors import RecapError
from recap.storage.atomic import replacing, sync
from recap.storage.json_text import parse_json

RESERVE: Final = ".reserve"
"""A file whose blocks are kept for the last words of a run on a full disk."""
_RESERVE_BYTES: Final = 16 * 1024
_NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_json(path: Path, values: Any, *, use_reserve: bool = False, durable: bool = True) -> None:
    """Replace a JSON file atomically.

    Args:
        use_reserve: on a full disk, give the folder's reserve for it.
        durable: wait until the disk has it; not for what is written again in a second.

    Raises:
        OSError: the disk refused; the old file stays.
    """
    payload = (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()
    reserve = path.with_name(RESERVE)
    try:
        with replacing(path, durable=durable) as temporary:
            _write(temporary, payload, "wb")
    except OSError as error:
        if not use_reserve or error.errno not in _NO_SPACE or not reserve.is_file():
            raise
        # Blocks that the file already has can be overwritten without asking for new ones.
        _write(reserve, payload, "r+b")
        sync(reserve)
        reserve.replace(path)


def make_reserve(folder: Path) -> None:
    """Put the reserve back; a disk without room for it is left alone."""
    reserve = folder / RESERVE
    if reserve.is_file():
        return
    try:
        _write(reserve, b"r" * _RESERVE_BYTES, "wb")
        sync(reserve)
    except OSError as error:
        reserve.unlink(missing_ok=True)
        if error.errno not in _NO_SPACE:
            raise


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


def _write(path: Path, payload: bytes, mode: str) -> None:
    with path.open(mode) as file:
        file.write(payload)
        file.truncate()
