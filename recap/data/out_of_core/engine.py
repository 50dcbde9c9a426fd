"""Check-ins on disk: written by the readers, numbered and sorted by DuckDB."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recap import columns as c
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead, ReadReport
from recap.data.readers.headerless import read_foursquare
from recap.data.readers.own_table import read_own_table
from recap.errors import ConfigError, RecapError

SECONDS: Final = "seconds"
_HELP: Final = "install it with `pip install 'recap-mobility[large]'`, or prepare in memory with --engine memory"


@dataclass(frozen=True)
class OrderedRows:
    """Check-ins on disk, sorted by (user, seconds, source row).

    Attributes:
        rows: Parquet of ``user, poi`` (int32 ranks of the ids), ``seconds``, ``tz_offset_minutes``, ``source_row``.
        users, pois: Parquet of all ids, row n is that of number n.
    """

    rows: Path
    users: Path
    pois: Path


def is_installed() -> bool:
    """Whether DuckDB is installed."""
    return find_spec("duckdb") is not None


def connect(folder: Path, memory_bytes: int) -> Any:
    """Start DuckDB with a memory limit and a folder to spill to. Raises ConfigError: DuckDB is not installed."""
    try:
        import duckdb
    except ImportError as error:
        raise ConfigError(f"files beyond memory need DuckDB, which is not installed: {_HELP}") from error
    settings: dict[str, Any] = {
        "memory_limit": f"{memory_bytes >> 20}MiB",
        "temp_directory": str(folder / "engine"),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    database = duckdb.connect(config=settings)
    database.execute("SET enable_progress_bar = false")
    return database


def order_rows(spool: Path, folder: Path, memory_bytes: int) -> OrderedRows:
    """Number ids as `cleaning.number_ids` does, and sort the rows. Raises ConfigError: DuckDB is not installed;
    RecapError: the disk refused. ``spool``: Parquet of the readers' rows with ``seconds`` and ``source_row``.
    """
    ordered = {name: folder / f"{name}.parquet" for name in ("rows", c.USER, c.POI)}
    database = connect(folder, memory_bytes)
    import duckdb

    try:
        database.read_parquet(str(spool)).create_view("spool")
        for name, column in ((c.USER, c.USER_ID), (c.POI, c.POI_ID)):
            ids = database.sql(f"SELECT DISTINCT {column} AS id FROM spool ORDER BY id")  # noqa: S608
            ids.write_parquet(str(ordered[name]), compression="zstd")
            numbered = database.read_parquet(str(ordered[name]), file_row_number=True)
            numbered.project("id, file_row_number::INTEGER AS number").create_view(f"{name}s")
        rows = database.sql(
            f"SELECT users.number AS {c.USER}, pois.number AS {c.POI}, "  # noqa: S608
            f"{SECONDS}, {c.TZ_OFFSET_MINUTES}, {c.SOURCE_ROW} FROM spool "
            f"JOIN users ON users.id = {c.USER_ID} JOIN pois ON pois.id = {c.POI_ID} "
            f"ORDER BY {c.USER}, {SECONDS}, {c.SOURCE_ROW}"
        )
        rows.write_parquet(str(ordered["rows"]), compression="zstd")
    except OSError as error:
        raise RecapError(f"writing {folder} failed: {error.strerror or error}") from error
    except duckdb.Error as error:
        raise RecapError(f"the engine stopped: {str(error).splitlines()[0]}; free memory or disk space") from error
    finally:
        database.close()
    return OrderedRows(ordered["rows"], ordered[c.USER], ordered[c.POI])


def rows_at(spool: Path, row_N: np.ndarray, columns: Sequence[str]) -> pd.DataFrame:
    """The readers' rows with these source rows, in this order; one block of the file in memory at a time."""
    order = np.argsort(row_N)
    wanted, found, start = row_N[order], [], 0
    with pq.ParquetFile(spool, pre_buffer=False) as file:
        columns = [name for name in columns if name in file.schema_arrow.names]
        for group in range(file.num_row_groups):
            end = start + file.metadata.row_group(group).num_rows
            inside = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, end)] - start
            if len(inside):
                rows = file.read_row_group(group, columns, use_threads=False).take(inside)
                found.append(pa.table({name: _plain(rows[name]) for name in rows.column_names}))
            start = end
    table = pa.concat_tables(found).to_pandas()
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return table.iloc[place].reset_index(drop=True)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Drop the dictionary, which would keep the values of all other rows."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


_READERS: Final[Mapping[str, Callable[..., RawRead]]] = {
    "foursquare": read_foursquare,
    **{form: partial(read_own_table, source_format=form) for form in ("csv", "json", "parquet")},
}
FORMATS: Final = tuple(_READERS)
"""Formats that can be spooled."""


def spool_rows(path: Path, source_format: str, options: ReadOptions, folder: Path) -> tuple[Path, ReadReport]:
    """Read check-ins into a Parquet file of raw rows. Raises ConfigError: ids are to be joined, which needs all rows at
    once; DataError: see the format's reader in `recap.data.readers`; RecapError: the disk refused.
    """
    if options.ids is not None:
        raise ConfigError("--text ids=join works in memory only; leave it out, or use --engine memory")
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
        account = _READERS[source_format](path, options=options, sink=add).account
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
