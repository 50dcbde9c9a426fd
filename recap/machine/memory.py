"""Memory of this process: how much it had, and freed memory returned to the system.

Packed candidates have another length in every batch, so glibc's heap fills with holes. Trimming returns them in a few
milliseconds.
"""

import ctypes
import sys
from functools import cache


def trim_heap() -> None:
    """Return freed heap pages (only where ``malloc_trim`` exists) and Arrow's reserve."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


def peak_bytes() -> int | None:
    """The most memory that this process has had; None on Windows, which does not say."""
    if sys.platform == "win32":
        return None
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@cache
def _malloc_trim() -> "ctypes._NamedFuncPointer | None":
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
