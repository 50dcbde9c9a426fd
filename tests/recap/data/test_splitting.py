"""Merging, trajectories and splits, on rows that can be counted on fingers."""

import numpy as np

from recap.data.cleaning import DataConfig, cut_trajectories, find_merged, split_by_time
from tests.checkins import clean_checkins, raw_table


def test_merging_counts_from_the_last_one_kept() -> None:
    """Seconds 0, 30, 60, 90 with a limit of 45: 30 joins 0, 60 does not, 90 joins 60; 100 and 130 are of another."""
    user, seconds = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 30, 60, 90, 100, 130])
    gap = DataConfig(merge_seconds=45)
    assert find_merged(user, seconds, gap).tolist() == [False, True, False, True, False, True]
    assert find_merged(user, seconds, DataConfig(merge_seconds=30)).tolist() == [False, True, False, True, False, True]
    assert find_merged(user, seconds, DataConfig(merge_seconds=29)).tolist() == [False] * 6
    assert find_merged(user, seconds, DataConfig()).tolist() == [False] * 6


def test_merging_by_the_clock() -> None:
    """Same minute: 59 and 61 are two seconds apart and in two minutes; 61 and 119 are in one."""
    user, seconds = np.zeros(3, dtype=np.int64), np.array([59, 61, 119])
    clock = DataConfig(merge_seconds=60, merge_by="clock")
    assert find_merged(user, seconds, clock).tolist() == [False, False, True]
    assert find_merged(np.array([0, 0, 1]), seconds, clock).tolist() == [False, False, False]


def test_splits_by_hand() -> None:
    """Three trajectories, of rows 0-1, 2 and 3-4, cut at int(.34 x 3) = 1 and int(.67 x 3) = 2."""
    config = DataConfig(train_end=0.34, val_end=0.67, trajectory_gap_hours=1, split_by="trajectory_end")
    hours = np.array([0, 1, 9, 2, 3])
    user = np.array([0, 0, 0, 1, 1])
    trajectory = cut_trajectories(user, hours * 3600, config)
    assert trajectory.tolist() == [0, 0, 1, 2, 2]
    assert split_by_time(hours, np.arange(5), trajectory, config).tolist() == [0, 0, 2, 1, 1]
    by_row = config.override(["split_by=checkins"])
    # Five rows, cut at 1 and 3, in the order of hours 0 1 2 3 9.
    assert split_by_time(hours, np.arange(5), trajectory, by_row).tolist() == [0, 1, 2, 1, 2]


def test_what_is_removed_first_decides_how_long_a_trajectory_is() -> None:
    """A test walk home, zoo, work where training was never at the zoo: three long before the zoo goes, two after."""
    rows = [("ann", ("home", "work")[hour % 2], float(hour)) for hour in range(17)]
    rows += [("ann", place, 200.0 + hour) for hour, place in enumerate(("home", "zoo", "work"))]
    config = DataConfig(min_poi_checkins=1, min_user_checkins=1, history="cases_only", train_end=0.85, val_end=0.85)
    _, report = clean_checkins(raw_table(rows), config)
    assert (report.checkins, report.dropped["unseen_poi"], report.dropped["short_trajectory"]) == (19, 1, 0)
    unseen_first = config.override(["removal_order=unseen_first"])
    _, report = clean_checkins(raw_table(rows), unseen_first)
    assert (report.checkins, report.dropped["unseen_poi"], report.dropped["short_trajectory"]) == (17, 1, 2)
    _, report = clean_checkins(raw_table(rows), unseen_first.override(["history=every_checkin"]))
    assert (report.checkins, report.history_only, report.dropped["short_trajectory"]) == (17, 2, 0)
