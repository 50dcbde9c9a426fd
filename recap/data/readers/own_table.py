"""The user's own table, as CSV, JSON or Parquet: columns named with `--map`, or as they were understood."""

from pathlib import Path

from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead
from recap.data.parsing.table_builder import CheckinTableBuilder, Sink
from recap.data.parsing.table_source import open_table
from recap.data.understanding import understand_table
from recap.errors import DataError


def read_own_table(
    path: Path, source_format: str, options: ReadOptions | None = None, sink: Sink | None = None
) -> RawRead:
    """Read a table of any kind that `table_source` opens. Raises DataError: not such a file, a column or layout that is
    unsure, no known time zone, or a bad row. ``sink``: takes the rows block by block, for files beyond memory.
    """
    options = options or ReadOptions()
    if not options.is_settled:
        found = understand_table(path, source_format, options)
        if not found.options.is_settled:
            raise DataError(found.refusal())
        options = found.options
    source = open_table(path, source_format, options)
    builder = CheckinTableBuilder(path.name, options, sink=sink)
    for rows in source.rows(list(options.columns.values()), builder.report):
        builder.add(rows, options.columns)
    return builder.read(source_format, [path.name], source.rows_in, columns=options.columns)
