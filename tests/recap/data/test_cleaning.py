"""The data protocol: by hand, against a plain-Python reading of it, and its laws."""

import re
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given

from recap import columns as c
from recap.data.cases import history_only
from recap.data.cleaning import (
    DROP_REASONS,
    MERGED,
    CleaningReport,
    DataConfig,
    cut_trajectories,
    find_merged,
    split_by_time,
)
from recap.errors import ConfigError, DataError
from recap.published.configs import published_config
from tests.checkins import LENIENT, START, clean_checkins, configs, raw_rows, raw_table

Rows = list[tuple[str, str, float]]


@pytest.mark.parametrize(("count", "train"), [(10, 8), (7, 5)])
def test_cuts_by_time_over_all_users(count: int, train: int) -> None:
    """Of 10 rows int(8) train and int(9) ends validation, of 7 int(5.6) and int(6.3), whoever's rows they are."""
    rows = [("ann" if hour % 2 else "bob", "home", float(hour)) for hour in range(count)]
    frame, report = clean_checkins(raw_table(rows), LENIENT)
    assert frame.sort_values(c.TIME)[c.SPLIT].tolist() == [0] * train + [1, 2]
    assert (report.raw, report.kept, report.checkins) == (count, count, count)


def test_same_second_rows_keep_file_order() -> None:
    """Two check-ins of one second stay in the order of the file, also across the cut between splits."""
    rows = [("ann", poi, hour) for poi, hour in zip("hwhwhwhhwh", [0.0, 1, 2, 3, 4, 5, 6, 7, 7, 8], strict=True)]
    frame, _ = clean_checkins(raw_table(rows), LENIENT)
    assert "".join(frame[c.POI_ID]) == "hwhwhwhhwh"
    assert frame[c.SPLIT].tolist() == [0] * 8 + [1, 2]
    swapped = [*rows[:7], rows[8], rows[7], rows[9]]
    frame, _ = clean_checkins(raw_table(swapped), LENIENT)
    assert "".join(frame[c.POI_ID]) == "hwhwhwhwhh"


def test_rare_pois_go_first_and_then_rare_users_once() -> None:
    """zoo (1 < 2) goes; that leaves cy with 1 < 2, who goes; gym, then with 1 row, stays: the filter runs once."""
    rows = [
        *(("ann", poi, float(hour)) for hour, poi in enumerate(["home", "work", "home", "work"])),
        ("ann", "gym", 4.5),
        ("cy", "zoo", 5.0),
        ("cy", "gym", 6.0),
    ]
    config = DataConfig(min_poi_checkins=2, min_user_checkins=2, min_trajectory_length=1, train_end=0.9, val_end=0.95)
    frame, report = clean_checkins(raw_table(rows), config)
    assert report.dropped["rare_poi"] == 1
    assert report.dropped["rare_user"] == 1
    assert report.kept == 5
    assert set(frame[c.USER_ID]) == {"ann"}
    assert Counter(frame[c.POI_ID])["gym"] == report.checkins - 4


def test_held_out_rows_are_dropped_in_the_order_of_the_protocol() -> None:
    """Twenty rows: 16 train, 2 validation, 2 test.

    cy appears only in test, in a trajectory of one row: too short comes before unseen user, and a user whom training
    does not know has no history to stay in. bob's test row is at zoo, which training never saw. ann's validation rows
    stay.
    """
    train = [(user, poi, float(hour)) for hour, (user, poi) in enumerate([("ann", "home"), ("bob", "work")] * 8)]
    rows = [*train, ("ann", "work", 17.0), ("ann", "home", 18.0), ("bob", "zoo", 19.0), ("cy", "home", 20.0)]
    config = LENIENT.model_copy(update={"min_trajectory_length": 3})
    frame, report = clean_checkins(raw_table(rows), config)
    assert report.dropped == dict.fromkeys(DROP_REASONS, 0) | {"short_trajectory": 1, "unseen_poi": 1}
    assert frame[frame[c.SPLIT] != c.TRAIN][c.POI_ID].tolist() == ["work", "home"]
    _, report = clean_checkins(raw_table(rows), LENIENT)
    assert list(report.dropped.values())[3:] == [0, 1, 1]
    _, report = clean_checkins(raw_table([*rows[:-1], ("cy", "zoo", 20.0)]), LENIENT)
    assert list(report.dropped.values())[3:] == [0, 1, 1], "users are looked at before POIs"


def test_short_trajectories_stay_as_history() -> None:
    """Twenty rows in hours 0 to 19, cut at 16 and 18. ann trains, then comes back a week later for two test rows.

    Her walk of two is too short for cases. It stays as history, except the row at zoo, where training never was; under
    ``cases_only`` both rows go. Training rows, and what cases are made of, are the same.
    """
    rows = [("ann", "home", float(hour)) for hour in range(18)] + [("ann", "home", 200.0), ("ann", "zoo", 201.0)]
    every = LENIENT.model_copy(update={"min_trajectory_length": 3})
    frame, report = clean_checkins(raw_table(rows), every)
    assert frame[c.HISTORY_ONLY].tolist() == [False] * 18 + [True]
    assert (report.checkins, report.history_only, report.dropped["short_trajectory"]) == (18, 1, 1)
    assert report.dropped["unseen_poi"] == 0

    frame, report = clean_checkins(raw_table(rows), every.model_copy(update={"history": "cases_only"}))
    assert c.HISTORY_ONLY not in frame
    assert (report.checkins, report.history_only, report.dropped["short_trajectory"]) == (18, 0, 2)


def test_merging_counts_from_the_last_one_kept_or_by_the_clock() -> None:
    """Seconds 0, 30, 60, 90 with a limit of 45: 30 joins 0, 60 does not, 90 joins 60; 100 and 130 are of another.

    Same minute: 59 and 61 are two seconds apart and in two minutes; 61 and 119 are in one.
    """
    user, seconds = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 30, 60, 90, 100, 130])
    gap = DataConfig(merge_seconds=45)
    assert find_merged(user, seconds, gap).tolist() == [False, True, False, True, False, True]
    assert find_merged(user, seconds, DataConfig(merge_seconds=30)).tolist() == [False, True, False, True, False, True]
    assert find_merged(user, seconds, DataConfig(merge_seconds=29)).tolist() == [False] * 6
    assert find_merged(user, seconds, DataConfig()).tolist() == [False] * 6
    seconds, clock = np.array([59, 61, 119]), DataConfig(merge_seconds=60, merge_by="clock")
    assert find_merged(np.array([0, 0, 0]), seconds, clock).tolist() == [False, False, True]
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


def test_exact_duplicates_are_counted_and_dropped_only_on_request() -> None:
    """Same user, POI and second: the first row in file order stays; another category does not make it another row."""
    rows = [("ann", "home", float(hour)) for hour in range(10)] + [("ann", "home", 3.0), ("ann", "work", 3.0)]
    _, report = clean_checkins(raw_table(rows), LENIENT)
    assert (report.exact_duplicates, report.dropped["exact_duplicate"], report.checkins) == (1, 0, 12)
    frame, report = clean_checkins(raw_table(rows), LENIENT.model_copy(update={"drop_exact_duplicates": True}))
    assert (report.exact_duplicates, report.dropped["exact_duplicate"], report.checkins) == (1, 1, 11)
    assert 10 not in frame[c.SOURCE_ROW].tolist()


def plain_protocol(rows: Rows, config: DataConfig) -> list[tuple[int, int, int, bool]] | None:
    """(source row, split, trajectory, history only) of the surviving rows by loops over Python lists.

    None where no training case is left.
    """
    alive = [(hour, i, user, poi) for i, (user, poi, hour) in enumerate(rows)]
    if config.drop_exact_duplicates:
        first: dict[Any, int] = {}
        for hour, i, user, poi in alive:
            first.setdefault((user, poi, hour), i)
        alive = [row for row in alive if first[(row[2], row[3], row[0])] == row[1]]
    for key, minimum in ((3, config.min_poi_checkins), (2, config.min_user_checkins)):
        counts = Counter(row[key] for row in alive)
        alive = [row for row in alive if counts[row[key]] >= minimum]
    alive.sort(key=lambda row: (row[2], row[0], row[1]))
    alive = plainly_merged(alive, config)
    trajectory: dict[int, int] = {}
    for k, row in enumerate(alive):
        before = alive[k - 1]
        new = k == 0 or before[2] != row[2] or row[0] - before[0] > config.trajectory_gap_hours
        trajectory[row[1]] = (trajectory[before[1]] if k else -1) + new
    split = plainly_split(alive, trajectory, config)

    def held_out(row: Any) -> bool:
        return split[row[1]] != c.TRAIN

    short: set[int] = set()
    for what in ("short", "unseen") if config.removal_order == "short_first" else ("unseen", "short"):
        if what == "unseen":
            for key in (2, 3):
                seen = {row[key] for row in alive if not held_out(row)}
                alive = [row for row in alive if not held_out(row) or row[key] in seen]
            continue
        length = Counter(trajectory[row[1]] for row in alive)
        short = {r[1] for r in alive if held_out(r) and length[trajectory[r[1]]] < config.min_trajectory_length}
        if config.history == "cases_only":
            alive = [row for row in alive if row[1] not in short]
    pairs = pairwise(alive)
    if not any(trajectory[a[1]] == trajectory[b[1]] and not held_out(b) for a, b in pairs):
        return None
    return [(row[1], split[row[1]], trajectory[row[1]], row[1] in short) for row in alive]


def plainly_merged(alive: list[Any], config: DataConfig) -> list[Any]:
    """Rows by (user, hour) without those that belong to the last one kept, or to the same hour or two of a clock."""
    left: list[Any] = []
    start = int(START.timestamp())
    for row in alive:
        if config.merge_seconds and left and left[-1][2] == row[2]:
            now, kept = start + round(3600 * row[0]), start + round(3600 * left[-1][0])
            if config.merge_by == "gap" and now - kept <= config.merge_seconds:
                continue
            if config.merge_by == "clock" and now // config.merge_seconds == kept // config.merge_seconds:
                continue
        left.append(row)
    return left


def plainly_split(alive: list[Any], trajectory: dict[int, int], config: DataConfig) -> dict[int, int]:
    """Split of each row: things in time order, the first int(train_end n) of them train."""
    things: dict[Any, Any] = {}
    for hour, row, *_ in alive:
        if config.split_by == "checkins":
            things[row] = (hour, row)
        elif config.split_by == "trajectory_start":
            things.setdefault(trajectory[row], (hour, trajectory[row]))
        else:
            things[trajectory[row]] = (hour, trajectory[row])
    n, ordered = len(things), sorted(things, key=things.__getitem__)
    of = {thing: (k >= int(config.train_end * n)) + (k >= int(config.val_end * n)) for k, thing in enumerate(ordered)}
    return {row: of[row if config.split_by == "checkins" else trajectory[row]] for _, row, *_ in alive}


@given(raw_rows(), configs)
def test_equals_the_protocol_in_plain_python(rows: Rows, config: DataConfig) -> None:
    """Rows, splits and trajectories agree with loops that a reader can check against the protocol's text."""
    expected = plain_protocol(rows, config)
    try:
        frame, _ = clean_checkins(raw_table(rows), config)
    except DataError:
        assert not expected
        return
    found = zip(frame[c.SOURCE_ROW], frame[c.SPLIT], frame[c.TRAJECTORY], history_only(frame), strict=True)
    assert expected == list(found)


def cleaned(rows: Rows, config: DataConfig) -> tuple[pd.DataFrame, CleaningReport]:
    try:
        return clean_checkins(raw_table(rows), config)
    except DataError:
        assume(False)
        raise


@given(raw_rows(), configs)
def test_splits_are_disjoint_and_ordered_in_time(rows: Rows, config: DataConfig) -> None:
    """Each surviving row is in one split, and no earlier split reaches into a later one.

    Where whole trajectories are shared out this holds for each user; trajectories of several users overlap.
    """
    frame, _ = cleaned(rows, config)
    assert frame[c.SOURCE_ROW].is_unique
    parts = [frame] if config.split_by == "checkins" else [part for _, part in frame.groupby(c.USER_ID, observed=True)]
    for part in parts:
        spans = part.groupby(c.SPLIT)[c.TIME].agg(["min", "max"])
        assert all(a < b for a, b in zip(spans["max"].iloc[:-1], spans["min"].iloc[1:], strict=True))
    if config.split_by != "checkins":
        assert not frame[[c.TRAJECTORY, c.SPLIT]].drop_duplicates()[c.TRAJECTORY].duplicated().any()


@given(raw_rows(), configs)
def test_every_row_is_accounted_for(rows: Rows, config: DataConfig) -> None:
    """raw = check-ins + history only + what was dropped, and kept = raw minus what the filters took."""
    frame, report = cleaned(rows, config)
    assert report.raw == len(rows)
    assert report.raw == report.checkins + report.history_only + sum(report.dropped.values())
    assert report.history_only == history_only(frame).sum() and report.checkins == len(frame) - report.history_only
    filters = ("rare_poi", "rare_user", "exact_duplicate")
    assert report.kept == report.raw - sum(report.dropped[reason] for reason in filters)
    assert (MERGED in report.dropped) == bool(config.merge_seconds)


@given(raw_rows(), configs)
def test_the_rule_of_history_changes_nothing_but_history(rows: Rows, config: DataConfig) -> None:
    """Rows that cases are made of, their splits and the counts of the report agree; only whole rows are set aside."""
    every = config.model_copy(update={"history": "every_checkin"})
    only = config.model_copy(update={"history": "cases_only"})
    cleaned(rows, config)
    (full, full_report), (cases, cases_report) = (clean_checkins(raw_table(rows), it) for it in (every, only))
    columns = [c.SOURCE_ROW, c.SPLIT, c.TRAJECTORY]
    pd.testing.assert_frame_equal(full.loc[~history_only(full), columns], cases[columns])
    assert (full.loc[history_only(full), c.SPLIT] != c.TRAIN).all()
    assert full_report.checkins == cases_report.checkins
    for reason, count in cases_report.dropped.items():
        gone = full_report.dropped[reason]
        assert gone == (count - full_report.history_only if reason == "short_trajectory" else count), reason


@given(raw_rows(), configs)
def test_relabelled_users_and_pois_change_nothing_else(rows: Rows, config: DataConfig) -> None:
    """Names only order users; splits and the sets of rows that form a trajectory stay."""
    names = {"ann": "z", "bob": "m", "cy": "b", "home": "9", "work": "8", "gym": "7", "bar": "6", "zoo": "5"}
    renamed = [(names[user], names[poi], hour) for user, poi, hour in rows]
    partitions = []
    for table, _ in (cleaned(rows, config), cleaned(renamed, config)):
        split = dict(zip(table[c.SOURCE_ROW], table[c.SPLIT], strict=True))
        walks = {tuple(walk) for _, walk in table.groupby(c.TRAJECTORY)[c.SOURCE_ROW]}
        partitions.append((split, walks))
    assert partitions[0] == partitions[1]


FEW = [("ann", "home", 0.0), ("ann", "work", 1.0), ("bob", "home", 2.0)]


@pytest.mark.parametrize(
    ("rows", "config", "said"),
    [
        (FEW, DataConfig(), r"no POI has at least 10 .*the most is 2.*min_poi_checkins"),
        (FEW, DataConfig(min_poi_checkins=1), r"no user has at least 10 .*the most is 2.*min_user_checkins"),
        ([("ann", "home", 0.0)] * 3, LENIENT, "all 3 check-ins happen at 2012-04-02 08:00:00 UTC"),
        ([("ann", "home", 100.0 * day) for day in range(5)], LENIENT, "no training case"),
        ([], LENIENT, "no POI"),
    ],
)
def test_refuses_what_leaves_nothing(rows: Rows, config: DataConfig, said: str) -> None:
    """A filter's message names the best there is and the setting to lower; a split needs times, training a pair."""
    with pytest.raises(DataError, match=said):
        clean_checkins(raw_table(rows), config)


@pytest.mark.parametrize("hours", [25, 30, 51, 75, 200])
def test_no_case_within_a_day_names_the_hours_that_help(hours: int) -> None:
    """And what ranks without them; with the setting that is named there are cases."""
    rows = [(user, place, 1.0 * hours * at) for user in "uv" for at, place in enumerate("abababababab")]
    with pytest.raises(DataError, match="--protocol every_next") as refused:
        clean_checkins(raw_table(rows), LENIENT)
    (setting,) = re.findall(r"--set (trajectory_gap_hours=\d+)", str(refused.value))
    frame, _ = clean_checkins(raw_table(rows), LENIENT.override([setting]))
    assert frame[c.TRAJECTORY].nunique() == 2


@pytest.mark.parametrize(
    ("assignments", "part"),
    [
        (["train_end=1.5"], "train_end"),
        (["train_end=0.9", "val_end=0.8"], "val_end 0.8"),
        (["trajectory_gap_hours=nan"], "trajectory_gap_hours"),
        (["min_poi_checkins.deep=1"], "unknown field"),
        (["drop_exact_duplicates=perhaps"], "'perhaps'"),
        (["merge_seconds=-1"], "merge_seconds"),
    ],
)
def test_refuses_bad_configuration(assignments: list[str], part: str) -> None:
    """Unknown and out-of-range fields are named, with what came."""
    with pytest.raises(ConfigError) as refusal:
        DataConfig().override(assignments)
    assert part in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_overrides_are_typed() -> None:
    """Text becomes the field's type; commas separate values, and one of another kind is named."""
    config = DataConfig().override(["min_poi_checkins=3", "drop_exact_duplicates=true", "train_end=.5"])
    assert (config.min_poi_checkins, config.drop_exact_duplicates, config.train_end) == (3, True, 0.5)
    assert np.isclose(config.val_end, 0.9)
    replay = published_config("replay").override(["decay_epochs=6, 8,10"])
    assert replay.decay_epochs == (6, 8, 10) and replay.override(["decay_epochs="]).decay_epochs == ()
    with pytest.raises(ConfigError, match=r"decay_epochs\.1: .* got 'x'"):
        replay.override(["decay_epochs=6,x"])
