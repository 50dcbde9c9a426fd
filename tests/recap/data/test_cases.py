"""Cases: which pairs of consecutive check-ins are predicted under each protocol."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recap import columns as c
from recap.data.cases import PROTOCOLS, build_cases, history_only
from recap.errors import ConfigError

#      row          0  1  2  3  4  5  6  7  8
USERS = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
WALKS = np.array([0, 0, 0, 1, 1, 2, 2, 3, 3])
SPLIT = np.array([0, 0, 2, 2, 2, 0, 2, 2, 2])


def table(users: Any, walks: Any, split: Any) -> pd.DataFrame:
    return pd.DataFrame({c.USER: users, c.TRAJECTORY: walks, c.SPLIT: split})


def test_a_case_belongs_to_the_split_of_its_target() -> None:
    """Row 1 is a training check-in, but its successor is a test check-in: (1, 2) is a test case."""
    checkins = table(USERS, WALKS, SPLIT)
    assert build_cases(checkins, c.TRAIN).tolist() == [0]
    assert build_cases(checkins, c.VAL).tolist() == []
    assert build_cases(checkins, c.TEST).tolist() == [1, 3, 5, 7]


def test_every_next_crosses_gaps_and_takes_history_only_rows() -> None:
    """Every row but each user's first is somebody's next check-in."""
    checkins = table(USERS, WALKS, SPLIT).assign(**{c.HISTORY_ONLY: [False] * 7 + [True] * 2})
    assert build_cases(checkins, c.TEST).tolist() == [1, 3, 5]
    assert build_cases(checkins, c.TRAIN, "every_next").tolist() == [0]
    assert build_cases(checkins, c.TEST, "every_next").tolist() == [1, 2, 3, 5, 6, 7]


def test_last_protocols() -> None:
    """Trajectories 0, 1, 2, 3 end with cases 1, 3, 5, 7; users 0 and 1 with 3 and 7."""
    checkins = table(USERS, WALKS, SPLIT)
    assert build_cases(checkins, c.TEST, "trajectory_last").tolist() == [1, 3, 5, 7]
    assert build_cases(checkins, c.TEST, "user_last").tolist() == [3, 7]


def test_check_ins_that_are_history_only_open_no_case() -> None:
    """Rows 3 and 4 are a walk set aside: no case starts or ends there, and user 0's last case is the one before."""
    aside = [row in (3, 4) for row in range(9)]
    checkins = table(USERS, WALKS, SPLIT).assign(**{c.HISTORY_ONLY: aside})
    assert build_cases(checkins, c.TEST).tolist() == [1, 5, 7]
    assert build_cases(checkins, c.TEST, "trajectory_last").tolist() == [1, 5, 7]
    assert build_cases(checkins, c.TEST, "user_last").tolist() == [1, 7]
    assert history_only(checkins).tolist() == aside
    assert not history_only(table(USERS, WALKS, SPLIT)).any(), "tables of before have no such column"


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 2)), max_size=30))
def test_equals_plain_loops(steps: list[tuple[bool, bool, int]]) -> None:
    """Any table: the protocols agree with loops over its rows."""
    users = np.cumsum([new_user for new_user, _, _ in steps]).astype(int).tolist()
    walks = np.cumsum([new_user or new_walk for new_user, new_walk, _ in steps]).astype(int).tolist()
    split = [part for _, _, part in steps]
    checkins = table(users, walks, split)
    for part in (c.TRAIN, c.VAL, c.TEST):
        every = [row for row, (a, b) in enumerate(pairwise(walks)) if a == b and split[row + 1] == part]
        assert build_cases(checkins, part).tolist() == every
        for protocol, group in (("trajectory_last", walks), ("user_last", users)):
            last = {group[row]: row for row in every}
            assert build_cases(checkins, part, protocol).tolist() == sorted(last.values())  # type: ignore[arg-type]


def test_refuses_an_unknown_protocol() -> None:
    with pytest.raises(ConfigError) as refusal:
        build_cases(table(USERS, WALKS, SPLIT), c.TEST, "first")  # type: ignore[arg-type]
    assert all(protocol in str(refusal.value) for protocol in ("'first'", *PROTOCOLS))
