"""The data protocol over ordered rows on disk, a few users at a time; every rule is `recap.data.cleaning`'s.

Shape suffixes: T check-ins of a block, U users, P POIs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recap import columns as c
from recap.data.cleaning import (
    DROP_REASONS,
    MERGED,
    CleaningReport,
    DataConfig,
    Rows,
    frequent,
    has_training_case,
    no_training_case,
    remove,
    require_different_times,
)
from recap.data.out_of_core.engine import SECONDS, OrderedRows
from recap.data.out_of_core.split_ends import SplitEndFinder
from recap.data.splitting import cut_trajectories, find_merged
from recap.errors import ConfigError

BLOCK_ROWS: Final = 1 << 20
"""Rows read at a time; a block ends with a user's last row, so that one of many check-ins makes it longer."""


@dataclass(frozen=True, eq=False)
class CleanRows:
    """What is left, sorted by (user, time, source row).

    Attributes:
        blocks: tables of ``user, poi`` (the engine's numbers), ``seconds``, ``tz_offset_minutes``, ``trajectory`` (from
            0, one after another), ``split``, ``source_row``, ``history_only``.
    """

    blocks: list[pa.Table]
    report: CleaningReport


def clean_ordered(ordered: OrderedRows, config: DataConfig, block_rows: int = BLOCK_ROWS) -> CleanRows:
    """Apply the protocol to ordered rows.

    Args:
        block_rows: how many are read at a time.

    Raises:
        ConfigError: the protocol shares out whole trajectories.
        DataError: see `recap.data.cleaning.clean_checkins`.
    """
    require_fitting(config)
    dropped = dict.fromkeys(DROP_REASONS, 0)
    count_P, duplicates = np.zeros(ordered.num_pois, dtype=np.int64), 0
    for block in _user_blocks(ordered, block_rows):
        duplicates += int(block.is_duplicate.sum())
        block = block.left(config)
        count_P += np.bincount(block.poi, minlength=ordered.num_pois)
    dropped["exact_duplicate"] = duplicates if config.drop_exact_duplicates else 0
    is_kept_P = frequent(count_P, config.min_poi_checkins, "POI")
    dropped["rare_poi"] = int(count_P[~is_kept_P].sum())

    count_U = np.zeros(ordered.num_users, dtype=np.int64)
    for block in _user_blocks(ordered, block_rows):
        block = block.left(config)
        count_U += np.bincount(block.user[is_kept_P[block.poi]], minlength=ordered.num_users)
    is_kept_U = frequent(count_U, config.min_user_checkins, "user")
    dropped["rare_user"] = int(count_U[~is_kept_U].sum())
    kept = int(count_U[is_kept_U].sum())

    def frequent_blocks() -> Iterator[tuple[_Block, np.ndarray]]:
        """Frequent check-ins of each block, and which of them are merged into an earlier one."""
        for block in _user_blocks(ordered, block_rows):
            block = block.left(config)
            block = block.where(is_kept_P[block.poi] & is_kept_U[block.user])
            if len(block):
                yield block, find_merged(block.user, block.seconds, config)

    finder, earliest, latest = SplitEndFinder(config), [], []
    for block, merged in frequent_blocks():
        earliest.append(block.seconds.min())
        latest.append(block.seconds.max())
        if config.merge_seconds:
            dropped[MERGED] = dropped.get(MERGED, 0) + int(merged.sum())
        finder.count(block.seconds[~merged])
    require_different_times(min(earliest), max(latest), kept)
    for block, merged in frequent_blocks():
        finder.collect(block.seconds[~merged], block.row[~merged])
    ends = finder.ends()
    seen_P = np.zeros(ordered.num_pois, dtype=bool)
    for block, merged in frequent_blocks():
        seen_P[block.poi[~merged & (ends.codes(block.seconds, block.row) == c.TRAIN)]] = True

    blocks, first, is_trainable = [], 0, False
    for block, merged in frequent_blocks():
        block = block.where(~merged)
        split = ends.codes(block.seconds, block.row)
        trajectory = cut_trajectories(block.user, block.seconds, config)
        seen_U = np.zeros(ordered.num_users, dtype=bool)
        seen_U[block.user[split == c.TRAIN]] = True
        rows = Rows(np.arange(len(block)), split, trajectory, np.zeros(len(block), dtype=bool))
        told = {c.USER: (block.user, seen_U), c.POI: (block.poi, seen_P)}
        rows = remove(rows, told, config, config.min_trajectory_length, dropped)
        if not len(rows.row):
            continue
        is_trainable = is_trainable or has_training_case(rows.trajectory, rows.split)
        number = np.cumsum(np.append(False, np.diff(rows.trajectory) != 0)) + first
        first = int(number[-1]) + 1
        blocks.append(
            pa.table(
                {
                    c.USER: block.user[rows.row],
                    c.POI: block.poi[rows.row],
                    SECONDS: block.seconds[rows.row],
                    c.TZ_OFFSET_MINUTES: block.offset[rows.row].astype(np.int16),
                    c.TRAJECTORY: number.astype(np.int32),
                    c.SPLIT: rows.split,
                    c.SOURCE_ROW: block.row[rows.row],
                    c.HISTORY_ONLY: rows.is_aside,
                }
            )
        )
    if not is_trainable:
        raise no_training_case(config)
    aside = sum(int(table[c.HISTORY_ONLY].to_numpy().sum()) for table in blocks)
    left = sum(table.num_rows for table in blocks)
    report = CleaningReport(
        raw=ordered.num_rows,
        exact_duplicates=duplicates,
        kept=kept,
        checkins=left - aside,
        history_only=aside,
        dropped=dropped,
    )
    return CleanRows(blocks, report)


def require_fitting(config: DataConfig) -> None:
    """Refuse the protocols that need all rows at once.

    Raises:
        ConfigError: trajectories are shared out, which needs them all.
    """
    if config.split_by != "checkins":
        raise ConfigError(
            f"split_by={config.split_by} is made in memory only; leave --engine out or split by check-ins"
        )


@dataclass(frozen=True, eq=False)
class _Block:
    """All rows of some users."""

    user: np.ndarray
    poi: np.ndarray
    seconds: np.ndarray
    offset: np.ndarray
    row: np.ndarray

    def __len__(self) -> int:
        return len(self.user)

    @property
    def is_duplicate(self) -> np.ndarray:
        """Repeats of an earlier row's (user, POI, second)."""
        return pd.DataFrame({c.USER: self.user, c.POI: self.poi, SECONDS: self.seconds}).duplicated().to_numpy()

    def left(self, config: DataConfig) -> "_Block":
        """Without exact duplicates where the protocol drops them."""
        return self.where(~self.is_duplicate) if config.drop_exact_duplicates else self

    def where(self, keep: np.ndarray) -> "_Block":
        """Some rows."""
        return _Block(*(values[keep] for values in vars(self).values()))


def _user_blocks(ordered: OrderedRows, block_rows: int) -> Iterator[_Block]:
    with pq.ParquetFile(ordered.rows, pre_buffer=False) as file:
        rest: pa.Table | None = None
        for batch in file.iter_batches(block_rows, use_threads=False):
            table = pa.table(batch)
            table = table if rest is None else pa.concat_tables([rest, table]).combine_chunks()
            user = table[c.USER].to_numpy()
            end = int(np.searchsorted(user, user[-1]))
            if end:
                yield _block(table.slice(0, end))
            rest = table.slice(end)
        if rest is not None:
            yield _block(rest)


def _block(table: pa.Table) -> _Block:
    return _Block(*(table[name].to_numpy() for name in (c.USER, c.POI, SECONDS, c.TZ_OFFSET_MINUTES, c.SOURCE_ROW)))
