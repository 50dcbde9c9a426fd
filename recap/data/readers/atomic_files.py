"""Atomic files: RecBole's check-ins in .inter and places in .item, LibCity's in .dyna and .geo."""

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

_USER: Final = ("user_id", "uid", "user")
_PLACE: Final = ("item_id", "venue_id", "poi_id", "location_id", "business_id", "iid")
_TIME: Final = ("timestamp", "time")
_LATITUDE: Final = ("latitude", "lat")
_LONGITUDE: Final = ("longitude", "lon", "lng", "long")
_OFFSET: Final = ("timezone_offset", "tz_offset")
_CATEGORY_ID: Final = ("venue_category_id", "category_id")
_CATEGORY: Final = ("venue_category_name", "category_name", "category", "categories")
_NAME: Final = ("name", "venue_name", "item_name", "title")
_MERGED: Final = ("click_times", "num_repeat")
_POINT: Final = r"^\s*\[\s*(?P<longitude>[^,\[\]]+?)\s*,\s*(?P<latitude>[^,\[\]]+?)\s*\]\s*$"
_DYNA: Final = ("type", "time", "entity_id", "location")
_GEO_CATEGORY: Final = ("venue_category_name", "category_name", "category", "poi_type")
LOCAL_TIME_FILES: Final = ("foursquare",)
"""Names of LibCity datasets whose published conversion adds the local offset and still writes ``Z``."""


def read_recbole(path: Path, options: ReadOptions | None = None) -> RawRead:
    """Read a RecBole dataset: the folder, or its .inter file with the .item file next to it (Zhao et al., CIKM 2021).
    Fields have RecBole's usual names; files without `timezone_offset` (minutes) need `timezone`. Raises DataError: a
    file or field is missing, or a row is bad; the message names file and line.
    """
    options = options or ReadOptions()
    inter = only_file(path, ".inter") if path.is_dir() else path
    item = inter.with_suffix(".item")
    builder = CheckinTableBuilder(inter.name, options)
    table = TextTable(inter, delimiter="\t", encoding=options.encoding)
    names = _typed_names(table)
    place = _need(table, names, _PLACE, "place")
    places = _read_items(item, place, options, builder.report) if item.is_file() else None

    def either(choices: tuple[str, ...]) -> str | None:
        found, joined = _pick(names, choices), _pick(places.columns, choices) if places is not None else None
        return names[found] if found else joined and f"place.{joined}"

    latitude, longitude = either(_LATITUDE), either(_LONGITUDE)
    if latitude is None or longitude is None:
        raise DataError(
            f"{inter.name} has no coordinates and there is no {item.name} with latitude:float and longitude:float; "
            "put that file next to it"
        )
    fields = {
        "user": names[_need(table, names, _USER, "user")],
        "poi": names[place],
        "time": names[_need(table, names, _TIME, "time")],
        "lat": latitude,
        "lon": longitude,
    }
    for field, choices in (("category", _CATEGORY), ("category_id", _CATEGORY_ID), ("name", _NAME), ("tz", _OFFSET)):
        if (column := either(choices)) is not None:
            fields[field] = column
    merged = _pick(names, _MERGED)
    if merged:
        builder.report.note(
            f"The column {merged} says that repeated visits were merged into one row each: revisits are lost, "
            "use the version of the dataset that keeps duplicates."
        )
    own = [name for name in fields.values() if name in table.names]
    builder.add_text(table, fields, lambda rows: places.join(rows, names[place]) if places else None, wanted=own)
    files = [inter.name] if places is None else [inter.name, item.name]
    return builder.read("recbole", files, table.rows_in)


def _typed_names(table: TextTable) -> dict[str, str]:
    """Field name -> column, from a header of ``name:type``."""
    kinds = {"token", "token_seq", "float", "float_seq"}
    untyped = [name for name in table.names if name.rpartition(":")[2] not in kinds]
    if untyped:
        raise DataError(
            f"{table.name} line 1: {untyped[0][:40]!r} has no RecBole type; expected name:token or name:float "
            "separated by tabs"
        )
    return {name.rpartition(":")[0]: name for name in table.names}


def _pick(names: dict[str, str] | dict[str, pa.Array], choices: tuple[str, ...]) -> str | None:
    return next((choice for choice in choices if choice in names), None)


def _need(table: TextTable, names: dict[str, str], choices: tuple[str, ...], what: str) -> str:
    found = _pick(names, choices)
    if found is None:
        raise DataError(
            f"{table.name} line 1: no field for the {what} (one of {', '.join(choices)}), got {', '.join(names)[:120]}"
        )
    return found


def _read_items(item: Path, place: str, options: ReadOptions, row_report: RowReport) -> PlaceTable:
    table = TextTable(item, delimiter="\t", encoding=options.encoding)
    names = _typed_names(table)
    if place not in names:
        got = ", ".join(names)[:120]
        raise DataError(f"{item.name} line 1: no field {place}, by which places are joined, got {got}")

    def parse(rows: RowBlock) -> dict[str, pa.Array]:
        columns = {place: rows.identifier(names[place], "poi_id", place)}
        for field, limit in ((_LATITUDE, 90), (_LONGITUDE, 180)):
            if found := _pick(names, field):
                columns[found] = rows.number(names[found], found, found, -limit, limit)
        return columns | {name: rows.text(column) for name, column in names.items() if name not in columns}

    return PlaceTable.read(table, table.names, place, parse, row_report)


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
    places = _read_geo(geo, options, builder.report)
    if is_local and not options.local_times:
        builder.report.note(
            f"Times of {dyna.name} are taken as local: LibCity's conversion of Foursquare data wrote them so."
        )
    table = TextTable(dyna, delimiter=",", quoted=True, encoding=options.encoding)
    _require(table, _DYNA)
    fields = {"user": "entity_id", "poi": "location", "time": "time", "lat": "place.latitude", "lon": "place.longitude"}
    for field, choices in (("category", _GEO_CATEGORY), ("category_id", _CATEGORY_ID)):
        if found := next((name for name in choices if name in places.columns), None):
            fields[field] = f"place.{found}"

    def prepare(rows: RowBlock) -> None:
        kinds = rows.columns["type"]
        other = pc.not_equal(kinds, "trajectory")
        rows.flag("not_a_checkin", other, lambda row: f"type must be trajectory, got {shorten(kinds[row])}")
        places.join(rows, "location")

    builder.add_text(table, fields, prepare, wanted=_DYNA)
    return builder.read("libcity", [dyna.name, geo.name], table.rows_in)


def _read_geo(geo: Path, options: ReadOptions, row_report: RowReport) -> PlaceTable:
    table = TextTable(geo, delimiter=",", quoted=True, encoding=options.encoding)
    _require(table, ("geo_id", "type", "coordinates"))
    extra = [name for name in (*_CATEGORY_ID, *_GEO_CATEGORY) if name in table.names]

    def parse(rows: RowBlock) -> dict[str, pa.Array]:
        _split_coordinates(rows)
        return {**place_columns(rows, "geo_id", "geo_id"), **{name: rows.text(name) for name in extra}}

    return PlaceTable.read(table, ["geo_id", "type", "coordinates", *extra], "geo_id", parse, row_report)


def _split_coordinates(rows: RowBlock) -> None:
    given = rows.columns["coordinates"]
    parts = pc.extract_regex(given, _POINT)
    expected = "coordinates must be [longitude,latitude] of a point"
    rows.flag("latitude", pc.is_null(parts), lambda row: f"{expected}, got {shorten(given[row])}")
    for name in ("latitude", "longitude"):
        rows.columns[name] = pc.fill_null(pc.struct_field(parts, name), "")


def _require(table: TextTable, names: tuple[str, ...]) -> None:
    missing = [name for name in names if name not in table.names]
    if missing:
        raise DataError(
            f"{table.name} line 1: no column {', '.join(missing)}; expected {','.join(names)}, "
            f"got {','.join(table.names)[:120]}"
        )
