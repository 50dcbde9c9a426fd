"""Foursquare TSMC2014 files: eight tab-separated Latin-1 columns without a header, plain or .gz."""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from recap import columns as c
from recap.data.sources.delimited import ColumnParser, as_categories, read_delimited

_TEXT = pa.string()
_COLUMNS = (c.USER_ID, c.POI_ID, c.CATEGORY_ID, c.CATEGORY, c.LATITUDE, c.LONGITUDE, c.TZ_OFFSET_MINUTES, c.TIME)


def read_foursquare(path: Path) -> pd.DataFrame:
    """Read a published TSMC2014 file (Yang, Zhang, Zheng, Yu; IEEE TSMC: Systems 45(1), 2015).

    Returns:
        One row per line in file order: ``user_id, poi_id, category_id, category`` (categories of strings; a missing
        category is the empty string), ``latitude, longitude`` (degrees), ``tz_offset_minutes`` (local minus UTC),
        ``time`` (UTC, whole seconds).

    Raises:
        DataError: the file is missing, empty, cut off or not of this format; the message names the line.
    """
    table = read_delimited(path, dict.fromkeys(_COLUMNS, _TEXT), delimiter="\t", encoding="latin-1")
    parse = ColumnParser(path.name)
    parsed = {
        c.USER_ID: parse.identifier(table[c.USER_ID], "user id"),
        c.POI_ID: parse.identifier(table[c.POI_ID], "venue id"),
        c.CATEGORY_ID: table[c.CATEGORY_ID],
        c.CATEGORY: table[c.CATEGORY],
        c.LATITUDE: parse.number(table[c.LATITUDE], "latitude", -90, 90),
        c.LONGITUDE: parse.number(table[c.LONGITUDE], "longitude", -180, 180),
        c.TZ_OFFSET_MINUTES: parse.integer(table[c.TZ_OFFSET_MINUTES], "timezone offset in minutes", -900, 900),
        c.TIME: parse.time(table[c.TIME], "%a %b %d %H:%M:%S +0000 %Y", (8, 10), "Tue Apr 03 18:00:09 +0000 2012"),
    }
    return as_categories(pa.table(parsed), (c.USER_ID, c.POI_ID, c.CATEGORY_ID, c.CATEGORY)).to_pandas()
