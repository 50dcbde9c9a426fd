"""LibCity atomic files: places in .geo, check-ins in .dyna, their meaning in config.json."""

from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.options import ReadOptions
from recap.data.parsing.place_table import PlaceTable
from recap.data.parsing.read_report import RawRead, RowReport
from recap.data.parsing.row_block import RowBlock, shorten, text_rows
from recap.data.parsing.table_builder import CheckinTableBuilder
from recap.data.parsing.text_table import TextTable
from recap.data.parsing.times import ISO_ZONED
from recap.errors import DataError
from recap.storage.json_text import read_json

_POINT: Final = r"^\s*\[\s*(?P<longitude>[^,\[\]]+?)\s*,\s*(?P<latitude>[^,\[\]]+?)\s*\]\s*$"
_DYNA: Final = ("type", "time", "entity_id", "location")
_CATEGORY_ID: Final = ("venue_category_id", "category_id")
_CATEGORY: Final = ("venue_category_name", "category_name", "category", "poi_type")
LOCAL_TIME_FILES: Final = ("foursquare",)
"""Names of LibCity datasets whose published conversion adds the local offset and still writes ``Z``."""


def read_libcity(path: Path, options: ReadOptions | None = None) -> RawRead:
    """Read a LibCity dataset folder of check-ins (type ``trajectory`` with locations; Wang et al., SIGSPATIAL 2021).

    Coordinates are ``[longitude,latitude]`` of the place. Times are UTC, except in folders named foursquare_*: there
    LibCity's conversion wrote wall-clock times, ``Z`` notwithstanding. The files have no time zone: `timezone`.

    Raises:
        DataError: a file is missing, is of another kind (coordinates instead of places), or holds a bad row.
    """
    options = options or ReadOptions()
    folder = path if path.is_dir() else path.parent
    geo, dyna = _find_files(folder, path)
    row_report = RowReport(options.skip_bad_rows)
    places = _read_places(geo, options, row_report)

    is_local = options.local_times or dyna.stem.lower().startswith(LOCAL_TIME_FILES)
    if is_local and not options.local_times:
        row_report.note(
            f"Times of {dyna.name} are taken as local: LibCity's conversion of Foursquare data wrote them so."
        )
    table = TextTable(dyna, delimiter=",", quoted=True, encoding=options.encoding)
    _require(table, _DYNA)
    fields = {"user": "entity_id", "poi": "location", "time": "time", "lat": "place.latitude", "lon": "place.longitude"}
    for field, choices in (("category", _CATEGORY), ("category_id", _CATEGORY_ID)):
        if (found := _first(places, choices)) is not None:
            fields[field] = found
    assembly = CheckinTableBuilder(dyna.name, options, row_report, layout=ISO_ZONED, local_by_format=is_local)
    for rows in text_rows(table, list(_DYNA), row_report):
        _mark_other_kinds(rows)
        places.join(rows, "location")
        assembly.add(rows, fields)
    return assembly.read("libcity", [dyna.name, geo.name], table.rows_in)


def _find_files(folder: Path, path: Path) -> tuple[Path, Path]:
    """The .geo and .dyna file: those that config.json names, else the only ones of the folder."""
    if not folder.is_dir():
        raise DataError(f"{path} does not exist")
    info = _read_config(folder).get("info")
    named = info if isinstance(info, dict) else {}
    files = []
    for suffix in (".geo", ".dyna"):
        name = named.get(f"{suffix[1:]}_file")
        if path.suffix == suffix:
            found = [path]
        elif isinstance(name, str) and (folder / Path(name).with_suffix(suffix).name).is_file():
            found = [folder / Path(name).with_suffix(suffix).name]
        else:
            found = sorted(folder.glob(f"*{suffix}"))
        if len(found) != 1:
            many = ", ".join(file.name for file in found[:3]) or "none"
            raise DataError(f"{folder} must contain one {suffix} file, found {many}; name the folder of one dataset")
        files.append(found[0])
    return files[0], files[1]


def _read_config(folder: Path) -> dict[str, Any]:
    file = folder / "config.json"
    if not file.is_file():
        return {}
    try:
        config = read_json(file, "utf-8-sig")
    except ValueError as error:
        raise DataError(f"{file.name} is not JSON ({error}); fix it or remove it") from error
    if not isinstance(config, dict):
        raise DataError(f"{file.name} must contain one object; fix it or remove it")
    dyna = config.get("dyna")
    trajectory = dyna.get("trajectory") if isinstance(dyna, dict) else None
    if isinstance(trajectory, dict) and trajectory.get("location", "geo_id") != "geo_id":
        raise DataError(
            f"{file.name}: dyna.trajectory.location is {trajectory['location']!r}, check-ins need 'geo_id'; "
            "GPS points without places cannot be used"
        )
    return config


def _read_places(geo: Path, options: ReadOptions, row_report: RowReport) -> PlaceTable:
    table = TextTable(geo, delimiter=",", quoted=True, encoding=options.encoding)
    _require(table, ("geo_id", "type", "coordinates"))
    extra = [name for name in (*_CATEGORY_ID, *_CATEGORY) if name in table.names]

    def parse(rows: RowBlock) -> dict[str, pa.Array]:
        _split_coordinates(rows)
        return {
            "geo_id": rows.identifier("geo_id", "poi_id", "geo_id"),
            "latitude": rows.number("latitude", "latitude", "latitude", -90, 90),
            "longitude": rows.number("longitude", "longitude", "longitude", -180, 180),
            **{name: rows.text(name) for name in extra},
        }

    return PlaceTable.read(table, ["geo_id", "type", "coordinates", *extra], "geo_id", parse, row_report)


def _mark_other_kinds(rows: RowBlock) -> None:
    kinds = rows.columns["type"]
    other = pc.not_equal(kinds, "trajectory").to_numpy(zero_copy_only=False)
    rows.flag("not_a_checkin", other, lambda row: f"type must be trajectory, got {shorten(kinds[row])}")


def _split_coordinates(rows: RowBlock) -> None:
    given = rows.columns["coordinates"]
    parts = pc.extract_regex(given, _POINT)
    missing = pc.is_null(parts).to_numpy(zero_copy_only=False)
    rows.flag(
        "latitude",
        missing,
        lambda row: f"coordinates must be [longitude,latitude] of a point, got {shorten(given[row])}",
    )
    for name in ("latitude", "longitude"):
        rows.columns[name] = pc.fill_null(pc.struct_field(parts, name), "")


def _require(table: TextTable, names: tuple[str, ...]) -> None:
    missing = [name for name in names if name not in table.names]
    if missing:
        raise DataError(
            f"{table.name} line 1: no column {', '.join(missing)}; expected {','.join(names)}, "
            f"got {','.join(table.names)[:120]}"
        )


def _first(places: PlaceTable, names: tuple[str, ...]) -> str | None:
    return next((f"place.{name}" for name in names if name in places.columns), None)
