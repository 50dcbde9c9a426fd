"""Foursquare TSMC2014 files: eight tab-separated columns without a header, plain or .gz."""

from pathlib import Path
from typing import Final

from recap import columns as c
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead, RowReport
from recap.data.parsing.row_block import text_rows
from recap.data.parsing.table_builder import CheckinTableBuilder, Fields, Sink
from recap.data.parsing.text_table import TextTable
from recap.data.parsing.times import CTIME

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


def read_foursquare(path: Path, options: ReadOptions | None = None, sink: Sink | None = None) -> RawRead:
    """Read a published TSMC2014 file (Yang, Zhang, Zheng, Yu; IEEE TSMC: Systems 45(1), 2015).

    Text is UTF-8 where all of it is, otherwise Latin-1, the encoding of the published files. Quotation marks are
    letters. A missing category is the empty string.

    Args:
        sink: takes the rows block by block, for files beyond memory.

    Raises:
        DataError: the file is missing, empty, cut off or not of this format; the message names the line.
    """
    options = options or ReadOptions()
    row_report = RowReport(options.skip_bad_rows)
    table = TextTable(path, delimiter="\t", names=COLUMNS, encoding=options.encoding, fallback_encoding="latin-1")
    assembly = CheckinTableBuilder(path.name, options, row_report, layout=CTIME, sink=sink)
    for rows in text_rows(table, _FIELDS.columns(), row_report):
        assembly.add(rows, _FIELDS)
    return assembly.read("foursquare", [path.name], table.rows_in)
