"""The readers' rows on disk: numbered blocks with times as seconds."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recap import columns as c
from recap.data.out_of_core.engine import SECONDS
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead, ReadReport
from recap.data.parsing.table_builder import Sink
from recap.data.readers.headerless import read_foursquare
from recap.data.readers.own_table import read_own_table
from recap.errors import RecapError


def _read(source_format: str, path: Path, options: ReadOptions, sink: Sink) -> RawRead:
    return read_own_table(path, source_format, options, sink)


_READERS: Final[Mapping[str, Callable[[Path, ReadOptions, Sink], RawRead]]] = {
    "foursquare": read_foursquare,
    **{form: partial(_read, form) for form in ("csv", "json", "parquet")},
}
FORMATS: Final = tuple(_READERS)
"""Formats that can be spooled."""


def spool_rows(path: Path, source_format: str, options: ReadOptions, folder: Path) -> tuple[Path, ReadReport]:
    """Read a file of check-ins into a file of raw rows.

    Raises:
        DataError: see the format's reader in `recap.data.readers`.
        RecapError: the disk refused.
    """
    spool = folder / "spool.parquet"
    writer: pq.ParquetWriter | None = None
    num_rows = 0

    def add(block: pa.Table) -> None:
        nonlocal writer, num_rows
        rows = pa.array(np.arange(num_rows, num_rows + block.num_rows, dtype=np.int64))
        num_rows += block.num_rows
        seconds = block[c.TIME].cast(pa.int64())
        table = block.drop_columns([c.TIME]).append_column(SECONDS, seconds).append_column(c.SOURCE_ROW, rows)
        with _written(spool):
            writer = writer or pq.ParquetWriter(spool, table.schema, compression="zstd")
            writer.write_table(table)

    try:
        account = _READERS[source_format](path, options, add).account
    finally:
        if writer is not None:
            with _written(spool):
                writer.close()
    return spool, account


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RecapError(f"writing {path} failed: {error.strerror or error}; free disk space") from error
