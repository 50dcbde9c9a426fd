"""The data protocol: filter, split by time, cut trajectories, drop what the paper drops, and account for every row."""

from typing import Final, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from recap import columns as c
from recap.config import Config
from recap.errors import DataError

DROP_REASONS: Final = ("rare_poi", "rare_user", "exact_duplicate", "short_trajectory", "unseen_user", "unseen_poi")
"""Why a row of the raw table is not in the dataset, in the order of the report."""


class DataConfig(Config):
    """How raw check-ins become a dataset (paper, App. B; docs/paper.md for our readings)."""

    min_poi_checkins: int = Field(10, ge=1, description="POIs with fewer check-ins are dropped first.")
    min_user_checkins: int = Field(10, ge=1, description="Then users with fewer check-ins are dropped, once.")
    drop_exact_duplicates: bool = Field(False, description="Drop repeats of (user, POI, second) before filtering.")
    train_end: float = Field(0.8, gt=0, lt=1, description="Share of check-ins, in time order, that are training.")
    val_end: float = Field(0.9, gt=0, le=1, description="Share of check-ins where validation ends and test begins.")
    trajectory_gap_hours: float = Field(24, gt=0, description="A longer gap starts a new trajectory.")
    min_trajectory_length: int = Field(
        3, ge=1, description="Validation and test check-ins in shorter trajectories are dropped; training keeps them."
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


class CleaningReport(Config):
    """Where every raw row went: ``raw - sum(dropped.values()) == checkins``."""

    raw: int
    exact_duplicates: int
    kept: int
    checkins: int
    dropped: dict[str, int]


def clean_checkins(raw: pd.DataFrame, config: DataConfig) -> tuple[pd.DataFrame, CleaningReport]:
    """Apply the protocol to a raw table.

    A table with a ``split`` column keeps it (`keep_given_split`): then nothing is filtered by counts or lengths and
    nothing is cut; only validation and test rows of users and POIs that training does not know are dropped.

    Returns:
        The surviving raw columns plus ``source_row`` (position in ``raw``), ``split`` and ``trajectory`` (ids from 0),
        sorted by (user, time, source row), and the report.

    Raises:
        DataError: nothing is left after a filter, all check-ins share one instant, or no training case remains.
    """
    is_given = config.keep_given_split and c.SPLIT in raw
    user, _ = number_ids(raw[c.USER_ID])
    poi, _ = number_ids(raw[c.POI_ID])
    seconds = raw[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
    is_duplicate = pd.DataFrame({c.USER: user, c.POI: poi, "seconds": seconds}).duplicated().to_numpy()
    dropped = dict.fromkeys(DROP_REASONS, 0)

    # Positions in raw; the user and POI codes are ranks of the ids as text, so row order of the file plays no part.
    rows = np.arange(len(raw), dtype=np.int64)
    if config.drop_exact_duplicates:
        rows = rows[~is_duplicate]
        dropped["exact_duplicate"] = int(is_duplicate.sum())
    for codes, minimum, reason, noun in (
        (poi, config.min_poi_checkins, "rare_poi", "POI"),
        (user, config.min_user_checkins, "rare_user", "user"),
    ):
        keep = _is_frequent(codes[rows], 1 if is_given else minimum, noun)
        dropped[reason] = int((~keep).sum())
        rows = rows[keep]
    kept = len(rows)
    _require_different_times(seconds[rows])

    rows = rows[np.argsort(seconds[rows], kind="stable")]
    split = raw[c.SPLIT].to_numpy(np.int8)[rows] if is_given else _split_by_time(kept, config)
    by_user = np.argsort(user[rows], kind="stable")
    rows, split = rows[by_user], split[by_user]
    if is_given and c.TRAJECTORY_ID in raw:
        given, _ = pd.factorize(raw[c.TRAJECTORY_ID])
        is_new = np.diff(given[rows]) != 0
    else:
        is_new = np.diff(seconds[rows]) > config.trajectory_gap_hours * 3600
    trajectory = np.cumsum(np.append(True, (np.diff(user[rows]) != 0) | is_new)) - 1

    length = np.bincount(trajectory)[trajectory]
    dropping = (length < (1 if is_given else config.min_trajectory_length)) & (split != c.TRAIN)
    dropped["short_trajectory"] = int(dropping.sum())
    rows, split, trajectory = rows[~dropping], split[~dropping], trajectory[~dropping]
    for reason, codes in (("unseen_user", user), ("unseen_poi", poi)):
        dropping = _is_unseen(codes[rows], split)
        dropped[reason] = int(dropping.sum())
        rows, split, trajectory = rows[~dropping], split[~dropping], trajectory[~dropping]

    frame = raw.iloc[rows].assign(**{c.SOURCE_ROW: rows, c.SPLIT: split, c.TRAJECTORY: trajectory})
    if not has_training_case(frame):
        raise DataError(
            "no training case is left: no user has two training check-ins within "
            f"{config.trajectory_gap_hours:g} h of each other; bring more data or lower the minimum counts"
        )
    report = CleaningReport(
        raw=len(raw), exact_duplicates=int(is_duplicate.sum()), kept=kept, checkins=len(frame), dropped=dropped
    )
    return frame, report


def number_ids(ids: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Number ids from 0 in lexicographic order of those that occur.

    Returns:
        int32 index of each row, and the ids by index.
    """
    codes, uniques = pd.factorize(ids)
    names = np.asarray(uniques).astype(str)
    order = np.argsort(names, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank[codes], names[order].astype(object)


def has_training_case(frame: pd.DataFrame) -> bool:
    """Tell whether two consecutive rows of one trajectory both belong to training."""
    same = frame[c.TRAJECTORY].to_numpy()[1:] == frame[c.TRAJECTORY].to_numpy()[:-1]
    return bool((same & (frame[c.SPLIT].to_numpy()[1:] == c.TRAIN)).any())


def _is_frequent(codes: np.ndarray, minimum: int, noun: str) -> np.ndarray:
    counts = np.bincount(codes)
    keep = counts[codes] >= minimum
    if not keep.any():
        raise DataError(
            f"no {noun} has at least {minimum} check-ins (the most is {counts.max(initial=0)}); "
            f"lower min_{noun.lower()}_checkins"
        )
    return keep


def _require_different_times(seconds: np.ndarray) -> None:
    if seconds.min() == seconds.max():
        raise DataError(
            f"all {len(seconds)} check-ins happen at {pd.Timestamp(seconds[0], unit='s'):%Y-%m-%d %H:%M:%S} UTC; "
            "a split by time needs different times"
        )


def _split_by_time(count: int, config: DataConfig) -> np.ndarray:
    """Split codes of check-ins in time order."""
    order = np.arange(count)
    train_end, val_end = int(config.train_end * count), int(config.val_end * count)
    return ((order >= train_end).astype(np.int8) + (order >= val_end)).astype(np.int8)


def _is_unseen(codes: np.ndarray, split: np.ndarray) -> np.ndarray:
    """Validation and test rows whose user or POI training does not have."""
    seen = np.zeros(codes.max(initial=-1) + 1, dtype=bool)
    seen[codes[split == c.TRAIN]] = True
    return (split != c.TRAIN) & ~seen[codes]
