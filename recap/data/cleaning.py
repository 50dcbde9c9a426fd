"""The data protocol: filter, merge, cut trajectories, split by time, and account for every row.

Shape suffix: T check-ins, as aligned arrays sorted by (user, time, source row).
"""

from collections.abc import Sequence
from typing import Final, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from recap import columns as c
from recap.config import Config
from recap.errors import ConfigError, DataError

DROP_REASONS: Final = ("rare_poi", "rare_user", "exact_duplicate", "short_trajectory", "unseen_user", "unseen_poi")
"""Why a raw row is not in the dataset, in the report's order."""

MERGED: Final = "merged"
"""One more reason, in reports of protocols that merge."""

History = Literal["every_checkin", "cases_only"]
SplitBy = Literal["checkins", "trajectory_start", "trajectory_end"]
_SHARE_WITHIN: Final = 0.9


class DataConfig(Config):
    """How raw check-ins become a dataset (paper, App. B; docs/paper.md for our readings)."""

    merge_seconds: int = Field(
        0, ge=0, description="A user's check-in this near in time to an earlier one is merged into it; 0 merges none."
    )
    merge_by: Literal["gap", "clock"] = Field(
        "gap",
        description="gap: at most so many seconds after the last one kept; clock: in the same slice of that length.",
    )
    trajectory_gap_hours: float = Field(24, gt=0, description="A longer gap starts a new trajectory.")
    split_by: SplitBy = Field(
        "checkins", description="What is put in time order and shared out: check-ins, or trajectories by start or end."
    )
    train_end: float = Field(0.8, gt=0, lt=1, description="Share of them, in time order, that are training.")
    val_end: float = Field(0.9, gt=0, le=1, description="Share of them where validation ends and test begins.")
    min_poi_checkins: int = Field(10, ge=1, description="POIs with fewer check-ins are dropped first.")
    min_user_checkins: int = Field(10, ge=1, description="Then users with fewer check-ins are dropped, once.")
    drop_exact_duplicates: bool = Field(False, description="Drop repeats of (user, POI, second) before filtering.")
    min_trajectory_length: int = Field(
        3, ge=1, description="Validation and test check-ins in shorter trajectories open no cases; training keeps them."
    )
    history: History = Field(
        "every_checkin",
        description="every_checkin: those of too short trajectories stay in their user's history; cases_only: they go.",
    )
    removal_order: Literal["short_first", "unseen_first"] = Field(
        "short_first",
        description="What goes first, short trajectories or users and POIs unseen in training; lengths count the rest.",
    )
    keep_given_split: bool = Field(
        True,
        description="A split (and trajectories) that came with the data stays: no minimum counts, no cuts of our own.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.val_end < self.train_end:
            raise ValueError(f"val_end {self.val_end} must not be below train_end {self.train_end}")
        return self


_PRESETS: Final = {
    "default": DataConfig(),
    "every_place": DataConfig(min_poi_checkins=1, min_user_checkins=1),
    "nyc_paper": DataConfig(
        merge_seconds=60,
        merge_by="clock",
        trajectory_gap_hours=48,
        split_by="trajectory_end",
        removal_order="unseen_first",
    ),
}
"""``every_place`` keeps every user and place: for your own table, because a curve needs no minimum of check-ins.
``nyc_paper`` comes near the cases of the paper's NYC tables (961, not 958): trajectories by gaps of 48 h, split by
their end, same-minute check-ins merged."""


def data_preset(name: str) -> DataConfig:
    """The data protocol by name; the paper's datasets all have ``default``. Raises ConfigError: unknown name."""
    if name not in _PRESETS:
        raise ConfigError(f"unknown data preset {name!r}; choose one of {', '.join(_PRESETS)}")
    return _PRESETS[name]


class CleaningReport(Config):
    """What became of every raw row: ``raw == checkins + history_only + sum(dropped.values())``. Under ``every_checkin``
    a ``short_trajectory`` is a row that cannot stay as history: training does not know its user or its POI.
    """

    raw: int
    exact_duplicates: int
    kept: int
    checkins: int
    history_only: int = 0
    dropped: dict[str, int]


def number_rows(raw: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A raw table as numbers, sorted by (user, time, source row), which is the index, and the ids of users and POIs by
    number (see `number_ids`). Times are seconds; a split and trajectories that came with the data are codes.
    """
    (user, user_ids), (poi, poi_ids) = number_ids(raw[c.USER_ID]), number_ids(raw[c.POI_ID])
    seconds, offset = raw[c.TIME].to_numpy("datetime64[s]").astype(np.int64), raw[c.TZ_OFFSET_MINUTES]
    columns = {c.USER: user, c.POI: poi, c.TIME: seconds, c.TZ_OFFSET_MINUTES: offset.to_numpy(np.int16)}
    if c.SPLIT in raw:
        columns[c.SPLIT] = raw[c.SPLIT].to_numpy(np.int8)
    if c.TRAJECTORY_ID in raw:
        columns[c.TRAJECTORY_ID] = pd.factorize(raw[c.TRAJECTORY_ID])[0]
    order = np.lexsort((seconds, user))  # stable: ties keep the file's order
    return pd.DataFrame(columns, copy=False).take(order), user_ids, poi_ids


def number_ids(ids: pd.Series, known: Sequence[str] | pd.Series = ()) -> tuple[np.ndarray, np.ndarray]:
    """Number ids from 0: known ones as they are, then the others that occur in lexicographic order. Returns int32 index
    of each row, and the ids by index.
    """
    codes, uniques = pd.factorize(ids)
    names, before = pd.Index([*map(str, uniques)], dtype=object), pd.Index(known, dtype=object)
    every = before.append(names.difference(before, sort=True))
    return every.get_indexer(names).astype(np.int32)[codes], every.to_numpy()


def clean_rows(rows: pd.DataFrame, config: DataConfig) -> tuple[pd.DataFrame, pd.DataFrame, CleaningReport]:
    """Apply the protocol to the rows of `number_rows`; of rows with a split only those that training does not know are
    dropped. Returns the rows left, with split, trajectory and history only, those dropped because training has not seen
    their user or POI, in the same order, and the report. Raises DataError: nothing is left after a filter, all
    check-ins share one instant, or no training case remains.
    """
    is_given = config.keep_given_split and c.SPLIT in rows
    num_raw, is_repeat, dropped = len(rows), _repeats(rows), dict.fromkeys(DROP_REASONS, 0)
    if config.drop_exact_duplicates:
        rows = _drop(rows, is_repeat, "exact_duplicate", dropped)
    for column, minimum, noun in ((c.POI, config.min_poi_checkins, "POI"), (c.USER, config.min_user_checkins, "user")):
        counts, least = np.bincount(rows[column]), 1 if is_given else minimum
        if counts.max(initial=0) < least:
            raise DataError(
                f"no {noun} has at least {least} check-ins (the most is {counts.max(initial=0)}); "
                f"lower min_{column}_checkins"
            )
        rows = _drop(rows, counts[rows[column]] < least, f"rare_{column}", dropped)
    kept = len(rows)
    if (first := rows[c.TIME].min()) == rows[c.TIME].max():
        raise DataError(
            f"all {kept} check-ins happen at {pd.Timestamp(first, unit='s'):%Y-%m-%d %H:%M:%S} UTC; "
            "a split by time needs different times"
        )
    if config.merge_seconds and not is_given:
        is_merged = find_merged(rows[c.USER].to_numpy(), rows[c.TIME].to_numpy(), config)
        rows = _drop(rows, is_merged, MERGED, dropped)
    user, seconds = rows[c.USER].to_numpy(), rows[c.TIME].to_numpy()
    trajectory = cut_trajectories(user, seconds, config)
    if is_given and c.TRAJECTORY_ID in rows:
        is_new = (np.diff(user) != 0) | (np.diff(rows[c.TRAJECTORY_ID]) != 0)
        trajectory = np.cumsum(np.append(True, is_new)) - 1
    split = rows[c.SPLIT] if is_given else split_by_time(seconds, rows.index.to_numpy(), trajectory, config)
    rows = rows.assign(**{c.SPLIT: split, c.TRAJECTORY: trajectory})
    left, unseen = _hold_out(rows, config, 1 if is_given else config.min_trajectory_length, dropped)
    is_pair = np.diff(left[c.TRAJECTORY]) == 0
    if not (is_pair & (left[c.SPLIT].to_numpy()[1:] == c.TRAIN)).any():
        raise DataError(
            "no training case is left: no user has two training check-ins within "
            f"{config.trajectory_gap_hours:g} h of each other; {advise_gap(*left[[c.USER, c.TIME]].to_numpy().T)}"
        )
    aside = int(left[c.HISTORY_ONLY].sum())
    ends = {"checkins": len(left) - aside, "history_only": aside, "dropped": dropped}
    report = CleaningReport(raw=num_raw, exact_duplicates=int(is_repeat.sum()), kept=kept, **ends)
    left, unseen = (part.assign(**{c.TIME: part[c.TIME].astype("datetime64[s, UTC]")}) for part in (left, unseen))
    return left, unseen, report


def _drop(rows: pd.DataFrame, is_gone: np.ndarray, reason: str, dropped: dict[str, int]) -> pd.DataFrame:
    dropped[reason] = int(is_gone.sum())
    return rows[~is_gone] if dropped[reason] else rows


def _repeats(rows: pd.DataFrame) -> np.ndarray:
    """Which rows repeat user, POI and second of an earlier one."""
    is_same = np.append(False, (np.diff(rows[c.USER]) == 0) & (np.diff(rows[c.TIME]) == 0))[: len(rows)]
    repeats: np.ndarray = is_same | np.append(is_same[1:], False)[: len(rows)]
    repeats[repeats] = rows[repeats].duplicated([c.USER, c.POI, c.TIME])
    return repeats


def _hold_out(
    rows: pd.DataFrame, config: DataConfig, min_length: int, dropped: dict[str, int]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Remove or set aside validation and test rows that make no cases, and count them, each for one reason; the rows
    left, and those that training has not seen.
    """
    is_held_out, trajectory = rows[c.SPLIT].to_numpy() != c.TRAIN, rows[c.TRAJECTORY].to_numpy()
    is_new_user, is_new_poi = (is_held_out & ~np.isin(rows[name], rows[name][~is_held_out]) for name in (c.USER, c.POI))
    is_unseen, is_first = is_new_user | is_new_poi, config.removal_order == "short_first"
    length = np.bincount(trajectory, weights=None if is_first else ~is_unseen)
    is_short = is_held_out & (length[trajectory] < min_length) & (is_first | ~is_unseen)
    dropped["unseen_user"] = int((is_new_user & ~is_short).sum())
    dropped["unseen_poi"] = int((is_new_poi & ~is_new_user & ~is_short).sum())
    stays = is_short if config.history == "every_checkin" else np.zeros(len(rows), bool)
    dropped["short_trajectory"] = int((is_short & (is_unseen | ~stays)).sum())
    rows = rows.assign(**{c.HISTORY_ONLY: stays})
    return rows[~is_unseen & (stays | ~is_short)], rows[is_unseen & (stays | ~is_short)]


def find_merged(user_T: np.ndarray, seconds_T: np.ndarray, config: DataConfig) -> np.ndarray:
    """Which check-ins are merged into an earlier one of their user, at any place; bool, one per row."""
    limit, same_user = config.merge_seconds, np.append(False, user_T[1:] == user_T[:-1])
    if config.merge_by == "clock":
        return same_user & np.append(False, seconds_T[1:] // limit == seconds_T[:-1] // limit)
    merged, kept = np.zeros(len(user_T), dtype=bool), 0
    for row, (is_same, second) in enumerate(zip(same_user.tolist(), seconds_T.tolist(), strict=True)):
        merged[row] = is_same and second - kept <= limit
        kept = kept if merged[row] else second
    return merged


def cut_trajectories(user_T: np.ndarray, seconds_T: np.ndarray, config: DataConfig) -> np.ndarray:
    """Trajectory of each check-in, numbered from 0; a new user and a gap longer than the limit start one."""
    is_new = (np.diff(user_T) != 0) | (np.diff(seconds_T) > config.trajectory_gap_hours * 3600)
    trajectory_T: np.ndarray = np.cumsum(np.append(True, is_new)) - 1
    return trajectory_T


def advise_gap(user_T: np.ndarray, seconds_T: np.ndarray) -> str:
    """What gives cases where no next check-in comes within the limit; rows are in order of (user, time)."""
    gaps = np.diff(seconds_T)[np.diff(user_T) == 0] / 3600
    if not len(gaps):
        return "no user has two check-ins: bring more data, or lower the minimum counts"
    hours = int(np.ceil(np.quantile(gaps, _SHARE_WITHIN)))
    return (
        f"nine in ten next check-ins come within {hours:,} h, so prepare with --set trajectory_gap_hours={hours}; "
        "--protocol every_next then ranks the next check-in after any gap"
    )


def split_by_time(
    seconds_T: np.ndarray, source_row_T: np.ndarray, trajectory_T: np.ndarray, config: DataConfig
) -> np.ndarray:
    """Split codes (int8) of check-ins: the first ``int(train_end n)`` of n in time order are training, and so on. Ties
    go by source row, or by trajectory number.
    """
    if config.split_by == "checkins":
        order = np.lexsort((source_row_T, seconds_T))
    else:
        first = np.flatnonzero(np.append(True, np.diff(trajectory_T) != 0))
        last = np.append(first[1:], len(trajectory_T)) - 1
        moment = seconds_T[first if config.split_by == "trajectory_start" else last]
        order = np.argsort(moment, kind="stable")
    split = np.zeros(len(order), np.int8)
    for end in (config.train_end, config.val_end):
        split[order[int(end * len(order)) :]] += 1
    return split if config.split_by == "checkins" else split[trajectory_T]
