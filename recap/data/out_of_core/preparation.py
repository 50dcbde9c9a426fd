"""Prepare a file beyond memory: the same `Dataset` as from `recap.data.preparation`, byte for byte.

Texts stay on disk. Check-ins as numbers and each id once fit in memory.
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, Self, get_args

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recap import columns as c
from recap.data.cleaning import DataConfig, RawRows
from recap.data.dataset import Dataset
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.text_table import GZIP_MAGIC
from recap.data.preparation import DESCRIBING, IdsOf, build_dataset
from recap.data.reading import read_checkins
from recap.errors import ConfigError, RecapError
from recap.machine.memory import trim_heap

Engine = Literal["auto", "memory", "disk"]
ENGINES: Final = get_args(Engine)

_BYTES_A_ROW: Final = 260
"""Peak memory of preparing Parquet in memory, per row (docs/scale.md)."""
_BYTES_A_TEXT_BYTE: Final = 2
"""The same for a byte of text."""
_TEXT_A_GZIP_BYTE: Final = 6
"""Approximate number of bytes that a compressed byte unpacks to."""
_SHARE: Final = 0.6
"""Share of the free memory that it may take."""
_IDS: Final = (c.USER_ID, c.POI_ID, c.TRAJECTORY_ID)
_NUMBERS: Final = {c.TIME: pa.int64(), c.TZ_OFFSET_MINUTES: pa.int16(), c.SPLIT: pa.int8()}
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


def prepare_out_of_core(
    path: Path,
    options: ReadOptions,
    config: DataConfig,
    workplace: Path,
    *,
    name: str,
    source_format: str = "parquet",
    preset: str = "custom",
) -> Dataset:
    """Build a dataset from a file without holding its texts in memory; ``workplace`` has room for twice the file.
    Raises ConfigError: ids are to be joined, which needs all rows at once; DataError: the file cannot be read, or
    nothing usable is left; RecapError: the disk refused.
    """
    with _temporary_folder(workplace) as folder, _Spool(Path(folder) / "spool.parquet") as spool:
        account = read_checkins(path, source_format, options, spool.add).account
        spool.close()
        trim_heap()
        rows, offset, ids = spool.numbers()
        facts = {"name": name, "source_format": source_format, "preset": preset, "reading": account}
        return build_dataset(rows, offset, ids, spool.rows_at, config, **facts)


def _temporary_folder(workplace: Path) -> "tempfile.TemporaryDirectory[str]":
    there = next(folder for folder in (workplace.absolute(), *workplace.absolute().parents) if folder.is_dir())
    try:
        return tempfile.TemporaryDirectory(prefix=".recap-prepare-", dir=there)
    except OSError as error:
        raise RecapError(f"cannot write to {there}: {error.strerror or error}") from error


class _Spool:
    """Takes check-ins block by block: numbers stay in memory, what describes places goes to a Parquet file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer: pq.ParquetWriter | None = None
        self._numbers: dict[str, list[np.ndarray]] = defaultdict(list)
        self._known: dict[str, dict[str, int]] = defaultdict(dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, block: pa.Table) -> None:
        for name in block.column_names:
            if name in _IDS:
                self._numbers[name].append(self._numbered(name, block[name]))
            elif name in _NUMBERS:
                self._numbers[name].append(block[name].cast(_NUMBERS[name]).to_numpy())
        table = block.select([name for name in DESCRIBING if name in block.column_names])
        with self._written():
            self._writer = self._writer or pq.ParquetWriter(self.path, table.schema, compression="zstd")
            self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            with self._written():
                self._writer.close()

    def numbers(self) -> tuple[RawRows, np.ndarray, tuple[IdsOf, IdsOf]]:
        """What `build_dataset` takes: the rows, their offsets, and the ids by number."""
        (user, user_ids), (poi, poi_ids) = map(self._by_text, (c.USER_ID, c.POI_ID))
        split = self._joined(c.SPLIT) if c.SPLIT in self._numbers else None
        given = self._joined(c.TRAJECTORY_ID) if c.TRAJECTORY_ID in self._numbers else None
        rows = RawRows(user, poi, self._joined(c.TIME), np.arange(len(user), dtype=np.int64), split, given)
        return rows, self._joined(c.TZ_OFFSET_MINUTES), (user_ids.take, poi_ids.take)

    def rows_at(self, row_N: np.ndarray) -> pd.DataFrame:
        """The rows of the file at these places, in this order; one block in memory at a time."""
        order = np.argsort(row_N)
        wanted, found, start = row_N[order], [], 0
        with pq.ParquetFile(self.path, pre_buffer=False) as file:
            for group in range(file.num_row_groups):
                end = start + file.metadata.row_group(group).num_rows
                inside = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, end)] - start
                if len(inside):
                    rows = file.read_row_group(group, use_threads=False).take(inside)
                    found.append(pa.table({name: _plain(rows[name]) for name in rows.column_names}))
                start = end
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return pa.concat_tables(found).to_pandas().iloc[place].reset_index(drop=True)

    def _numbered(self, name: str, ids: pa.ChunkedArray) -> np.ndarray:
        """Numbers in the order in which ids first occur."""
        encoded, known = pc.dictionary_encode(ids).combine_chunks(), self._known[name]
        codes = np.array([known.setdefault(text, len(known)) for text in encoded.dictionary.to_pylist()], np.int32)
        return codes[encoded.indices.to_numpy()]

    def _by_text(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Numbers in the order of the ids' text, as `cleaning.number_ids` gives them, and the ids."""
        ids = list(self._known.pop(name))
        order = sorted(range(len(ids)), key=ids.__getitem__)
        rank = np.empty(len(ids), dtype=np.int32)
        rank[order] = np.arange(len(ids), dtype=np.int32)
        return rank[self._joined(name)], np.array(ids, dtype=object)[order]

    def _joined(self, name: str) -> np.ndarray:
        return np.concatenate(self._numbers.pop(name))

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RecapError(f"writing {self.path} failed: {error.strerror or error}; free disk space") from error


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Drop the dictionary, which would keep the values of all other rows."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
