"""Return freed memory to the system.

Packed candidates have another length in every batch. With such sizes glibc's heap fills with holes, and the resident
memory of a training grows epoch by epoch although nothing is kept; trimming returns the holes in a few milliseconds.
"""

import ctypes
import sys
from functools import cache


def trim_heap() -> None:
    """Return freed heap pages and what Arrow keeps for later; of the heap nothing where C knows no ``malloc_trim``."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> "ctypes._NamedFuncPointer | None":
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
