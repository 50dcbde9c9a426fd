"""A run's log as text."""

import codecs
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from recap.errors import RecapError
from recap.runs.execution.control import ensure_runner
from recap.runs.store.files import ACTIVE
from recap.runs.store.run_store import RunFolder, RunStore

_TAIL_BYTES: Final = 1 << 20
_RUNNER_SECONDS: Final = 3.0
"""Time between two checks whether a runner works."""


def read_log(run: RunFolder, lines: int | None = None) -> tuple[str, int]:
    """The log's text, or its last ``lines`` (at most a mebibyte), and the byte it ends at; empty before the start. An
    incomplete last character is left out.
    """
    if not run.log.is_file():
        return "", 0
    with run.log.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(0 if lines is None else max(0, size - _TAIL_BYTES))
        decoder = _decoder()
        text = decoder.decode(file.read())
        end = file.tell() - len(decoder.getstate()[0])
    return text if lines is None else "".join(text.splitlines(keepends=True)[-lines:]), end


def follow_log(run: RunFolder, offset: int, wait: Callable[[], None]) -> Iterator[str]:
    """Yield text after byte ``offset``, until the run is over."""
    store = RunStore(run.path.parent)
    looked = time.monotonic()
    decoder = _decoder()
    while True:
        # Read the state first: the log then has all text written before the end.
        over = run.read_state().state not in ACTIVE
        piece = b""
        if run.log.is_file():
            with run.log.open("rb") as file:
                file.seek(offset)
                piece = file.read()
        offset += len(piece)
        text = decoder.decode(piece, final=over)
        if text:
            yield text
        if over:
            return
        if time.monotonic() - looked > _RUNNER_SECONDS:
            with suppress(OSError, RecapError):  # a full disk must not stop the reading
                ensure_runner(store)
            looked = time.monotonic()
        wait()


def _decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")(errors="replace")
