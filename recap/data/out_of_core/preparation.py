"""Prepare a file beyond memory: the same `Dataset` as from `recap.data.preparation`, byte for byte.

Texts stay on disk. Check-ins as numbers, 26 bytes each, fit in memory.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from recap import columns as c
from recap.data.cleaning import DataConfig, RawRows
from recap.data.dataset import Dataset
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead, ReadReport
from recap.data.parsing.text_table import GZIP_MAGIC
from recap.data.preparation import DESCRIBING, build_dataset
from recap.data.readers.headerless import read_foursquare
from recap.data.readers.own_table import read_own_table
from recap.errors import ConfigError, RecapError
from recap.memory import trim_heap

LEAST_ENGINE_BYTES: Final = 1 << 30
"""Least memory of the engine; a quarter of the free memory if that is more. The rest is on disk."""

Engine = Literal["auto", "memory", "duckdb"]
ENGINES: Final = get_args(Engine)

_BYTES_A_ROW: Final = 260
"""Peak memory of preparing Parquet in memory, per row (docs/scale.md)."""
_BYTES_A_TEXT_BYTE: Final = 2
"""The same for a byte of text."""
_TEXT_A_GZIP_BYTE: Final = 6
"""Approximate number of bytes that a compressed byte unpacks to."""
_SHARE: Final = 0.6
"""Share of the free memory that it may take."""
_SECONDS: Final = "seconds"
_HELP: Final = "install it with `pip install 'recap-mobility[large]'`, or prepare in memory with --engine memory"
_READERS: Final[Mapping[str, Callable[..., RawRead]]] = {
    "foursquare": read_foursquare,
    **{form: partial(read_own_table, source_format=form) for form in ("csv", "json", "parquet")},
}
FORMATS: Final = tuple(_READERS)
"""Formats that can be spooled."""


def choose_engine(engine: str, path: Path, source_format: str) -> tuple[bool, str]:
    """Choose memory if the file fits, else disk, unless an engine is named. Returns whether to prepare on disk, and
    advice to install DuckDB or "". Raises ConfigError: the engine is unknown or cannot prepare this format.
    """
    if engine not in ENGINES:
        raise ConfigError(f"unknown engine {engine!r}; choose one of {', '.join(ENGINES)}")
    if engine == "duckdb":
        if source_format not in FORMATS:
            raise ConfigError(f"--engine duckdb prepares {', '.join(FORMATS)}, got {source_format}; leave --engine out")
        return True, ""
    if engine == "memory" or source_format not in FORMATS or not _is_large(path, source_format):
        return False, ""
    if find_spec("duckdb") is None:
        return False, "This file may exceed memory; `pip install 'recap-mobility[large]'` prepares it on disk."
    return True, ""


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


def prepare_out_of_core(
    path: Path,
    options: ReadOptions,
    config: DataConfig,
    workplace: Path,
    *,
    name: str,
    source_format: str = "parquet",
    preset: str = "custom",
    memory_bytes: int | None = None,
) -> Dataset:
    """Build a dataset from a file without holding its rows in memory; ``workplace`` has room for three times the file.
    Raises ConfigError: DuckDB is missing, or file or protocol need all rows at once; DataError: the file cannot be
    read, or nothing usable is left; RecapError: the disk refused.
    """
    with _temporary_folder(workplace) as temporary:
        folder = Path(temporary)
        spool, account = _spool_rows(path, source_format, options, folder)
        if config.keep_given_split and c.SPLIT in pq.read_schema(spool).names:
            raise ConfigError(
                "a file with its own split is prepared in memory only; leave --engine out or set keep_given_split=false"
            )
        trim_heap()
        if memory_bytes is None:
            memory_bytes = max(LEAST_ENGINE_BYTES, psutil.virtual_memory().available // 4)
        ordered = _order_rows(spool, folder, memory_bytes)
        trim_heap()
        table = pq.read_table(ordered["rows"])
        columns = {name: table[name].to_numpy() for name in table.column_names}
        del table
        # Popped: `build_dataset` frees them.
        return build_dataset(
            RawRows(*(columns.pop(name) for name in (c.USER, c.POI, _SECONDS, c.SOURCE_ROW))),
            columns.pop(c.TZ_OFFSET_MINUTES).astype(np.int16, copy=False),
            (partial(_ids, ordered[c.USER]), partial(_ids, ordered[c.POI])),
            partial(_rows_at, spool, columns=DESCRIBING),
            config,
            name=name,
            source_format=source_format,
            preset=preset,
            reading=account,
        )


def _temporary_folder(workplace: Path) -> "tempfile.TemporaryDirectory[str]":
    there = next(folder for folder in (workplace.absolute(), *workplace.absolute().parents) if folder.is_dir())
    try:
        return tempfile.TemporaryDirectory(prefix=".recap-prepare-", dir=there)
    except OSError as error:
        raise RecapError(f"cannot write to {there}: {error.strerror or error}") from error


def _ids(path: Path, numbers: np.ndarray) -> np.ndarray:
    """Ids by number."""
    return np.asarray(_rows_at(path, numbers, ["id"])["id"].astype(str).to_numpy(object))


def _connect(folder: Path, memory_bytes: int) -> Any:
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


def _order_rows(spool: Path, folder: Path, memory_bytes: int) -> dict[str, Path]:
    """Number ids as `cleaning.number_ids` does, and sort the rows by (user, seconds, source row). Returns the Parquet
    of the ``rows`` as numbers, and those of the ids of ``user`` and ``poi``, row n is that of number n.
    """
    ordered = {name: folder / f"{name}.parquet" for name in ("rows", c.USER, c.POI)}
    database = _connect(folder, memory_bytes)
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
            f"{_SECONDS}, {c.TZ_OFFSET_MINUTES}, {c.SOURCE_ROW} FROM spool "
            f"JOIN users ON users.id = {c.USER_ID} JOIN pois ON pois.id = {c.POI_ID} "
            f"ORDER BY {c.USER}, {_SECONDS}, {c.SOURCE_ROW}"
        )
        rows.write_parquet(str(ordered["rows"]), compression="zstd")
    except OSError as error:
        raise RecapError(f"writing {folder} failed: {error.strerror or error}") from error
    except duckdb.Error as error:
        raise RecapError(f"the engine stopped: {str(error).splitlines()[0]}; free memory or disk space") from error
    finally:
        database.close()
    return ordered


def _rows_at(spool: Path, row_N: np.ndarray, columns: Sequence[str]) -> pd.DataFrame:
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


def _spool_rows(path: Path, source_format: str, options: ReadOptions, folder: Path) -> tuple[Path, ReadReport]:
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
        table = block.drop_columns([c.TIME]).append_column(_SECONDS, seconds).append_column(c.SOURCE_ROW, rows)
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
