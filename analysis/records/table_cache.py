"""Tables that take a model over all test cases: shipped with a bundle, or computed once and cached."""

import shutil
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from recap.errors import RecapError
from recap.evaluation.records import read_records, records_file, records_metadata, records_name, write_records

ROWS_PER_PIECE: Final = 512
SHIPPED: Final = "records"
"""A bundle's folder of such tables."""
FIRST_FORMAT: Final = "1"
"""Format of tables without a recorded format."""
_FORMAT: Final = "format"


@dataclass(frozen=True)
class TableKey:
    """Identity of a kept table.

    Attributes:
        model: a checkpoint's hash or a baseline's name.
        kind: the protocol of records, or another name of the table.
        format: version of the table's columns; a file of another version is ignored. Empty for evaluation records.
    """

    dataset_hash: str
    model: str
    split: str
    kind: str
    format: str = ""

    @property
    def metadata(self) -> dict[str, str]:
        said = records_metadata(self.dataset_hash, self.model, self.split, self.kind)
        return said | ({_FORMAT: self.format} if self.format else {})

    def shipped_in(self, bundle: Path) -> Path:
        return bundle / SHIPPED / records_name(self.dataset_hash, self.model, self.split, self.kind)

    def cached(self) -> Path:
        return records_file(self.dataset_hash, self.model, self.split, self.kind)

    def is_kept(self, bundle: Path | None) -> bool:
        """Whether there is a file, shipped or in the cache; its content is not checked."""
        if bundle is not None and self.shipped_in(bundle).is_file():
            return True
        try:
            return self.cached().is_file()
        except RecapError:
            return False


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

    A table of another key or length and an unreadable file are replaced. A cache that cannot be written is ignored.

    Args:
        make: called only if the table is missing.
        rows: rows it must have.
        bundle: a folder that may have the table; it is only read.
        without: columns to leave out; they are not even read.
    """
    if bundle is not None:
        shipped = _read(key.shipped_in(bundle), key, rows, without)
        if shipped is not None:
            return shipped
    try:
        path: Path | None = key.cached()
    except RecapError:
        path = None
    table = None if path is None else _read(path, key, rows, without)
    if table is not None:
        return table
    table = make()
    if keep and path is not None:
        _write_if_possible(table, path, key)
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

    kept_pieces = Pieces(key, keep=keep)

    def make() -> pd.DataFrame:
        pieces = []
        for start in range(0, rows, ROWS_PER_PIECE):
            end = min(start + ROWS_PER_PIECE, rows)
            piece = kept_pieces.read(f"{start:08d}", end - start)
            if piece is None:
                piece = make_piece(start, end)
                kept_pieces.write(f"{start:08d}", piece)
            pieces.append(piece)
            if progress is not None:
                progress(end, rows)
        return pd.concat(pieces, ignore_index=True) if pieces else make_piece(0, 0)

    table = kept_table(key, make, rows=rows, keep=keep, bundle=bundle)
    kept_pieces.drop()
    return table


class Pieces:
    """Parts of an unfinished table in the user's cache, if it can be written."""

    def __init__(self, key: TableKey, *, keep: bool = True) -> None:
        self._key = key
        self._folder: Path | None = None
        if keep:
            with suppress(RecapError):
                path = key.cached()
                self._folder = path.with_name(f"{path.stem}.pieces")

    def read(self, name: str, rows: int) -> pd.DataFrame | None:
        """A piece of this many rows; None if it is missing."""
        path = self._path(name)
        return None if path is None else _read(path, self._key, rows)

    def write(self, name: str, piece: pd.DataFrame) -> None:
        path = self._path(name)
        if path is not None:
            _write_if_possible(piece, path, self._key)

    def drop(self) -> None:
        if self._folder is not None and self._folder.is_dir():
            shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, name: str) -> Path | None:
        return None if self._folder is None else self._folder / f"{name}.parquet"


def _write_if_possible(table: pd.DataFrame, path: Path, key: TableKey) -> None:
    with suppress(RecapError):
        write_records(table, path, key.metadata)


def _read(path: Path, key: TableKey, rows: int, without: Collection[str] = ()) -> pd.DataFrame | None:
    if not path.is_file():
        return None
    try:
        table, said = read_records(path, without=without)
    except RecapError:
        return None
    said = {_FORMAT: FIRST_FORMAT, **said}
    fits = len(table) == rows and all(said.get(name) == value for name, value in key.metadata.items())
    return table if fits else None
