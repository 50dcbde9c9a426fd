"""The data protocol: filter, split by time, cut trajectories, drop what the paper drops, and account for every row."""

from typing import Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from recap import columns as c
from recap.config import Config
from recap.errors import DataError


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

    Returns:
        The surviving raw columns plus ``source_row`` (position in ``raw``), ``split`` and ``trajectory`` (ids from 0),
        sorted by (user, time, source row), and the report.

    Raises:
        DataError: nothing is left after a filter, all check-ins share one instant, or no training case remains.
    """
    frame = raw.assign(**{c.SOURCE_ROW: np.arange(len(raw), dtype=np.int64)})
    is_duplicate = frame.duplicated([c.USER_ID, c.POI_ID, c.TIME])
    dropped = dict.fromkeys(
        ("rare_poi", "rare_user", "exact_duplicate", "short_trajectory", "unseen_user", "unseen_poi"), 0
    )
    if config.drop_exact_duplicates:
        frame = frame[~is_duplicate]
        dropped["exact_duplicate"] = int(is_duplicate.sum())

    for column, minimum, reason, noun in (
        (c.POI_ID, config.min_poi_checkins, "rare_poi", "POI"),
        (c.USER_ID, config.min_user_checkins, "rare_user", "user"),
    ):
        frame, dropped[reason] = _drop_rare(frame, column, minimum, noun)
    kept = len(frame)

    if frame[c.TIME].iloc[0] == frame[c.TIME].max() == frame[c.TIME].min():
        raise DataError(
            f"all {kept} check-ins happen at {frame[c.TIME].iloc[0]:%Y-%m-%d %H:%M:%S} UTC; "
            "a split by time needs different times"
        )
    frame = _assign_splits(frame, config)
    frame = _assign_trajectories(frame, config)
    frame, removed = _drop_held_out(frame, config)
    dropped |= removed

    if not has_training_case(frame):
        raise DataError(
            "no training case is left: no user has two training check-ins within "
            f"{config.trajectory_gap_hours:g} h of each other; bring more data or lower the minimum counts"
        )
    report = CleaningReport(
        raw=len(raw),
        exact_duplicates=int(is_duplicate.sum()),
        kept=kept,
        checkins=len(frame),
        dropped=dropped,
    )
    return frame, report


def has_training_case(frame: pd.DataFrame) -> bool:
    """Tell whether two consecutive rows of one trajectory both belong to training."""
    same = frame[c.TRAJECTORY].to_numpy()[1:] == frame[c.TRAJECTORY].to_numpy()[:-1]
    return bool((same & (frame[c.SPLIT].to_numpy()[1:] == c.TRAIN)).any())


def _drop_rare(frame: pd.DataFrame, column: str, minimum: int, noun: str) -> tuple[pd.DataFrame, int]:
    codes, _ = pd.factorize(frame[column])
    counts = np.bincount(codes)[codes]
    keep = counts >= minimum
    if not keep.any():
        raise DataError(
            f"no {noun} has at least {minimum} check-ins (the most is {counts.max(initial=0)}); "
            f"lower min_{noun.lower()}_checkins"
        )
    return frame[keep], int((~keep).sum())


def _assign_splits(frame: pd.DataFrame, config: DataConfig) -> pd.DataFrame:
    frame = frame.sort_values([c.TIME, c.SOURCE_ROW], kind="stable")
    order = np.arange(len(frame))
    train_end, val_end = int(config.train_end * len(frame)), int(config.val_end * len(frame))
    return frame.assign(**{c.SPLIT: ((order >= train_end).astype(np.int8) + (order >= val_end)).astype(np.int8)})


def _assign_trajectories(frame: pd.DataFrame, config: DataConfig) -> pd.DataFrame:
    # Users in lexicographic order of their ids: row order of the input plays no part.
    user_codes = pd.Categorical(frame[c.USER_ID].astype(str)).codes
    order = np.lexsort((frame[c.SOURCE_ROW], frame[c.TIME], user_codes))
    frame, user_codes = frame.iloc[order], user_codes[order]
    seconds = frame[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
    starts = np.ones(len(frame), dtype=bool)
    starts[1:] = (user_codes[1:] != user_codes[:-1]) | (np.diff(seconds) > config.trajectory_gap_hours * 3600)
    return frame.assign(**{c.TRAJECTORY: (np.cumsum(starts) - 1).astype(np.int64)})


def _drop_held_out(frame: pd.DataFrame, config: DataConfig) -> tuple[pd.DataFrame, dict[str, int]]:
    """Drop validation and test check-ins in short trajectories, then of unseen users, then of unseen POIs."""
    removed: dict[str, int] = {}
    length = np.bincount(frame[c.TRAJECTORY])[frame[c.TRAJECTORY]]
    drop = (length < config.min_trajectory_length) & (frame[c.SPLIT].to_numpy() != c.TRAIN)
    removed["short_trajectory"] = int(drop.sum())
    frame = frame[~drop]
    for column, reason in ((c.USER_ID, "unseen_user"), (c.POI_ID, "unseen_poi")):
        held_out = frame[c.SPLIT].to_numpy() != c.TRAIN
        codes, _ = pd.factorize(frame[column])
        seen = np.zeros(codes.max(initial=-1) + 1, dtype=bool)
        seen[codes[~held_out]] = True
        drop = held_out & ~seen[codes]
        removed[reason] = int(drop.sum())
        frame = frame[~drop]
    return frame, removed
