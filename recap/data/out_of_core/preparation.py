"""A file beyond memory in, a `Dataset` out: the same as `recap.data.preparation` makes, byte for byte."""

import tempfile
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from recap import columns as c
from recap.data.cases import history_only
from recap.data.cleaning import DataConfig
from recap.data.dataset import Dataset, Manifest, hash_tables
from recap.data.out_of_core.cleaning import BLOCK_ROWS, CleanRows, clean_ordered, require_fitting
from recap.data.out_of_core.engine import SECONDS, OrderedRows, order_rows, rows_at
from recap.data.out_of_core.spool import spool_rows
from recap.data.parsing.options import ReadOptions
from recap.data.preparation import DESCRIBING, describe_pois
from recap.errors import ConfigError, RecapError
from recap.memory import trim_heap

LEAST_ENGINE_BYTES: Final = 1 << 30
"""What the engine may hold at least; more where a quarter of the free memory is more. The rest lies on disk."""


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
    block_rows: int = BLOCK_ROWS,
) -> Dataset:
    """Build a dataset from a file without ever holding its rows.

    Args:
        workplace: a folder, there or not yet, on a disk with room for about three times the file; what is put on that
            disk goes again.
        source_format: one of `spool.FORMATS`.
        memory_bytes: what the engine may hold; None takes a quarter of the free memory.

    Raises:
        ConfigError: DuckDB is missing, or the file or the protocol needs all rows at once.
        DataError: the file cannot be read, or nothing usable is left.
        RecapError: the disk refused.
    """
    require_fitting(config)
    with _temporary_folder(workplace) as temporary:
        folder = Path(temporary)
        spool, account = spool_rows(path, source_format, options, folder)
        if config.keep_given_split and c.SPLIT in pq.read_schema(spool).names:
            raise ConfigError(
                "a file with a split of its own is prepared in memory only; leave --engine out or set "
                "keep_given_split=false"
            )
        trim_heap()
        if memory_bytes is None:
            memory_bytes = max(LEAST_ENGINE_BYTES, psutil.virtual_memory().available // 4)
        ordered = order_rows(spool, folder, memory_bytes)
        trim_heap()
        clean = clean_ordered(ordered, config, block_rows)
        trim_heap()
        checkins, user_numbers, poi_numbers = _number(clean, ordered)
        earliest_P, train_P = _of_places(checkins, len(poi_numbers), block_rows)
        pois = describe_pois(rows_at(spool, earliest_P, DESCRIBING), _ids(ordered.pois, poi_numbers), train_P)
        users = pd.DataFrame({c.USER_ID: _ids(ordered.users, user_numbers)})
        trim_heap()
    manifest = Manifest(
        name=name,
        source_format=source_format,
        preset=preset,
        config=config,
        report=clean.report,
        dataset_hash=hash_tables(checkins, pois, users),
        reading=account,
    )
    return Dataset(checkins=checkins, pois=pois, users=users, manifest=manifest)


def _temporary_folder(workplace: Path) -> "tempfile.TemporaryDirectory[str]":
    there = next(folder for folder in (workplace.absolute(), *workplace.absolute().parents) if folder.is_dir())
    try:
        return tempfile.TemporaryDirectory(prefix=".recap-prepare-", dir=there)
    except OSError as error:
        raise RecapError(f"cannot write to {there}: {error.strerror or error}") from error


def _number(clean: CleanRows, ordered: OrderedRows) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """The table of check-ins with users and POIs numbered anew, and which of the engine's numbers those are."""
    table = pa.concat_tables(clean.blocks)
    clean.blocks.clear()
    numbers = []
    columns: dict[str, np.ndarray] = {}
    for name, size in ((c.USER, ordered.num_users), (c.POI, ordered.num_pois)):
        occurs = np.zeros(size, dtype=bool)
        for codes in table[name].iterchunks():
            occurs[codes.to_numpy()] = True
        rank = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        columns[name] = np.empty(table.num_rows, dtype=np.int32)
        start = 0
        for codes in table[name].iterchunks():
            np.take(rank, codes.to_numpy(), out=columns[name][start : start + len(codes)])
            start += len(codes)
        numbers.append(np.flatnonzero(occurs))
        table = _without(table, name)
    columns[c.TIME] = table[SECONDS].to_numpy().view("datetime64[s]")
    table = _without(table, SECONDS)
    for name in (c.TZ_OFFSET_MINUTES, c.TRAJECTORY, c.SPLIT, c.SOURCE_ROW, c.HISTORY_ONLY):
        columns[name] = table[name].to_numpy()
        table = _without(table, name)
    if not columns[c.HISTORY_ONLY].any():
        del columns[c.HISTORY_ONLY]
    checkins = pd.DataFrame(columns, copy=False)
    checkins[c.TIME] = checkins[c.TIME].dt.tz_localize("UTC")
    return checkins, numbers[0], numbers[1]


def _without(table: pa.Table, column: str) -> pa.Table:
    """The other columns; the memory of this one goes back at once."""
    table = table.drop_columns([column])
    trim_heap()
    return table


def _of_places(checkins: pd.DataFrame, num_pois: int, block_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """For each POI the source row of its first check-in by (time, source row), and its training check-ins.

    The first is one of those that open cases.
    """
    most = np.iinfo(np.int64).max
    second_P, row_P = np.full(num_pois, most), np.full(num_pois, most)
    train_P = np.zeros(num_pois, dtype=np.int64)
    starts = range(0, len(checkins), block_rows)
    for part in (checkins.iloc[start : start + block_rows] for start in starts):
        poi, seconds, _ = _opening(part)
        np.minimum.at(second_P, poi, seconds)
        train_P += np.bincount(part[c.POI].to_numpy()[part[c.SPLIT].to_numpy() == c.TRAIN], minlength=num_pois)
    for part in (checkins.iloc[start : start + block_rows] for start in starts):
        poi, seconds, row = _opening(part)
        first = seconds == second_P[poi]
        np.minimum.at(row_P, poi[first], row[first])
    return row_P, train_P


def _opening(checkins: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """POI, seconds and source row of the check-ins that open cases."""
    of_cases = ~history_only(checkins)
    seconds = checkins[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
    return checkins[c.POI].to_numpy()[of_cases], seconds[of_cases], checkins[c.SOURCE_ROW].to_numpy()[of_cases]


def _ids(path: Path, numbers: np.ndarray) -> np.ndarray:
    """Ids as text by number; the numbers ascend, and one block of the file is in memory at a time."""
    ids: list[np.ndarray] = []
    start = 0
    with pq.ParquetFile(path, pre_buffer=False) as file:
        for batch in file.iter_batches(BLOCK_ROWS, use_threads=False):
            end = start + batch.num_rows
            inside = numbers[np.searchsorted(numbers, start) : np.searchsorted(numbers, end)] - start
            found = batch.column(0).take(pa.array(inside))
            ids.append(np.asarray(found.to_pandas().astype(str).to_numpy(object)))
            start = end
    return np.concatenate(ids)
