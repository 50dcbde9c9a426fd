"""Freed memory goes back to the system where the C library can."""

import sys

import numpy as np
import psutil
import pytest

from recap.memory import _malloc_trim, trim_heap


def test_holes_are_returned() -> None:
    """Many small blocks, every second one freed, then all: after trimming most of them are gone from RSS."""
    if sys.platform != "linux" or _malloc_trim() is None:
        pytest.skip("this C library has no malloc_trim")
    process = psutil.Process()
    blocks = [np.ones(8_000) for _ in range(3_000)]  # 64 KB each, 190 MB on the heap
    pin = np.ones(8_000)  # behind them, so that the heap's top cannot shrink
    full = process.memory_info().rss
    blocks.clear()
    trim_heap()
    assert full - process.memory_info().rss > 100 * 2**20
    assert pin.all()
