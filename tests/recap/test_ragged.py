"""Packed ranges against a loop."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from recap.ragged import expand_ranges

RANGES = st.lists(st.tuples(st.integers(-5, 50), st.integers(0, 6)), max_size=8)


def test_three_ranges_of_which_one_is_empty() -> None:
    """10 11, nothing, 30."""
    range_C, number_C = expand_ranges(torch.tensor([10, 20, 30]), torch.tensor([2, 0, 1]))
    assert (range_C.tolist(), number_C.tolist()) == ([0, 0, 2], [10, 11, 30])


@given(RANGES)
def test_equals_pythons_ranges(ranges: list[tuple[int, int]]) -> None:
    """Any starts and lengths, also none."""
    start, length = (torch.tensor([pair[at] for pair in ranges], dtype=torch.int64) for at in (0, 1))
    range_C, number_C = expand_ranges(start, length)
    expected = [(at, first + step) for at, (first, size) in enumerate(ranges) for step in range(size)]
    assert list(zip(range_C.tolist(), number_C.tolist(), strict=True)) == expected
