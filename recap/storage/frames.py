"""Data frames written one after another into a CSV, Parquet or JSON-lines file."""

import json
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recap.errors import ConfigError
from recap.storage.atomic import new_file
from recap.storage.json_text import finite_json

SUFFIXES: Final = (".csv", ".parquet", ".jsonl")


def check_suffix(path: Path) -> None:
    """Raise ConfigError if the file's ending names no format."""
    if path.suffix not in SUFFIXES:
        raise ConfigError(f"--out expects a file that ends in {', '.join(SUFFIXES)}, got {str(path)!r}")


def write_frames(frames: Iterable[pd.DataFrame], path: Path) -> int:
    """Write at least one frame, whole or not at all, one frame in memory; returns the number of rows. Raises
    RecapError: the disk refused.
    """
    rows = 0
    with new_file(path, make_parents=True) as temporary, ExitStack() as opened:
        text = opened.enter_context(temporary.open("w", encoding="utf-8", newline=""))
        writer: pq.ParquetWriter | None = None
        for frame in frames:
            if path.suffix == ".csv":
                frame.to_csv(text, index=False, header=rows == 0, lineterminator="\n")
            elif path.suffix == ".jsonl":
                text.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in plain_records(frame))
            else:
                table = pa.Table.from_pandas(frame, writer and writer.schema, preserve_index=False)
                writer = writer or opened.enter_context(pq.ParquetWriter(temporary, table.schema, compression="zstd"))
                writer.write_table(table)
            rows += len(frame)
    return rows


def plain_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows ready for JSON: times as ISO text, a missing number as None."""
    times = {
        str(name): [time.isoformat() for time in column]
        for name, column in frame.items()
        if pd.api.types.is_datetime64_any_dtype(column)
    }
    return finite_json(frame.assign(**times).to_dict(orient="records"))
