"""Data frames written one after another into a CSV, Parquet or JSON-lines file."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recap.errors import ConfigError
from recap.storage.atomic import new_file
from recap.storage.json_text import finite_json

SUFFIXES: Final = (".csv", ".parquet", ".jsonl")
_ROWS_PER_GROUP: Final = 65_536


def check_suffix(path: Path) -> None:
    """Refuse a file name whose ending names no format.

    Raises:
        ConfigError: it ends otherwise.
    """
    if path.suffix not in SUFFIXES:
        raise ConfigError(f"--out expects a file that ends in {', '.join(SUFFIXES)}, got {str(path)!r}")


def write_frames(frames: Iterable[pd.DataFrame], path: Path) -> int:
    """Write at least one frame, whole or not at all, and return the number of rows; few rows are in memory.

    Raises:
        RecapError: the disk refused.
    """
    with new_file(path, make_parents=True) as temporary:
        if path.suffix == ".parquet":
            return _write_parquet(frames, temporary)
        rows = 0
        with temporary.open("w", encoding="utf-8", newline="") as file:
            for at, frame in enumerate(frames):
                if path.suffix == ".csv":
                    frame.to_csv(file, index=False, header=at == 0, lineterminator="\n")
                else:
                    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in plain_records(frame))
                rows += len(frame)
        return rows


def _write_parquet(frames: Iterable[pd.DataFrame], path: Path) -> int:
    waiting: list[pa.Table] = []
    writer, rows = None, 0
    try:
        for frame in frames:
            table = pa.Table.from_pandas(frame, writer and writer.schema, preserve_index=False)
            writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
            waiting.append(table)
            rows += len(frame)
            if sum(map(len, waiting)) >= _ROWS_PER_GROUP:
                writer.write_table(pa.concat_tables(waiting))
                waiting.clear()
        assert writer is not None
        if waiting:
            writer.write_table(pa.concat_tables(waiting))
    finally:
        if writer is not None:
            writer.close()
    return rows


def plain_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows ready for JSON: times as ISO text, a missing number as None."""
    times = {
        name: [time.isoformat() for time in column]
        for name, column in frame.items()
        if pd.api.types.is_datetime64_any_dtype(column)
    }
    rows: list[dict[str, Any]] = finite_json(frame.assign(**times).to_dict(orient="records"))
    return rows
