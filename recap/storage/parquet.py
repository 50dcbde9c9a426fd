"""Parquet files that may be anything."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def read_validated(path: Path, columns: list[str] | None = None) -> pa.Table:
    """A table, validated before any value is used: an index beyond its dictionary would read foreign memory.

    Args:
        columns: those to read, all by default.

    Raises:
        pyarrow.ArrowException, OSError: no Parquet file, or one whose values do not fit their types.
    """
    table = pq.read_table(path, columns=columns)
    table.validate(full=True)
    return table
