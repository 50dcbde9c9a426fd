"""Check-in tokens: which check-ins the Transformer sees, and what it reads of each (Eqs. 1-2)."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recap.history import CheckinTensors, Histories
from recap.model.tokens import TimeEmbedding, suffix_rows


def tensors(user: list[int], trajectory: list[int], seconds: list[int] | None = None) -> CheckinTensors:
    """Check-ins at POI 0 of given users and trajectories, an hour apart unless given otherwise."""
    times = np.array(seconds if seconds is not None else [3600 * i for i in range(len(user))])
    return CheckinTensors.from_arrays(
        user=np.array(user),
        poi=np.zeros(len(user), dtype=np.int64),
        seconds=times,
        local_seconds=times,
        trajectory=np.array(trajectory),
    )


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(1, 8))
def test_the_suffix_equals_a_list_slice(lengths: list[int], k: int) -> None:
    """For any users: the last k rows of the user up to the source, nothing else."""
    user = np.repeat(np.arange(len(lengths)), lengths).tolist()
    row_BK, present_BK = suffix_rows(Histories(tensors(user, user), torch.arange(len(user))), k)
    for t in range(len(user)):
        expected = [q for q in range(t + 1) if user[q] == user[t]][-k:]
        assert row_BK[t][present_BK[t]].tolist() == expected
        assert present_BK[t].tolist() == [False] * (k - len(expected)) + [True] * len(expected)


@pytest.mark.parametrize(
    ("clock", "hour", "weekday"),
    [
        ("2012-04-02 00:00:00", 0, 0),
        ("2012-04-02 00:59:59", 0, 0),
        ("2012-04-04 01:00:00", 1, 2),
        ("2012-04-08 23:59:59", 23, 6),
        ("1969-12-31 23:30:00", 23, 2),
    ],
)
def test_times_are_embedded_by_local_hour_and_weekday(clock: str, hour: int, weekday: int) -> None:
    """Monday is 0; the hour's bin is the hour on the clock; times before 1970 work too."""
    embedding = TimeEmbedding()
    seconds = int(pd.Timestamp(clock).timestamp())
    expected = torch.cat([embedding.hour.weight[hour], embedding.weekday.weight[weekday]])
    assert torch.equal(embedding(torch.tensor([seconds]))[0], expected)
