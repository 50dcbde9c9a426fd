"""Foursquare TSMC2014 files: eight tab-separated columns without a header, plain or .gz."""

from pathlib import Path
from typing import Final

from recap import columns as c
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead, ReadReport, RowReport
from recap.data.parsing.row_block import text_rows
from recap.data.parsing.table_builder import CheckinTableBuilder, Fields, Sink
from recap.data.parsing.text_table import TextTable
from recap.data.parsing.times import CTIME

_NAME: Final = "foursquare"
COLUMNS: Final = (
    c.USER_ID,
    c.POI_ID,
    c.CATEGORY_ID,
    c.CATEGORY,
    c.LATITUDE,
    c.LONGITUDE,
    c.TZ_OFFSET_MINUTES,
    c.TIME,
)
_FIELDS: Final = Fields(
    user=c.USER_ID,
    poi=c.POI_ID,
    time=c.TIME,
    latitude=c.LATITUDE,
    longitude=c.LONGITUDE,
    category=c.CATEGORY,
    category_id=c.CATEGORY_ID,
    tz_offset=c.TZ_OFFSET_MINUTES,
)


def read_foursquare(path: Path, options: ReadOptions | None = None) -> RawRead:
    """Read a published TSMC2014 file (Yang, Zhang, Zheng, Yu; IEEE TSMC: Systems 45(1), 2015).

    Text is UTF-8 where all of it is, otherwise Latin-1, the encoding of the published files. Quotation marks are
    letters. A missing category is the empty string.

    Raises:
        DataError: the file is missing, empty, cut off or not of this format; the message names the line.
    """
    assembly, num_rows = _parse(path, options or ReadOptions(), None)
    return assembly.read(_NAME, [path.name], num_rows)


def spool_foursquare(path: Path, options: ReadOptions, sink: Sink) -> ReadReport:
    """Read a TSMC2014 file as `read_foursquare` does, without keeping its rows: each block goes to the sink.

    Raises:
        DataError: see `read_foursquare`.
    """
    assembly, num_rows = _parse(path, options, sink)
    return assembly.account(_NAME, [path.name], num_rows)


def _parse(path: Path, options: ReadOptions, sink: Sink | None) -> tuple[CheckinTableBuilder, int]:
    row_report = RowReport(options.skip_bad_rows)
    table = TextTable(path, delimiter="\t", names=COLUMNS, encoding=options.encoding, fallback_encoding="latin-1")
    assembly = CheckinTableBuilder(path.name, options, row_report, layout=CTIME, sink=sink and sink())
    for rows in text_rows(table, _FIELDS.columns(), row_report):
        assembly.add(rows, _FIELDS)
    return assembly, table.rows_in
