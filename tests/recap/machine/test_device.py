"""Threads and memory: callers leave the threads as they were, freed memory goes to the system."""

import sys

import numpy as np
import psutil
import pytest
import torch

from recap.machine.device import one_thread
from recap.machine.memory import _malloc_trim, trim_heap


def test_overlapping_callers_leave_the_threads_as_they_were() -> None:
    """The second caller begins before the first one ends, as in two threads of a notebook."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert torch.get_num_threads() == 1
    second.__exit__(None, None, None)
    assert torch.get_num_threads() == 3
    torch.set_num_threads(before)


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
