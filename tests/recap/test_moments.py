"""A user's moment: the last check-in at or before a time, on the clock that the time names."""

from datetime import datetime
from functools import cache

import numpy as np
import pandas as pd
import pytest

from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import CaseError
from recap.evaluation.cases import describe_cases
from recap.graph import TransitionGraph
from recap.moments import Case, Moment, find_moment, is_moment, last_rows, named_case, next_place, parse_time
from tests.checkins import START, split_dataset
from tests.worlds import small_city


@cache
def two_users() -> Dataset:
    """The first at 8:00, twice at 9:00 and at 13:00 UTC, the second at 11:00 and 12:00; on their clocks 4 h earlier."""
    made = split_dataset([(0, [(0, 0), (1, 0), (0, 0), (2, 2)]), (1, [(0, 0), (1, 2)])], num_pois=3)
    made.checkins[c.TIME] = (START + pd.to_timedelta([0, 1, 1, 5, 3, 4], unit="h")).as_unit("s")
    return made


@pytest.mark.parametrize(
    ("as_of", "rows"),
    [
        (None, [3, 5]),
        ("2012-04-02T09:00+00:00", [2, -1]),
        ("2012-04-02T08:59:59+00:00", [0, -1]),
        ("2012-04-02T09:00", [3, 5]),
        ("2012-04-02T07:00", [2, 4]),
        ("2012-04-02T13:00+02:00", [2, 4]),
        ("2012-04-02", [-1, -1]),
    ],
)
def test_the_last_row_at_or_before_a_time(as_of: str | None, rows: list[int]) -> None:
    """With a zone UTC decides, without one the check-in's own clock; of one second the last in the file."""
    time = parse_time(as_of)
    assert last_rows(two_users(), time).tolist() == rows
    for user, (name, row) in enumerate(zip(("u0", "u1"), rows, strict=True)):
        if row >= 0:
            assert find_moment(two_users(), name, time) == find_moment(two_users(), user, time) == Moment(user, row)


def test_each_check_in_has_its_own_clock() -> None:
    """Ten o'clock at home, then after a flight half past seven: at eight o'clock the later one is known."""
    home = split_dataset([(0, [(0, 0), (1, 0), (2, 2)])], num_pois=3)
    home.checkins[c.TZ_OFFSET_MINUTES] = np.array([120, -90, -90], dtype=np.int16)
    assert last_rows(home, datetime(2012, 4, 2, 8)).tolist() == [1]


def test_a_check_in_that_early_must_be_there() -> None:
    """One line; the command's tests hold the other refusals."""
    with pytest.raises(CaseError, match=r"^user 'u1' has no check-in at or before 2012-04-02 10:00.* 2012-04-02 07:00"):
        find_moment(two_users(), "u1", parse_time("2012-04-02T10:00+00:00"))
    with pytest.raises(CaseError, match="has no user 7;"):
        find_moment(two_users(), 7)


def test_next_places_and_cases() -> None:
    """The same user's next check-in; a moment where a test case starts is that case."""
    data = two_users()
    assert [next_place(data, row) for row in range(6)] == [1, 0, 2, None, 1, None]
    assert is_moment(data, Moment(0, 3)) and not is_moment(data, Moment(1, 3)) and not is_moment(data, Moment(0, 99))
    cases = describe_cases(small_city(), TransitionGraph.from_dataset(small_city()))
    for number in (0, len(cases) - 1):
        case = Case.of(cases.iloc[number])
        assert (case.number, case.split) == (number, c.TEST)
        assert named_case(Moment(case.user, case.row), cases) == case
    last = find_moment(small_city(), 0)
    assert named_case(last, cases) == last
