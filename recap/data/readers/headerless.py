"""Published files of tab-separated columns without a header: Foursquare's TSMC2014 and TIST2015, SNAP's Gowalla and
Brightkite.
"""

from pathlib import Path
from typing import Final

import pyarrow as pa

from recap.data.parsing.options import ReadOptions
from recap.data.parsing.place_table import PlaceTable, place_columns
from recap.data.parsing.read_report import RawRead
from recap.data.parsing.row_block import RowBlock
from recap.data.parsing.table_builder import CheckinTableBuilder, Sink
from recap.data.parsing.text_table import TextTable
from recap.data.parsing.times import CTIME, ISO_ZONED
from recap.errors import DataError

_FOURSQUARE: Final = ("user", "poi", "category_id", "category", "lat", "lon", "tz", "time")
_GOWALLA: Final = ("user", "time", "lat", "lon", "poi")
_TIST_CHECKINS: Final = ("user", "poi", "time", "tz")
_TIST_PLACES: Final = ("poi", "latitude", "longitude", "category", "country")


def read_foursquare(path: Path, options: ReadOptions | None = None, sink: Sink | None = None) -> RawRead:
    """Read a published TSMC2014 file (Yang, Zhang, Zheng, Yu; IEEE TSMC: Systems 45(1), 2015), plain or .gz. Text is
    UTF-8 where all of it is, otherwise Latin-1, as published. Raises DataError: no such file; the message names the
    line. ``sink``: takes the rows block by block, for files beyond memory.
    """
    options = options or ReadOptions()
    table = _open(path, _FOURSQUARE, options, "latin-1")
    builder = CheckinTableBuilder(path.name, options, layout=CTIME, sink=sink)
    builder.add_text(table)
    return builder.read("foursquare", [path.name], table.rows_in)


def read_gowalla(path: Path, options: ReadOptions | None = None) -> RawRead:
    """Read a file of the SNAP collection, plain or .gz (Cho, Myers, Leskovec; KDD 2011). It names no time zone:
    `bbox="california"` brings that of the state, other places need `timezone`. Rows are written newest first, so the
    table is reversed. Raises DataError: no such file, or no time zone is known.
    """
    options = options or ReadOptions()
    table = _open(path, _GOWALLA, options)
    builder = CheckinTableBuilder(path.name, options, layout=ISO_ZONED)
    builder.add_text(table)
    return builder.read("gowalla", [path.name], table.rows_in, newest_first=True)


def read_tist2015(path: Path, options: ReadOptions | None = None) -> RawRead:
    """Read the folder of a TIST2015 pair (Yang, Zhang, Qu; ACM TIST 7(3), 2016): its ``Checkins`` and ``POIs`` files.
    Raises DataError: one of both is missing, or a row is bad; the message names file and line.
    """
    options = options or ReadOptions()
    checkins, pois = (_the_file(path, part) for part in ("checkins", "pois"))
    builder = CheckinTableBuilder(checkins.name, options, layout=CTIME)
    wanted = list(_TIST_PLACES[:4])
    places = PlaceTable.read(_open(pois, _TIST_PLACES, options, "latin-1"), wanted, "poi", _parse, builder.report)
    table = _open(checkins, _TIST_CHECKINS, options, "latin-1")
    fields = {name: name for name in _TIST_CHECKINS}
    fields |= {"lat": "place.latitude", "lon": "place.longitude", "category": "place.category"}
    builder.add_text(table, fields, lambda rows: places.join(rows, "poi"))
    return builder.read("tist2015", [checkins.name, pois.name], table.rows_in)


def _open(path: Path, names: tuple[str, ...], options: ReadOptions, fallback: str = "utf-8") -> TextTable:
    return TextTable(path, delimiter="\t", names=names, encoding=options.encoding, fallback_encoding=fallback)


def _the_file(path: Path, part: str) -> Path:
    folder = path if path.is_dir() else path.parent
    found = sorted(item for item in folder.iterdir() if f"tist2015_{part}" in item.name.lower())
    if len(found) != 1:
        raise DataError(f"{folder} must contain one TIST2015 file with {part} in its name, found {len(found)}")
    return found[0]


def _parse(rows: RowBlock) -> dict[str, pa.Array]:
    return {**place_columns(rows, "poi", "place id"), "category": rows.text("category")}
