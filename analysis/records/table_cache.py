"""Tables that take a model over all test cases: shipped with a bundle, or made once and read from the user's cache."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from recap.errors import RecapError
from recap.evaluation.records import read_records, records_file, records_name, write_records

ROWS_PER_PIECE: Final = 512
SHIPPED: Final = "records"
"""The folder of a bundle that holds such tables."""
FIRST_FORMAT: Final = "1"
"""What a table that names no format is read as: those before it was written down."""
_FORMAT: Final = "format"


@dataclass(frozen=True)
class TableKey:
    """What a kept table is of.

    Attributes:
        dataset_hash: the dataset.
        model: a checkpoint's hash or a baseline's name.
        split, kind: the split, and the protocol of records or what else names the table.
        format: version of the table's columns; a file that names another one is as if not there. Empty for evaluation
            records, which are checked by what they hold.
    """

    dataset_hash: str
    model: str
    split: str
    kind: str
    format: str = ""

    @property
    def metadata(self) -> dict[str, str]:
        """What the file says of itself; its name carries the beginnings of the hashes only."""
        checkpoint = self.model if len(self.model) == 64 else ""
        said = {"dataset_hash": self.dataset_hash, "checkpoint_hash": checkpoint}
        version = {_FORMAT: self.format} if self.format else {}
        return {**said, "split": self.split, "protocol": self.kind, **version}

    def shipped_in(self, bundle: Path) -> Path:
        """Where a bundle keeps it."""
        return bundle / SHIPPED / records_name(self.dataset_hash, self.model, self.split, self.kind)

    def cached(self) -> Path:
        """Where the user's cache keeps it."""
        return records_file(self.dataset_hash, self.model, self.split, self.kind)

    def is_kept(self, bundle: Path | None) -> bool:
        """Whether there is a file to read, shipped or in the cache; what it says of itself is not looked at."""
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
) -> pd.DataFrame:
    """Read a table from the bundle or the cache, or make it and keep it in the cache.

    A kept table that says otherwise of itself or has another length is made anew, a file that cannot be read is
    replaced, and a cache that cannot be written is done without.

    Args:
        make: called only when the table is not there yet.
        rows: rows it must have.
        keep: whether to write a new one.
        bundle: a folder that may have come with the table; it is only read.
    """
    if bundle is not None:
        shipped = _read(key.shipped_in(bundle), key, rows)
        if shipped is not None:
            return shipped
    try:
        path = key.cached()
    except RecapError:
        return make()
    table = _read(path, key, rows)
    if table is not None:
        return table
    table = make()
    if keep:
        _write_if_possible(table, path, key)
    return table


def table_in_pieces(
    key: TableKey,
    make_piece: Callable[[int, int], pd.DataFrame],
    *,
    rows: int,
    keep: bool = True,
    bundle: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """`kept_table` of a table that is made a few hundred rows at a time and goes on where it was cut off.

    Finished pieces lie in a folder beside the table's place in the cache until the table is whole.

    Args:
        make_piece: makes rows start to end (excluded).
        progress: told (rows done, rows in all) while the table is made.
    """

    def make() -> pd.DataFrame:
        folder = _pieces_folder(key) if keep else None
        pieces = []
        for start in range(0, rows, ROWS_PER_PIECE):
            end = min(start + ROWS_PER_PIECE, rows)
            path = None if folder is None else folder / f"{start:08d}.parquet"
            piece = None if path is None else _read(path, key, end - start)
            if piece is None:
                piece = make_piece(start, end)
                if path is not None:
                    _write_if_possible(piece, path, key)
            pieces.append(piece)
            if progress is not None:
                progress(end, rows)
        return pd.concat(pieces, ignore_index=True) if pieces else make_piece(0, 0)

    table = kept_table(key, make, rows=rows, keep=keep, bundle=bundle)
    folder = _pieces_folder(key) if keep else None
    if folder is not None and folder.is_dir():
        shutil.rmtree(folder, ignore_errors=True)
    return table


def _pieces_folder(key: TableKey) -> Path | None:
    try:
        path = key.cached()
    except RecapError:
        return None
    return path.with_name(f"{path.stem}.pieces")


def _write_if_possible(table: pd.DataFrame, path: Path, key: TableKey) -> None:
    with suppress(RecapError):
        write_records(table, path, key.metadata)


def _read(path: Path, key: TableKey, rows: int) -> pd.DataFrame | None:
    if not path.is_file():
        return None
    try:
        table, said = read_records(path)
    except RecapError:
        return None
    said = {_FORMAT: FIRST_FORMAT, **said}
    fits = len(table) == rows and all(said.get(name) == value for name, value in key.metadata.items())
    return table if fits else None
