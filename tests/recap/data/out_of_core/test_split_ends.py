"""Check-ins shared out block by block are shared out as all at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recap.data.out_of_core.split_ends import SplitEndFinder, SplitEnds
from recap.data.splitting import SplitConfig, split_by_time


def found(seconds_T: np.ndarray, row_T: np.ndarray, config: SplitConfig, block: int) -> SplitEnds:
    finder = SplitEndFinder(config)
    pieces = [(seconds_T[start : start + block], row_T[start : start + block]) for start in range(0, len(row_T), block)]
    for seconds, _ in pieces:
        finder.count(seconds)
    for seconds, row in pieces:
        finder.collect(seconds, row)
    return finder.ends()


def test_the_ends_of_ten_check_ins() -> None:
    """Ten, one an hour, rows backwards: training has eight, so validation begins with the ninth, test with the tenth.

    Without a test split there is no end of validation.
    """
    hours, rows = 3600 * np.arange(10), np.arange(10)[::-1]
    ends = found(hours, rows, SplitConfig(), block=3)
    assert ends == SplitEnds(validation=(8 * 3600, 1), test=(9 * 3600, 0))
    assert ends.codes(hours, rows).tolist() == [0] * 8 + [1, 2]
    assert found(hours, rows, SplitConfig(val_end=1), block=3).test is None


@given(
    moments=st.lists(st.integers(-10_000, 40_000), min_size=1, max_size=60),
    train_end=st.sampled_from([0.1, 0.5, 0.8]),
    val_end=st.sampled_from([0.8, 0.9, 1.0]),
    block=st.integers(1, 70),
    data=st.data(),
)
def test_any_check_ins_in_blocks_of_any_size(
    moments: list[int], train_end: float, val_end: float, block: int, data: st.DataObject
) -> None:
    """The splits are those of `split_by_time`, also where many share a second, an hour, or all come before 1970."""
    seconds_T = np.array(moments)
    row_T = np.array(data.draw(st.permutations(range(len(moments)))))
    config = SplitConfig(train_end=train_end, val_end=val_end)
    expected = split_by_time(seconds_T, row_T, np.zeros(len(moments), dtype=np.int64), config)
    assert found(seconds_T, row_T, config, block).codes(seconds_T, row_T).tolist() == expected.tolist()
