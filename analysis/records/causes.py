"""Causes: what finds a case and what misses it, by taking one source of evidence away for all places.

"Recovered by X" means: found at K with X, and lost without it. A case that is found and merely lies where X reaches
(within two hops, say) coincides with X; nothing is claimed.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pandas as pd

from analysis.records.accuracy import is_hit
from analysis.records.score_rows import SOURCES
from analysis.records.table_cache import TableKey, kept_table, table_in_pieces
from recap import columns as c
from recap.errors import ConfigError

if TYPE_CHECKING:
    from recap.predictor import Predictor

KIND: Final = "removals"
FORMAT: Final = "1"
"""Of the columns of `analysis.records.removals.describe_removals`, sibling seeds' too; raise it where they change."""


def removals_key(dataset_hash: str, checkpoint_hash: str) -> TableKey:
    """What names the table of a checkpoint's removals."""
    return TableKey(dataset_hash, checkpoint_hash, c.SPLIT_NAMES[c.TEST], KIND, FORMAT)


def removal_table(
    dataset_hash: str,
    checkpoint_hash: str,
    open_predictor: "Callable[[], Predictor]",
    *,
    rows: int,
    keep: bool = True,
    bundle: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """`analysis.records.removals.describe_removals` of all test cases: read, or made once and kept.

    Making it is resumable: finished pieces stay in the user's cache until the table is whole.

    Args:
        open_predictor: called only when the table is not there yet.
        rows: test cases.
        keep: whether to write a new one to the cache.
        bundle: the dataset's bundle, which may have come with it.
        progress: told (cases done, cases in all) while it is made.
    """
    opened: list[Predictor] = []

    def piece(start: int, end: int) -> pd.DataFrame:
        from analysis.records.removals import describe_removals  # here, so that reading a table does not load torch

        if not opened:
            opened.append(open_predictor())
        return describe_removals(opened[0], opened[0].cases.iloc[start:end])

    key = removals_key(dataset_hash, checkpoint_hash)
    return table_in_pieces(key, piece, rows=rows, keep=keep, bundle=bundle, progress=progress)


def kept_removals(
    dataset_hash: str, checkpoint_hash: str, *, rows: int, bundle: Path | None = None
) -> pd.DataFrame | None:
    """The table of `removal_table` where it was shipped or made before; None where it would have to be made."""
    key = removals_key(dataset_hash, checkpoint_hash)
    table = kept_table(key, pd.DataFrame, rows=rows, keep=False, bundle=bundle)
    return table if c.RANK in table else None


def causes_of(table: pd.DataFrame, k: int) -> pd.DataFrame:
    """Which sources find each case: found at K with the source and lost without it.

    Args:
        table: from `removal_table`.

    Returns:
        bool, one column for each of `SOURCES`, aligned with the table; all False for a missed case, and for a source
        that the model does not have.

    Raises:
        ConfigError: K is below 1.
    """
    found, without = _at(table, k)
    return without.gt(k).mul(found, axis=0)


def obstacles_of(table: pd.DataFrame, k: int) -> pd.DataFrame:
    """Which sources miss each case: missed at K with the source and found without it; as `causes_of` otherwise."""
    found, without = _at(table, k)
    return without.le(k).mul(~found, axis=0)


def recovered_by(table: pd.DataFrame, source: str, k: int) -> pd.Series:
    """Mask of the cases that are recovered by one source, see `causes_of`.

    Raises:
        ConfigError: an unknown source, or K below 1.
    """
    if source not in SOURCES:
        raise ConfigError(f"unknown source of evidence {source!r}; choose one of {', '.join(SOURCES)}")
    return causes_of(table, k)[source]


def count_causes(table: pd.DataFrame, k: int) -> pd.DataFrame:
    """``source, available, recovered, missed``: cases found because of each source, and cases missed because of it.

    ``available`` is False where the model has no such source; its counts are 0. Sources overlap, counts do not add up.
    """
    causes, obstacles = causes_of(table, k), obstacles_of(table, k)
    return pd.DataFrame(
        {
            "source": list(SOURCES),
            "available": [bool(table[f"without_{source}"].notna().any()) for source in SOURCES],
            "recovered": [int(causes[source].sum()) for source in SOURCES],
            "missed": [int(obstacles[source].sum()) for source in SOURCES],
        }
    )


def _at(table: pd.DataFrame, k: int) -> tuple[pd.Series, pd.DataFrame]:
    """Whether each case is found at K, and its ranks without each source."""
    if k < 1:
        raise ConfigError(f"K must be at least 1, got {k}")
    without = table[[f"without_{source}" for source in SOURCES]].set_axis(list(SOURCES), axis=1)
    return pd.Series(is_hit(table, k), index=table.index), without
