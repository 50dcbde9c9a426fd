"""The user's own CSV or Parquet file: columns named with `--map`, or guessed from their names."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recap.data.parsing.guess import complete_mapping
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead, RowReport
from recap.data.parsing.row_block import RowBlock, text_rows
from recap.data.parsing.table_builder import CheckinTableBuilder, Fields, Sink
from recap.data.parsing.text_table import TextTable, header_names, read_head, require_distinct, require_file
from recap.errors import DataError

PARQUET_MAGIC: Final = b"PAR1"
_DELIMITERS: Final = ("\t", ",", ";", "|")
_BATCH_ROWS: Final = 1 << 18


def read_csv(path: Path, options: ReadOptions | None = None, sink: Sink | None = None) -> RawRead:
    """Read a CSV (any separator, header in the first line, values in double quotes or not; plain or .gz).

    Args:
        sink: takes the rows block by block, for files beyond memory.

    Raises:
        DataError: not such a file, a needed column that is neither named nor guessed, or a bad row.
    """
    options = options or ReadOptions()
    table = TextTable(
        path,
        delimiter=options.delimiter or sniff_delimiter(path, options.encoding),
        quoted=True,
        multiline=options.multiline,
        encoding=options.encoding,
    )
    mapping = complete_mapping(options.columns, table.names, path.name)
    fields, row_report = _fields(mapping), RowReport(options.skip_bad_rows)
    assembly = CheckinTableBuilder(path.name, options, row_report, sink=sink)
    for rows in text_rows(table, fields.columns(), row_report):
        assembly.add(rows, fields)
    return assembly.read("csv", [path.name], table.rows_in, columns=mapping)


def read_parquet(path: Path, options: ReadOptions | None = None, sink: Sink | None = None) -> RawRead:
    """Read a Parquet file with columns of any fitting type: numbers or text, timestamps with or without zone, epochs.

    Args:
        sink: takes the rows block by block, for files beyond memory.

    Raises:
        DataError: not a Parquet file, a needed column that is neither named nor guessed, or a bad row.
    """
    options = options or ReadOptions()
    require_file(path)
    try:
        # Without a buffer beside it: that would hold every byte of the file read so far.
        with pq.ParquetFile(path, pre_buffer=False) as file:
            names = list(file.schema_arrow.names)
            require_distinct(names, path.name)
            mapping = complete_mapping(options.columns, names, path.name)
            fields = _fields(mapping)
            assembly = CheckinTableBuilder(path.name, options, RowReport(options.skip_bad_rows), sink=sink)
            for rows in _parquet_rows(file, path.name, fields.columns()):
                assembly.add(rows, fields)
            return assembly.read("parquet", [path.name], file.metadata.num_rows, columns=mapping)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path.name} cannot be read as Parquet: {str(error).splitlines()[0]}") from error


def column_names(path: Path, options: ReadOptions) -> list[str]:
    """Columns of a CSV or Parquet file, without reading its rows.

    Raises:
        DataError: neither.
    """
    require_file(path)
    with path.open("rb") as file:
        is_parquet = file.read(4) == PARQUET_MAGIC
    if is_parquet:
        try:
            return list(pq.read_schema(path).names)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{path.name} cannot be read as Parquet: {str(error).splitlines()[0]}") from error
    delimiter = options.delimiter or sniff_delimiter(path, options.encoding)
    return header_names(read_head(path, 1, options.encoding), delimiter, quoted=True)


def _parquet_rows(file: pq.ParquetFile, name: str, wanted: list[str]) -> Iterator[RowBlock]:
    start = 1
    for batch in file.iter_batches(_BATCH_ROWS, columns=wanted, use_threads=False):
        lines = np.arange(start, start + batch.num_rows, dtype=np.int64)
        start += batch.num_rows
        columns = {column: batch.column(column) for column in wanted}
        for column, values in columns.items():
            values.validate(full=True)  # text that is no UTF-8 and dates that are none
            if pa.types.is_nested(values.type):
                raise DataError(f"{name}: column {column!r} holds {values.type}; expected one value a row")
        yield RowBlock(name, columns, lines, noun="row")


def sniff_delimiter(path: Path, encoding: str | None = None) -> str:
    """The separator that stands most often in the first line.

    Raises:
        DataError: the line holds none of tab, comma, semicolon and bar.
    """
    head = read_head(path, 1, encoding)
    first = head[0] if head else ""
    best = max(_DELIMITERS, key=first.count)
    if first.count(best) == 0:
        raise DataError(
            f"{path.name} line 1: expected column names separated by tabs, commas, semicolons or bars, "
            f"got {first[:60]!r}; name another separator with --text delimiter"
        )
    return best


def _fields(mapping: dict[str, str]) -> Fields:
    return Fields(
        user=mapping["user"],
        poi=mapping["poi"],
        time=mapping["time"],
        latitude=mapping["lat"],
        longitude=mapping["lon"],
        category=mapping.get("category"),
        category_id=mapping.get("category_id"),
        poi_name=mapping.get("name"),
        tz_offset=mapping.get("tz"),
        split=mapping.get("split"),
        trajectory=mapping.get("trajectory") if "split" in mapping else None,
        date=mapping.get("date"),
    )
