"""Cases by the local time they start at."""

import numpy as np
import pytest

from analysis.records.loaded_dataset import LoadedDataset
from analysis.trajectories.day_parts import DAY_PARTS, DAYS, cases_at_time
from recap import columns as c
from recap.errors import ConfigError
from tests.worlds import small_city


def test_parts_of_the_day_and_week_split_the_cases() -> None:
    """Every case starts in exactly one part of the day and of the week; none named means all."""
    opened = LoadedDataset.of(small_city())
    everything = list(range(len(opened.cases)))
    assert sorted(np.concatenate([cases_at_time(opened, [name]) for name in DAY_PARTS])) == everything
    assert sorted(np.concatenate([cases_at_time(opened, [], [name]) for name in DAYS])) == everything
    assert cases_at_time(opened, []).tolist() == everything


def test_hours_are_local() -> None:
    """A case of a part starts within its hours, local time; parts and days are both asked for."""
    opened = LoadedDataset.of(small_city())
    hours = opened.dataset.local_time.dt.hour.to_numpy()[opened.cases[c.ROW].to_numpy()]
    for name, (start, end) in DAY_PARTS.items():
        expected = np.flatnonzero((hours >= start) & (hours < end))
        np.testing.assert_array_equal(cases_at_time(opened, [name]), expected)
    both = cases_at_time(opened, ["morning", "evening"], ["weekends"])
    assert set(both) == set(cases_at_time(opened, ["morning", "evening"])) & set(
        cases_at_time(opened, [], ["weekends"])
    )


def test_unknown_part() -> None:
    """One line names what there is."""
    with pytest.raises(ConfigError, match="'noon': night, morning"):
        cases_at_time(LoadedDataset.of(small_city()), ["noon"])
