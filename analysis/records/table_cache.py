"""Tables for which a model scores all test cases: shipped with a bundle, or computed once and cached."""

import shutil
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import pandas as pd

from recap.errors import RecapError
from recap.evaluation.records import read_records, records_file, records_metadata, records_name, write_records

ROWS_PER_PIECE: Final = 512
SHIPPED: Final = "records"
"""A bundle's folder of such tables."""


class TableKey(NamedTuple):
    """Identity of a kept table.

    Attributes:
        model: a checkpoint's hash or a baseline's name.
        kind: the protocol of records, or another name of the table.
    """

    dataset_hash: str
    model: str
    split: str
    kind: str

    @property
    def metadata(self) -> dict[str, str]:
        return records_metadata(*self)

    def shipped_in(self, bundle: Path) -> Path:
        return bundle / SHIPPED / records_name(*self)

    def cached(self) -> Path:
        return records_file(*self)

    def is_kept(self, bundle: Path | None) -> bool:
        """Whether there is a file, shipped or in the cache; its content is not checked."""
        paths = (None if bundle is None else self.shipped_in(bundle), _cached(self))
        return any(path is not None and path.is_file() for path in paths)


def kept_table(
    key: TableKey,
    make: Callable[[], pd.DataFrame],
    *,
    rows: int,
    keep: bool = True,
    bundle: Path | None = None,
    without: Collection[str] = (),
) -> pd.DataFrame:
    """Read a table from the bundle or the cache, or make it and keep it in the cache.

    A table of another key, version or length and an unreadable file are replaced. A cache that cannot be written is
    ignored.

    Args:
        make: called only if the table is missing.
        rows: rows it must have.
        bundle: a folder that may have the table; it is only read.
        without: columns to leave out; they are not even read.
    """
    cached = _cached(key)
    for path in (None if bundle is None else key.shipped_in(bundle), cached):
        table = None if path is None else _read(path, key, rows, without)
        if table is not None:
            return table
    table = make()
    if keep and cached is not None:
        _write_if_possible(table, cached, key)
    return table.drop(columns=list(without), errors="ignore") if without else table


def table_in_pieces(
    key: TableKey,
    make_piece: Callable[[int, int], pd.DataFrame],
    *,
    rows: int,
    keep: bool = True,
    bundle: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """`kept_table` of a table that is made a few hundred rows at a time and can be resumed.

    Finished pieces stay in the cache until the table is complete.

    Args:
        make_piece: makes rows start to end (excluded).
        progress: receives (rows done, all rows).
    """

    path = _cached(key) if keep else None
    folder = None if path is None else path.with_name(f"{path.stem}.pieces")

    def piece(start: int, end: int) -> pd.DataFrame:
        file = None if folder is None else folder / f"{start:08d}.parquet"
        part = None if file is None else _read(file, key, end - start)
        if part is None:
            part = make_piece(start, end)
            if file is not None:
                _write_if_possible(part, file, key)
        if progress is not None:
            progress(end, rows)
        return part

    def make() -> pd.DataFrame:
        pieces = [piece(start, min(start + ROWS_PER_PIECE, rows)) for start in range(0, rows, ROWS_PER_PIECE)]
        return pd.concat(pieces, ignore_index=True) if pieces else make_piece(0, 0)

    table = kept_table(key, make, rows=rows, keep=keep, bundle=bundle)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
    return table


def _cached(key: TableKey) -> Path | None:
    """The table's file in the user's cache; None where there can be none."""
    with suppress(RecapError):
        return key.cached()
    return None


def _write_if_possible(table: pd.DataFrame, path: Path, key: TableKey) -> None:
    with suppress(RecapError):
        write_records(table, path, key.metadata)


def _read(path: Path, key: TableKey, rows: int, without: Collection[str] = ()) -> pd.DataFrame | None:
    if not path.is_file():
        return None
    try:
        table, metadata = read_records(path, without=without)
    except RecapError:
        return None
    fits = len(table) == rows and all(metadata.get(name) == value for name, value in key.metadata.items())
    return table if fits else None
