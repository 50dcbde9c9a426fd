"""LibCity atomic files: places in .geo, check-ins in .dyna."""

from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.options import ReadOptions
from recap.data.parsing.place_table import PlaceTable, place_columns
from recap.data.parsing.read_report import RawRead, RowReport
from recap.data.parsing.row_block import RowBlock, shorten
from recap.data.parsing.table_builder import CheckinTableBuilder
from recap.data.parsing.text_table import TextTable, only_file
from recap.data.parsing.times import ISO_ZONED
from recap.errors import DataError

_POINT: Final = r"^\s*\[\s*(?P<longitude>[^,\[\]]+?)\s*,\s*(?P<latitude>[^,\[\]]+?)\s*\]\s*$"
_DYNA: Final = ("type", "time", "entity_id", "location")
_CATEGORY_ID: Final = ("venue_category_id", "category_id")
_CATEGORY: Final = ("venue_category_name", "category_name", "category", "poi_type")
LOCAL_TIME_FILES: Final = ("foursquare",)
"""Names of LibCity datasets whose published conversion adds the local offset and still writes ``Z``."""


def read_libcity(path: Path, options: ReadOptions | None = None) -> RawRead:
    """Read a LibCity dataset folder of check-ins (type ``trajectory`` with locations; Wang et al., SIGSPATIAL 2021).

    Coordinates are ``[longitude,latitude]`` of the place. Times are UTC, except in folders named foursquare_*: there
    LibCity's conversion wrote wall-clock times, ``Z`` notwithstanding. The files have no time zone: `timezone`. Raises
    DataError: a file is missing, has coordinates instead of places, or holds a bad row.
    """
    options = options or ReadOptions()
    folder = path if path.is_dir() else path.parent
    geo, dyna = (path if path.suffix == suffix else only_file(folder, suffix) for suffix in (".geo", ".dyna"))
    is_local = options.local_times or dyna.stem.lower().startswith(LOCAL_TIME_FILES)
    builder = CheckinTableBuilder(dyna.name, options, layout=ISO_ZONED, local_by_format=is_local)
    places = _read_places(geo, options, builder.report)
    if is_local and not options.local_times:
        builder.report.note(
            f"Times of {dyna.name} are taken as local: LibCity's conversion of Foursquare data wrote them so."
        )
    table = TextTable(dyna, delimiter=",", quoted=True, encoding=options.encoding)
    _require(table, _DYNA)
    fields = {"user": "entity_id", "poi": "location", "time": "time", "lat": "place.latitude", "lon": "place.longitude"}
    for field, choices in (("category", _CATEGORY), ("category_id", _CATEGORY_ID)):
        if found := next((name for name in choices if name in places.columns), None):
            fields[field] = f"place.{found}"

    def prepare(rows: RowBlock) -> None:
        kinds = rows.columns["type"]
        other = pc.not_equal(kinds, "trajectory").to_numpy(zero_copy_only=False)
        rows.flag("not_a_checkin", other, lambda row: f"type must be trajectory, got {shorten(kinds[row])}")
        places.join(rows, "location")

    builder.add_text(table, fields, prepare, wanted=_DYNA)
    return builder.read("libcity", [dyna.name, geo.name], table.rows_in)


def _read_places(geo: Path, options: ReadOptions, row_report: RowReport) -> PlaceTable:
    table = TextTable(geo, delimiter=",", quoted=True, encoding=options.encoding)
    _require(table, ("geo_id", "type", "coordinates"))
    extra = [name for name in (*_CATEGORY_ID, *_CATEGORY) if name in table.names]

    def parse(rows: RowBlock) -> dict[str, pa.Array]:
        _split_coordinates(rows)
        return {**place_columns(rows, "geo_id", "geo_id"), **{name: rows.text(name) for name in extra}}

    return PlaceTable.read(table, ["geo_id", "type", "coordinates", *extra], "geo_id", parse, row_report)


def _split_coordinates(rows: RowBlock) -> None:
    given = rows.columns["coordinates"]
    parts = pc.extract_regex(given, _POINT)
    missing = pc.is_null(parts).to_numpy(zero_copy_only=False)
    expected = "coordinates must be [longitude,latitude] of a point"
    rows.flag("latitude", missing, lambda row: f"{expected}, got {shorten(given[row])}")
    for name in ("latitude", "longitude"):
        rows.columns[name] = pc.fill_null(pc.struct_field(parts, name), "")


def _require(table: TextTable, names: tuple[str, ...]) -> None:
    missing = [name for name in names if name not in table.names]
    if missing:
        raise DataError(
            f"{table.name} line 1: no column {', '.join(missing)}; expected {','.join(names)}, "
            f"got {','.join(table.names)[:120]}"
        )
