"""SNAP check-in files (Gowalla, Brightkite): user, ISO time, latitude, longitude, location; newest first."""

from pathlib import Path
from typing import Final

from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead, RowReport
from recap.data.parsing.row_block import text_rows
from recap.data.parsing.table_builder import CheckinTableBuilder, Fields
from recap.data.parsing.text_table import TextTable
from recap.data.parsing.times import ISO_ZONED

COLUMNS: Final = ("user", "check-in time", "latitude", "longitude", "location id")
_FIELDS: Final = Fields(
    user="user", poi="location id", time="check-in time", latitude="latitude", longitude="longitude"
)


def read_gowalla(path: Path, options: ReadOptions | None = None) -> RawRead:
    """Read a file of the SNAP collection, plain or .gz (Cho, Myers, Leskovec; KDD 2011).

    The files have no header, no categories and no time zone: `bbox="california"` cuts out the state and brings its
    zone, other places need `timezone`. A user's rows stand newest first, so the table is turned round: rows of one
    second then stand in the order in which they happened.

    Raises:
        DataError: the file is missing, empty, cut off or not of this format, or no time zone is known.
    """
    options = options or ReadOptions()
    row_report = RowReport(options.skip_bad_rows)
    table = TextTable(path, delimiter="\t", names=COLUMNS, encoding=options.encoding)
    assembly = CheckinTableBuilder(path.name, options, row_report, layout=ISO_ZONED)
    for rows in text_rows(table, _FIELDS.columns(), row_report):
        assembly.add(rows, _FIELDS)
    return assembly.read("gowalla", [path.name], table.rows_in, newest_first=True)
