"""Files beyond memory: texts stay on disk, check-ins as numbers and each id once fit in memory."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from recap import columns as c
from recap.data.parsing.text_table import GZIP_MAGIC
from recap.data.preparation import DESCRIBING
from recap.errors import ConfigError, RecapError
from recap.machine.memory import trim_heap

ENGINES: Final = ("auto", "memory", "disk")

_BYTES_A_ROW: Final = 260
"""Peak memory of preparing Parquet in memory, per row (docs/scale.md)."""
_BYTES_A_TEXT_BYTE: Final = 2
"""The same for a byte of text."""
_TEXT_A_GZIP_BYTE: Final = 6
"""Approximate number of bytes that a compressed byte unpacks to."""
_SHARE: Final = 0.6
"""Share of the free memory that it may take."""
_NUMBERED: Final = (c.USER_ID, c.POI_ID, c.TRAJECTORY_ID, c.TIME, c.TZ_OFFSET_MINUTES, c.SPLIT)
FORMATS: Final = ("foursquare", "csv", "json", "parquet")
"""Formats that can be spooled."""


def choose_engine(engine: str, path: Path, source_format: str) -> bool:
    """Whether to keep texts on disk, as ``auto`` does where they may not fit into memory. Raises ConfigError: the
    engine is unknown or cannot prepare this format.
    """
    if engine not in ENGINES:
        raise ConfigError(f"unknown engine {engine!r}; choose one of {', '.join(ENGINES)}")
    if engine == "disk" and source_format not in FORMATS:
        raise ConfigError(f"--engine disk prepares {', '.join(FORMATS)}, got {source_format}; leave --engine out")
    return engine == "disk" or (engine == "auto" and source_format in FORMATS and _is_large(path, source_format))


def _is_large(path: Path, source_format: str) -> bool:
    try:
        if source_format == "parquet":
            needed = pq.read_metadata(path).num_rows * _BYTES_A_ROW
        else:
            with path.open("rb") as file:
                is_gzip = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            needed = path.stat().st_size * _BYTES_A_TEXT_BYTE * (_TEXT_A_GZIP_BYTE if is_gzip else 1)
    except (pa.ArrowException, OSError):
        return False  # the reader says what is wrong
    return bool(needed > _SHARE * psutil.virtual_memory().available)


class Spool:
    """Takes check-ins block by block and keeps them in a file of a new folder, which has room for those of a whole
    input, until the end of a ``with`` block. Raises RecapError: the disk refused.
    """

    def __init__(self, workplace: Path) -> None:
        self.place = next(at for at in (workplace.absolute(), *workplace.absolute().parents) if at.is_dir())
        with self._writing():
            self._folder = tempfile.TemporaryDirectory(prefix=".recap-prepare-", dir=self.place)
        self._path = Path(self._folder.name) / "rows.parquet"
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._folder, self._writing():
            self._close()

    def add(self, block: pa.Table) -> None:
        """Write a block."""
        with self._writing():
            self._writer = self._writer or pq.ParquetWriter(self._path, block.schema, compression="zstd")
            self._writer.write_table(block)

    def numbers(self) -> pd.DataFrame:
        """The columns of which cleaning makes numbers, of all rows; ids as categories."""
        with self._writing():
            self._close()
        trim_heap()
        names = [name for name in _NUMBERED if name in pq.read_schema(self._path).names]
        read = (pq.read_table(self._path, columns=[name], use_threads=False).unify_dictionaries() for name in names)
        return pd.DataFrame({table.column_names[0]: table.column(0).to_pandas() for table in read}, copy=False)

    def rows_at(self, row_N: np.ndarray) -> pd.DataFrame:
        """What describes the places of rows, in this order; one block in memory at a time."""
        wanted, found, start = np.sort(row_N), [], 0
        with pq.ParquetFile(self._path, pre_buffer=False) as file:
            names = [name for name in DESCRIBING if name in file.schema_arrow.names]
            for group in range(file.num_row_groups):
                end = start + file.metadata.row_group(group).num_rows
                inside = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, end)] - start
                rows = file.read_row_group(group, columns=names, use_threads=False)
                found.append(rows.take(inside).to_pandas().astype(object))  # without the texts of all other rows
                start = end
        return pd.concat(found).iloc[np.argsort(np.argsort(row_N))].reset_index(drop=True)

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RecapError(f"cannot write to {self.place}: {error.strerror or error}; free disk space") from error
