"""Files that are written whole or not at all: a reader sees the old one or the new one, also after a crash.

A file is written under a temporary name next to its target, brought to the disk, and put in the target's place by one
rename. Permissions are those of any new file (the umask decides).
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from recap.errors import RecapError


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """Yield a temporary path whose file becomes ``path`` when the block ends well and vanishes when it does not.

    Args:
        durable: wait until the disk has the file and its name; not for what is written again in a second.

    Raises:
        OSError: the disk refused; the old file stays.
    """
    # A name of its own for each writer: two that write one file at once do not write into each other's.
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:12]}.part")
    try:
        yield temporary
        if durable:
            sync(temporary)
        temporary.replace(path)
    except OSError as error:
        error.filename = error.filename or str(path)  # a full disk does not say where
        raise
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    if durable and os.name == "posix":
        # The file is whole either way: a file system that cannot sync a folder is no reason to refuse.
        with suppress(OSError):
            sync(path.parent, os.O_RDONLY)


@contextmanager
def new_file(path: Path, *, make_parents: bool = False) -> Iterator[Path]:
    """`replacing`, for a file that a user asked for.

    Args:
        make_parents: make the folder that is to hold the file.

    Raises:
        RecapError: the disk refused, in one line; nothing is left behind and the old file stays.
    """
    try:
        if make_parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            yield temporary
    except OSError as error:
        raise RecapError(f"writing {path} failed: {error.strerror or error}; nothing was kept") from error


def current_umask() -> int:
    """The process's mask of permissions; reading it means setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def replace_bytes(path: Path, payload: bytes, *, durable: bool = True) -> None:
    """Write bytes whole or not at all.

    Raises:
        OSError: the disk refused; the old file stays.
    """
    with replacing(path, durable=durable) as temporary:
        temporary.write_bytes(payload)


def replace_text(path: Path, text: str, *, durable: bool = True) -> None:
    """`replace_bytes` of UTF-8 text, with the line ends it has."""
    replace_bytes(path, text.encode(), durable=durable)


def write_text(path: Path, text: str, *, make_parents: bool = False) -> None:
    """`new_file` of UTF-8 text.

    Raises:
        RecapError: the disk refused, in one line.
    """
    with new_file(path, make_parents=make_parents) as temporary:
        temporary.write_bytes(text.encode())


def replace_json(path: Path, values: Any, *, durable: bool = True) -> None:
    """`replace_text` of values as JSON."""
    replace_text(path, json.dumps(values, indent=2, ensure_ascii=False) + "\n", durable=durable)


def sync(path: Path, mode: int = os.O_RDWR) -> None:
    """Wait until the disk has a file's bytes, or a folder's names (``os.O_RDONLY``)."""
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
