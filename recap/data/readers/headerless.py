"""Published files of tab-separated columns without a header: Foursquare's TSMC2014, SNAP's Gowalla and Brightkite."""

from pathlib import Path

from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead, RowReport
from recap.data.parsing.row_block import text_rows
from recap.data.parsing.table_builder import CheckinTableBuilder, Sink
from recap.data.parsing.text_table import TextTable
from recap.data.parsing.times import CTIME, ISO_ZONED


def read_foursquare(path: Path, options: ReadOptions | None = None, sink: Sink | None = None) -> RawRead:
    """Read a published TSMC2014 file (Yang, Zhang, Zheng, Yu; IEEE TSMC: Systems 45(1), 2015), plain or .gz.

    Text is UTF-8 where all of it is, otherwise Latin-1, the encoding of the published files. Quotation marks are
    letters. A missing category is the empty string. Raises DataError: the file is missing, empty, cut off or not of
    this format; the message names the line.

    Args:
        sink: takes the rows block by block, for files beyond memory.
    """
    options, names = options or ReadOptions(), ("user", "poi", "category_id", "category", "lat", "lon", "tz", "time")
    row_report = RowReport(options.skip_bad_rows)
    table = TextTable(path, delimiter="\t", names=names, encoding=options.encoding, fallback_encoding="latin-1")
    assembly = CheckinTableBuilder(path.name, options, row_report, layout=CTIME, sink=sink)
    for rows in text_rows(table, table.names, row_report):
        assembly.add(rows, dict(zip(names, names, strict=True)))
    return assembly.read("foursquare", [path.name], table.rows_in)


def read_gowalla(path: Path, options: ReadOptions | None = None) -> RawRead:
    """Read a file of the SNAP collection, plain or .gz (Cho, Myers, Leskovec; KDD 2011).

    The files have no categories and no time zone: `bbox="california"` cuts out the state and brings its zone, other
    places need `timezone`. A user's rows are written newest first, so the table is reversed: rows of one second are
    then in the order in which they happened. Raises DataError: the file is missing, empty, cut off or not of this
    format, or no time zone is known.
    """
    options, names = options or ReadOptions(), ("user", "time", "lat", "lon", "poi")
    row_report = RowReport(options.skip_bad_rows)
    table = TextTable(path, delimiter="\t", names=names, encoding=options.encoding)
    assembly = CheckinTableBuilder(path.name, options, row_report, layout=ISO_ZONED)
    for rows in text_rows(table, table.names, row_report):
        assembly.add(rows, dict(zip(names, names, strict=True)))
    return assembly.read("gowalla", [path.name], table.rows_in, newest_first=True)
