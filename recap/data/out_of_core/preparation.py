"""Prepare a file beyond memory: the same `Dataset` as from `recap.data.preparation`, byte for byte.

Texts stay on disk. Check-ins as numbers, 26 bytes each, fit in memory.
"""

import tempfile
from functools import partial
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from recap import columns as c
from recap.data.cleaning import DataConfig, RawRows
from recap.data.dataset import Dataset
from recap.data.out_of_core.engine import FORMATS, SECONDS, is_installed, order_rows, rows_at, spool_rows
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.text_table import GZIP_MAGIC
from recap.data.preparation import DESCRIBING, build_dataset
from recap.errors import ConfigError, RecapError
from recap.memory import trim_heap

LEAST_ENGINE_BYTES: Final = 1 << 30
"""Least memory of the engine; a quarter of the free memory if that is more. The rest is on disk."""
_BLOCK_ROWS: Final = 1 << 20

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
    if not is_installed():
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
        spool, account = spool_rows(path, source_format, options, folder)
        if config.keep_given_split and c.SPLIT in pq.read_schema(spool).names:
            raise ConfigError(
                "a file with its own split is prepared in memory only; leave --engine out or set keep_given_split=false"
            )
        trim_heap()
        if memory_bytes is None:
            memory_bytes = max(LEAST_ENGINE_BYTES, psutil.virtual_memory().available // 4)
        ordered = order_rows(spool, folder, memory_bytes)
        trim_heap()
        table = pq.read_table(ordered.rows)
        columns = {name: table[name].to_numpy() for name in table.column_names}
        del table
        # Popped: `build_dataset` frees them.
        return build_dataset(
            RawRows(*(columns.pop(name) for name in (c.USER, c.POI, SECONDS, c.SOURCE_ROW))),
            columns.pop(c.TZ_OFFSET_MINUTES).astype(np.int16, copy=False),
            (partial(_ids, ordered.users), partial(_ids, ordered.pois)),
            partial(rows_at, spool, columns=DESCRIBING),
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
    """Ids by number, for ascending numbers; one block of the file is in memory at a time."""
    ids: list[np.ndarray] = []
    start = 0
    with pq.ParquetFile(path, pre_buffer=False) as file:
        for batch in file.iter_batches(_BLOCK_ROWS, use_threads=False):
            end = start + batch.num_rows
            inside = numbers[np.searchsorted(numbers, start) : np.searchsorted(numbers, end)] - start
            found = batch.column(0).take(pa.array(inside))
            ids.append(np.asarray(found.to_pandas().astype(str).to_numpy(object)))
            start = end
    return np.concatenate(ids)
