"""Threads and memory: results come back in order, freed memory to the system."""

import os
import sys
from collections.abc import Sequence
from threading import get_ident

import numpy as np
import psutil
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recap.machine.device import MOST_SIDE_BY_SIDE, one_thread, side_by_side
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


@given(st.integers(0, 40), st.integers(1, 9), st.integers(1, 8))
def test_parts_are_neighbours_in_order(count: int, at_least: int, cores: int) -> None:
    """All items once, no part below what a thread is worth, no more parts than cores and the most."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "cpu_count", lambda: cores)
        parts = side_by_side(list, range(count), at_least)
    assert [item for part in parts for item in part] == list(range(count))
    assert len(parts) == max(1, min(cores, MOST_SIDE_BY_SIDE, count // at_least))
    assert len(parts) == 1 or min(len(part) for part in parts) >= at_least


def test_one_part_is_done_where_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread for what one does; several for what is worth it; a failure comes out."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)

    def ask(items: Sequence[int]) -> int:
        return get_ident()

    assert side_by_side(ask, range(3), 2) == [get_ident()]
    assert get_ident() not in side_by_side(ask, range(4), 2)
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda items: 1 // items[0], range(4))


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
