"""Give freed memory back to the system, and tell how much a piece of work held at its peak.

Packed candidates have another length in every batch. With such sizes glibc's heap fills with holes, and the resident
memory of a training grows epoch by epoch although nothing is kept; trimming returns the holes in a few milliseconds.
"""

import ctypes
import sys
from functools import cache
from pathlib import Path
from typing import Final

_CLEAR: Final = Path("/proc/self/clear_refs")
_STATUS: Final = Path("/proc/self/status")
_RESET_PEAK: Final = "5"


def trim_heap() -> None:
    """Return freed heap pages and what Arrow keeps for later; of the heap nothing where C knows no ``malloc_trim``."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


def reset_peak() -> None:
    """Count this process's peak from now on; does nothing where the system cannot (other than Linux)."""
    trim_heap()
    try:
        _CLEAR.write_text(_RESET_PEAK)
    except OSError:
        return


def peak_bytes() -> int | None:
    """Most resident memory of this process since `reset_peak`, all that it had loaded before included.

    Returns:
        None where the system does not tell (other than Linux).
    """
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), None)


@cache
def _malloc_trim() -> "ctypes._NamedFuncPointer | None":
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
