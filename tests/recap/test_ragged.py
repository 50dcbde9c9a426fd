"""Packed ranges against a loop."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from recap.ragged import expand_ranges

RANGES = st.lists(st.tuples(st.integers(-5, 50), st.integers(0, 6)), max_size=8)


@given(RANGES)
def test_equals_pythons_ranges(ranges: list[tuple[int, int]]) -> None:
    """Any starts and lengths, also none."""
    start, length = (torch.tensor([pair[at] for pair in ranges], dtype=torch.int64) for at in (0, 1))
    range_C, number_C = expand_ranges(start, length)
    expected = [(at, first + step) for at, (first, size) in enumerate(ranges) for step in range(size)]
    assert list(zip(range_C.tolist(), number_C.tolist(), strict=True)) == expected
