"""The data protocol: filter, split by time, cut trajectories, and account for every row."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from recap import columns as c
from recap.config import Config
from recap.data.splitting import SplitConfig, advise_gap, cut_trajectories, find_merged, split_by_time
from recap.errors import ConfigError, DataError

DROP_REASONS: Final = ("rare_poi", "rare_user", "exact_duplicate", "short_trajectory", "unseen_user", "unseen_poi")
"""Why a raw row is not in the dataset, in the report's order."""

MERGED: Final = "merged"
"""One more reason, in reports of protocols that merge."""

History = Literal["every_checkin", "cases_only"]
FilterOrder = Literal["short_first", "unseen_first"]


class DataConfig(SplitConfig):
    """How raw check-ins become a dataset (paper, App. B; docs/paper.md for our readings)."""

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
    removal_order: FilterOrder = Field(
        "short_first",
        description="What goes first, short trajectories or users and POIs unseen in training; lengths count the rest.",
    )
    keep_given_split: bool = Field(
        True,
        description="A split (and trajectories) that came with the data stays: no minimum counts, no cuts of our own.",
    )


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


@dataclass(frozen=True, eq=False)
class RawRows:
    """Check-ins as numbers, in the order of the file. ``user, poi``: see `number_ids`. ``split, given``: codes of a
    split and a trajectory that came with the data.
    """

    user: np.ndarray
    poi: np.ndarray
    seconds: np.ndarray
    split: np.ndarray | None = None
    given: np.ndarray | None = None


def number_rows(raw: pd.DataFrame) -> tuple[RawRows, np.ndarray, np.ndarray]:
    """Number a raw table; also returns the ids of users and POIs by number."""
    (user, user_ids), (poi, poi_ids) = number_ids(raw[c.USER_ID]), number_ids(raw[c.POI_ID])
    rows = RawRows(
        user=user,
        poi=poi,
        seconds=raw[c.TIME].to_numpy("datetime64[s]").astype(np.int64),
        split=raw[c.SPLIT].to_numpy(np.int8) if c.SPLIT in raw else None,
        given=pd.factorize(raw[c.TRAJECTORY_ID])[0] if c.TRAJECTORY_ID in raw else None,
    )
    return rows, user_ids, poi_ids


def clean_rows(raw: RawRows, config: DataConfig) -> tuple["Rows", "Rows", CleaningReport]:
    """Apply the protocol; of rows with a split only those that training does not know are dropped. Returns the rows
    left, those dropped because training has not seen their user or POI, both sorted by (user, time, source row), and
    the report. Raises DataError: nothing is left after a filter, all check-ins share one instant, or no training case
    remains.
    """
    is_given = config.keep_given_split and raw.split is not None
    user, poi, seconds = raw.user, raw.poi, raw.seconds
    is_duplicate = _repeats(raw)
    dropped = dict.fromkeys(DROP_REASONS, 0)
    rows = _frequent(raw, is_duplicate, config, dropped, is_given=is_given)
    kept = len(rows)
    if (first := seconds[rows].min()) == seconds[rows].max():
        raise DataError(
            f"all {kept} check-ins happen at {pd.Timestamp(first, unit='s'):%Y-%m-%d %H:%M:%S} UTC; "
            "a split by time needs different times"
        )
    order = _in_order(raw, rows)
    if config.merge_seconds and not is_given:
        merged = find_merged(user[order], seconds[order], config)
        dropped[MERGED] = int(merged.sum())
        order = order[~merged]
    trajectory = cut_trajectories(user[order], seconds[order], config)
    if is_given:
        assert raw.split is not None
        split = raw.split[order]
        if raw.given is not None:
            is_new = (np.diff(user[order]) != 0) | (np.diff(raw.given[order]) != 0)
            trajectory = np.cumsum(np.append(True, is_new)) - 1
    else:
        split = split_by_time(seconds[order], order, trajectory, config)

    train = order[split == c.TRAIN]
    seen = {
        name: (codes, np.bincount(codes[train], minlength=codes.max(initial=-1) + 1) > 0)
        for name, codes in ((c.USER, user), (c.POI, poi))
    }
    left = Rows(order, split, trajectory, np.zeros(len(order), dtype=bool))
    left, unseen = remove(left, seen, config, 1 if is_given else config.min_trajectory_length, dropped)
    is_pair = left.trajectory[1:] == left.trajectory[:-1]
    if not (is_pair & (left.split[1:] == c.TRAIN)).any():
        raise DataError(
            "no training case is left: no user has two training check-ins within "
            f"{config.trajectory_gap_hours:g} h of each other; {advise_gap(user[left.row], seconds[left.row])}"
        )
    report = CleaningReport(
        raw=len(user),
        exact_duplicates=int(is_duplicate.sum()),
        kept=kept,
        checkins=int((~left.is_aside).sum()),
        history_only=int(left.is_aside.sum()),
        dropped=dropped,
    )
    return left, unseen.take(np.lexsort((unseen.row, seconds[unseen.row], user[unseen.row]))), report


def _frequent(
    raw: RawRows, is_duplicate: np.ndarray, config: DataConfig, dropped: dict[str, int], *, is_given: bool
) -> np.ndarray:
    """Rows left without duplicates, rare places and rare users; ``dropped`` gets their numbers."""
    rows = np.arange(len(raw.user), dtype=np.int64)
    if config.drop_exact_duplicates:
        rows = rows[~is_duplicate]
        dropped["exact_duplicate"] = int(is_duplicate.sum())
    for codes, minimum, reason, noun in (
        (raw.poi, config.min_poi_checkins, "rare_poi", "POI"),
        (raw.user, config.min_user_checkins, "rare_user", "user"),
    ):
        counts, least = np.bincount(codes[rows]), 1 if is_given else minimum
        if counts.max(initial=0) < least:
            raise DataError(
                f"no {noun} has at least {least} check-ins (the most is {counts.max(initial=0)}); "
                f"lower min_{noun.lower()}_checkins"
            )
        keep = counts[codes[rows]] >= least
        dropped[reason] = int((~keep).sum())
        rows = rows[keep]
    return rows


def _in_order(raw: RawRows, rows: np.ndarray) -> np.ndarray:
    user, seconds = raw.user[rows], raw.seconds[rows]
    step = np.diff(user)
    if ((step > 0) | ((step == 0) & (np.diff(seconds) >= 0))).all():
        return rows
    return rows[np.lexsort((seconds, user))]  # stable: ties keep the file's order


def _repeats(raw: RawRows) -> np.ndarray:
    """Rows that repeat user, POI and second of an earlier one."""
    order = _in_order(raw, np.arange(len(raw.user), dtype=np.int64))
    user, seconds = raw.user[order], raw.seconds[order]
    as_before = (user[1:] == user[:-1]) & (seconds[1:] == seconds[:-1])
    tied = np.zeros(len(order), dtype=bool)
    tied[1:] |= as_before
    tied[:-1] |= as_before
    among = order[tied]
    keys = pd.DataFrame({c.USER: raw.user[among], c.POI: raw.poi[among], "seconds": raw.seconds[among]})
    repeats = np.zeros(len(order), dtype=bool)
    repeats[among] = keys.duplicated().to_numpy()
    return repeats


def number_ids(ids: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Number ids from 0 in lexicographic order of those that occur. Returns int32 index of each row, and the ids by
    index.
    """
    codes, uniques = pd.factorize(ids)
    names = np.asarray(uniques).astype(str)
    order = np.argsort(names, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank[codes], names[order].astype(object)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows during cleaning, sorted by (user, time, row), their positions in the original table. ``is_aside``: rows that
    stay as history only.
    """

    row: np.ndarray
    split: np.ndarray
    trajectory: np.ndarray
    is_aside: np.ndarray

    def take(self, which: np.ndarray) -> "Rows":
        return Rows(*(getattr(self, field.name)[which] for field in fields(self)))


def remove(
    rows: Rows,
    seen: Mapping[str, tuple[np.ndarray, np.ndarray]],
    config: DataConfig,
    min_length: int,
    dropped: dict[str, int],
) -> tuple[Rows, Rows]:
    """Remove or set aside validation and test rows that make no cases, and count them. ``seen``: for `columns.USER` and
    `columns.POI` each row's code, and whether training has each code. Returns the rows left and those unseen.
    """
    found: list[Rows] = []

    def short(rows: Rows) -> Rows:
        is_short = (np.bincount(rows.trajectory)[rows.trajectory] < min_length) & (rows.split != c.TRAIN)
        if config.history == "every_checkin":
            return replace(rows, is_aside=is_short)
        dropped["short_trajectory"] += int(is_short.sum())
        return rows.take(~is_short)

    def unseen(rows: Rows) -> Rows:
        for reason, (codes, is_seen) in (("unseen_user", seen[c.USER]), ("unseen_poi", seen[c.POI])):
            gone = (rows.split != c.TRAIN) & ~is_seen[codes[rows.row]]
            dropped[reason] += int((gone & ~rows.is_aside).sum())
            dropped["short_trajectory"] += int((gone & rows.is_aside).sum())
            found.append(rows.take(gone))
            rows = rows.take(~gone)
        return rows

    left = unseen(short(rows)) if config.removal_order == "short_first" else short(unseen(rows))
    return left, Rows(*(np.concatenate([getattr(one, field.name) for one in found]) for field in fields(Rows)))
