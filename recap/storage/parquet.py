"""Parquet files that may be anything."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def read_validated(path: Path, columns: list[str] | None = None) -> pa.Table:
    """A table, validated before use: an index beyond its dictionary would read foreign memory. Raises
    pyarrow.ArrowException, OSError: no Parquet file, or its values do not fit their types.
    """
    table = pq.read_table(path, columns=columns)
    table.validate(full=True)
    return table
