"""Foursquare's TIST2015 dataset: check-ins in one file, their places in another."""

from pathlib import Path
from typing import Final

import pyarrow as pa

from recap.data.parsing.options import ReadOptions
from recap.data.parsing.place_table import PlaceTable
from recap.data.parsing.read_report import RawRead, RowReport
from recap.data.parsing.row_block import RowBlock, text_rows
from recap.data.parsing.table_builder import CheckinTableBuilder
from recap.data.parsing.text_table import TextTable
from recap.data.parsing.times import CTIME
from recap.errors import DataError

_CHECKINS: Final = ("user", "poi", "time", "tz")
_PLACES: Final = ("poi", "latitude", "longitude", "category", "country")


def read_tist2015(path: Path, options: ReadOptions | None = None) -> RawRead:
    """Read the folder of a TIST2015 pair (Yang, Zhang, Qu; ACM TIST 7(3), 2016): its ``Checkins`` and ``POIs`` files.
    Raises DataError: one of both is missing, or a row is bad; the message names file and line.
    """
    options = options or ReadOptions()
    checkins, pois = (_the_file(path, part) for part in ("checkins", "pois"))
    row_report = RowReport(options.skip_bad_rows)
    places = PlaceTable.read(_open(pois, _PLACES, options), list(_PLACES[:4]), "poi", _parse, row_report)
    table = _open(checkins, _CHECKINS, options)
    builder = CheckinTableBuilder(checkins.name, options, row_report, layout=CTIME)
    fields = {name: name for name in _CHECKINS}
    fields |= {"lat": "place.latitude", "lon": "place.longitude", "category": "place.category"}
    for rows in text_rows(table, table.names, row_report):
        places.join(rows, "poi")
        builder.add(rows, fields)
    return builder.read("tist2015", [checkins.name, pois.name], table.rows_in)


def _open(path: Path, names: tuple[str, ...], options: ReadOptions) -> TextTable:
    return TextTable(path, delimiter="\t", names=names, encoding=options.encoding, fallback_encoding="latin-1")


def _the_file(path: Path, part: str) -> Path:
    folder = path if path.is_dir() else path.parent
    found = sorted(item for item in folder.iterdir() if f"tist2015_{part}" in item.name.lower())
    if len(found) != 1:
        raise DataError(f"{folder} must contain one TIST2015 file with {part} in its name, found {len(found)}")
    return found[0]


def _parse(rows: RowBlock) -> dict[str, pa.Array]:
    return {
        "poi": rows.identifier("poi", "poi_id", "place id"),
        "latitude": rows.number("latitude", "latitude", "latitude", -90, 90),
        "longitude": rows.number("longitude", "longitude", "longitude", -180, 180),
        "category": rows.text("category"),
    }
