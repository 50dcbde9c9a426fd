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


class Spool:
    """A Parquet file that grows by blocks of the raw table.

    Attributes:
        num_rows: rows so far.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.num_rows = path, 0
        self._writer: pq.ParquetWriter | None = None

    def add(self, block: pa.Table) -> None:
        """Write a block.

        Raises:
            RecapError: the disk refused.
        """
        rows = np.arange(self.num_rows, self.num_rows + block.num_rows, dtype=np.int64)
        seconds = block[c.TIME].cast(pa.int64())
        table = block.drop_columns([c.TIME]).append_column(SECONDS, seconds).append_column(c.SOURCE_ROW, pa.array(rows))
        with self._refusing():
            self._writer = self._writer or pq.ParquetWriter(self.path, table.schema, compression="zstd")
            self._writer.write_table(table)
        self.num_rows += block.num_rows

    def close(self) -> None:
        """Finish the file.

        Raises:
            RecapError: the disk refused.
        """
        writer, self._writer = self._writer, None
        if writer is not None:
            with self._refusing():
                writer.close()

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RecapError(f"writing {self.path} failed: {error.strerror or error}; free disk space") from error


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
    spool = Spool(folder / "spool.parquet")
    try:
        account = _READERS[source_format](path, options, spool.add).account
    finally:
        spool.close()
    return spool.path, account
