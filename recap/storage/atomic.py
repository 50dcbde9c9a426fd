"""Files that are written whole or not at all, also after a crash.

A file is written under a temporary name, synced and renamed. The umask decides its permissions.
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
    """Yield a temporary path whose file becomes ``path`` if the block succeeds and else vanishes. ``durable``: wait
    until the disk has the file and its name. Raises OSError: the disk refused; the old file stays.
    """
    # Concurrent writers need different names.
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
        # Some file systems cannot sync a folder; the file is complete anyway.
        with suppress(OSError):
            sync(path.parent, os.O_RDONLY)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """`replacing`, for a file that a user asked for, in a folder that is made if missing. Raises RecapError: the disk
    refused; nothing is left behind and the old file stays.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            yield temporary
    except OSError as error:
        raise RecapError(f"writing {path} failed: {error.strerror or error}; nothing was kept") from error


def replace_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Write UTF-8 text, with unchanged line ends, whole or not at all; raises OSError if the disk refuses."""
    with replacing(path, durable=durable) as temporary:
        temporary.write_bytes(text.encode())


def replace_json(path: Path, values: Any, *, durable: bool = True) -> None:
    """`replace_text` of values as JSON."""
    replace_text(path, json.dumps(values, indent=2, ensure_ascii=False) + "\n", durable=durable)


def sync(path: Path, mode: int = os.O_RDWR) -> None:
    """Wait until the disk has a file's bytes or, with ``os.O_RDONLY``, a folder's names."""
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
