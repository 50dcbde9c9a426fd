"""Published datasets: Foursquare's TSMC2014 and TIST2015, SNAP's Gowalla, GETNext, LibCity and RecBole."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from recap import columns as c
from recap.data.parsing.formats import KNOWN_FILES
from recap.data.parsing.moments import HELP_ZONE
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead, RowReport
from recap.data.parsing.row_block import RowBlock, shorten
from recap.data.parsing.table_builder import CheckinTableBuilder, Sink
from recap.data.parsing.table_folder import SPLIT_WORDS, split_of
from recap.data.parsing.text_table import TextTable, only_file
from recap.data.parsing.times import CTIME, ISO_ZONED
from recap.errors import DataError

_TABBED: Final = {"foursquare": (CTIME, "latin-1"), "gowalla": (ISO_ZONED, "utf-8")}
"""How times are written, and the encoding of text that is no UTF-8."""
HEADER: Final = (
    "user_id,POI_id,POI_catid,POI_catid_code,POI_catname,latitude,longitude,timezone,UTC_time,local_time,day_of_week,"
    "norm_in_day_time,trajectory_id,norm_day_shift,norm_relative_time"
)
"""Of GETNext. Columns after `timezone` follow from the others and are not read, but for the trajectory."""
_GETNEXT: Final = ("user_id", "POI_id", "latitude", "longitude", "UTC_time")
_MERGED: Final = {"click_times", "num_repeat"}
_POINT: Final = r"^\s*\[\s*(?P<lon>[^,\[\]]+?)\s*,\s*(?P<lat>[^,\[\]]+?)\s*\]\s*$"
_DYNA: Final = ("type", "time", "entity_id", "location")
LOCAL_TIME_FILES: Final = ("foursquare",)
"""Names of LibCity datasets whose published conversion adds the local offset and still writes ``Z``."""


@dataclass(frozen=True, eq=False)
class PlaceTable:
    """A separate file of places: its distinct ids, and their other columns by field."""

    name: str
    ids: pa.Array
    columns: dict[str, pa.Array]

    @classmethod
    def read(
        cls,
        table: TextTable,
        fields: Mapping[str, str],
        row_report: RowReport,
        prepare: Callable[[RowBlock], None] = lambda rows: None,
    ) -> "PlaceTable":
        """Read the fields' columns, each block prepared first; rows that cannot be used become notes of the check-ins'
        report. Raises DataError: no place, two rows with one id, or a bad row that the report does not skip.
        """
        private, kept = RowReport(row_report.skip_bad_rows), []
        for rows in table.rows(private):
            prepare(rows)
            columns = {"poi": rows.identifier(fields["poi"], "poi_id", "place id")}
            for field, what, limit in (("lat", "latitude", 90), ("lon", "longitude", 180)):
                if field in fields:
                    columns[field] = rows.number(fields[field], what, what, -limit, limit)
            columns |= {field: rows.text(column) for field, column in fields.items() if field not in columns}
            kept.append(rows.finish(columns, private))
        for reason, (count, examples) in private.reported.items():
            if reason != "blank_line":
                row_report.note(f"{count} places of {table.name} cannot be used, for example {examples[0]}.")
        if not any(block.num_rows for block in kept):
            raise DataError(f"{table.name} has no places")
        places = pa.concat_tables(kept).combine_chunks()
        counts = pc.value_counts(places["poi"])
        twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        if len(twice):
            raise DataError(f"{table.name}: place {shorten(twice[0])} is listed twice; leave one row for each place")
        columns = {field: places[field].combine_chunks() for field in places.column_names}
        return cls(table.name, columns.pop("poi"), columns)

    @property
    def fields(self) -> dict[str, str]:
        """The fields, as `join` calls their columns."""
        return {field: f"place.{field}" for field in self.columns}

    def join(self, rows: RowBlock, column: str) -> None:
        """Add the columns of each row's place; rows of unknown places are marked."""
        wanted = rows.text(column)
        index = pc.index_in(wanted, self.ids)
        rows.flag("poi_id", pc.equal(wanted, ""), lambda row: "place id is empty")
        rows.flag("unknown_place", pc.is_null(index), lambda row: f"place {shorten(wanted[row])} is not in {self.name}")
        rows.columns |= {f"place.{field}": pc.take(values, index) for field, values in self.columns.items()}


def read_tabbed(path: Path, source_format: str, options: ReadOptions, sink: Sink | None = None) -> RawRead:
    """Read TSMC2014 (Yang, Zhang, Zheng, Yu; IEEE TSMC: Systems 45(1), 2015) or a file of the SNAP collection (Cho,
    Myers, Leskovec; KDD 2011), plain or .gz. SNAP's name no time zone, `bbox="california"` brings that of the state;
    their rows are written newest first, so the table is reversed. Raises DataError: no such file, or no time zone is
    known; the message names the line. ``sink``: takes the rows block by block, for files beyond memory.
    """
    layout, fallback = _TABBED[source_format]
    table = _tabbed(path, source_format, options, fallback)
    builder = CheckinTableBuilder(path.name, options, layout=layout, sink=sink)
    builder.add_text(table)
    return builder.read(source_format, [path.name], table.rows_in, newest_first=source_format == "gowalla")


def read_tist2015(path: Path, options: ReadOptions) -> RawRead:
    """Read the folder of a TIST2015 pair (Yang, Zhang, Qu; ACM TIST 7(3), 2016): its ``Checkins`` and ``POIs`` files.
    Raises DataError: one of both is missing, or a row is bad; the message names file and line.
    """
    folder, tables = path if path.is_dir() else path.parent, []
    for part in ("tist2015_checkins", "tist2015_pois"):
        found = sorted(item for item in folder.iterdir() if part in item.name.lower())
        if len(found) != 1:
            part = part.partition("_")[2]
            raise DataError(f"{folder} must contain one TIST2015 file with {part} in its name, found {len(found)}")
        tables.append(_tabbed(found[0], part, options, "latin-1"))
    table, pois = tables
    builder = CheckinTableBuilder(table.name, options, layout=CTIME)
    places = PlaceTable.read(pois, {name: name for name in pois.names[:4]}, builder.report)
    fields = {name: name for name in table.names} | places.fields
    builder.add_text(table, fields, lambda rows: places.join(rows, "poi"))
    return builder.read("tist2015", [table.name, pois.name], table.rows_in)


def _tabbed(path: Path, kind: str, options: ReadOptions, fallback: str) -> TextTable:
    names = KNOWN_FILES["tabbed"][kind]
    return TextTable(path, delimiter="\t", names=names, encoding=options.encoding, fallback_encoding=fallback)


def read_getnext(path: Path, options: ReadOptions) -> RawRead:
    """Read a folder of GETNext CSV files as one table with `split` and `trajectory_id`, or one of them, without split
    (Yang, Liu, Zhao; SIGIR 2022). A file without the column `timezone` (minutes) needs the option. Raises DataError: a
    file is missing, lacks a column, or holds a bad row; the message names file and line.
    """
    parts: dict[int | None, Path] = _parts_of(path) if path.is_dir() else {None: path}
    builder = CheckinTableBuilder(path.name, options)
    first: dict[str, str] = {}
    rows_in = 0
    for code, file in parts.items():
        table = TextTable(file, delimiter=",", quoted=True, multiline=options.multiline, encoding=options.encoding)
        if {*_GETNEXT} - {*table.names} == {"UTC_time"} and "local_time" in table.names:
            _require(table, _GETNEXT, "read its local times with --format csv --map time=local_time")
        _require(table, _GETNEXT, f"a GETNext file begins with {HEADER}")
        fields = _pick({name: name for name in table.names}, "getnext")
        # One layout of times and one clock for all parts of a dataset.
        first = first or fields
        for field in (fields.keys() ^ first.keys()) - ({"tz"} if options.timezone else set()):
            raise DataError(
                f"{path.name}: some of its files have a column {(fields | first)[field]}, {file.name} differs; "
                f"expected the same columns in all of them{f', or {HELP_ZONE}' if field == 'tz' else ''}"
            )
        for rows in table.rows(builder.report, list(fields.values())):
            if code is not None:
                rows.columns[c.SPLIT] = pa.array([c.SPLIT_NAMES[code]] * len(rows))
            builder.add(rows, fields | ({"split": c.SPLIT} if code is not None else {}))
        rows_in += table.rows_in
    return builder.read("getnext", [file.name for file in parts.values()], rows_in)


def _parts_of(folder: Path) -> dict[int | None, Path]:
    """Split code -> CSV file of a folder, by the words in the file names. Raises DataError: one is missing, or two
    files claim the same part.
    """
    parts: dict[int | None, Path] = {}
    for path in sorted([*folder.glob("*.csv"), *folder.glob("*.csv.gz")]):
        code = SPLIT_WORDS.get(split_of(Path(path.name)))
        if code is not None and code in parts:
            raise DataError(
                f"{folder.name}: {parts[code].name} and {path.name} both look like the {c.SPLIT_NAMES[code]} part; "
                "leave one of them in the folder"
            )
        parts |= {} if code is None else {code: path}
    missing = [name for code, name in enumerate(c.SPLIT_NAMES) if code not in parts]
    if missing:
        raise DataError(
            f"{folder} has no CSV file with {' and '.join(missing)} in its name; "
            "a GETNext folder has three, such as NYC_train.csv, NYC_val.csv, NYC_test.csv"
        )
    return {code: parts[code] for code in range(len(parts))}


def _require(table: TextTable, names: Sequence[str], expected: str = "") -> None:
    missing = [name for name in names if name not in table.names]
    if missing:
        expected = expected or f"expected {','.join(names)}, got {','.join(table.names)[:120]}"
        raise DataError(f"{table.name} line 1: no column {', '.join(missing)}; {expected}")


def read_recbole(path: Path, options: ReadOptions) -> RawRead:
    """Read a RecBole dataset: the folder, or its .inter file with the .item file next to it (Zhao et al., CIKM 2021).
    Fields have RecBole's usual names; files without `timezone_offset` (minutes) need `timezone`. Raises DataError: a
    file or field is missing, or a row is bad; the message names file and line.
    """
    inter = only_file(path, ".inter") if path.is_dir() else path
    item = inter.with_suffix(".item")
    builder = CheckinTableBuilder(inter.name, options)
    table = TextTable(inter, delimiter="\t", encoding=options.encoding)
    fields, names = _fields_of(table)
    for field, what in (("poi", "place"), ("user", "user"), ("time", "time")):
        if field not in fields:
            choices, got = ", ".join(KNOWN_FILES["recbole"][field]), ", ".join(names)[:120]
            raise DataError(f"{table.name} line 1: no field for the {what} (one of {choices}), got {got}")
    places = None
    if item.is_file():
        of_items = TextTable(item, delimiter="\t", encoding=options.encoding)
        place, (theirs, known) = fields["poi"].rpartition(":")[0], _fields_of(of_items)
        if place not in known:
            got = ", ".join(known)[:120]
            raise DataError(f"{item.name} line 1: no field {place}, by which places are joined, got {got}")
        theirs = {field: name for field, name in theirs.items() if field not in ("user", "time")}
        places = PlaceTable.read(of_items, theirs | {"poi": known[place]}, builder.report)
    own, fields = [*fields.values()], (places.fields if places else {}) | fields
    if not {"lat", "lon"} <= fields.keys():
        raise DataError(
            f"{inter.name} has no coordinates and there is no {item.name} with latitude:float and longitude:float; "
            "put that file next to it"
        )
    for merged in sorted(_MERGED & names.keys())[:1]:
        builder.report.note(
            f"The column {merged} says that repeated visits were merged into one row each: revisits are lost, "
            "use the version of the dataset that keeps duplicates."
        )
    builder.add_text(table, fields, lambda rows: places.join(rows, fields["poi"]) if places else None, wanted=own)
    return builder.read("recbole", [inter.name, *([item.name] if places else [])], table.rows_in)


def _fields_of(table: TextTable) -> tuple[dict[str, str], dict[str, str]]:
    """Columns by field and by name, of a header of ``name:type``."""
    kinds = {"token", "token_seq", "float", "float_seq"}
    untyped = [name for name in table.names if name.rpartition(":")[2] not in kinds]
    if untyped:
        raise DataError(
            f"{table.name} line 1: {untyped[0][:40]!r} has no RecBole type; expected name:token or name:float "
            "separated by tabs"
        )
    names = {name.rpartition(":")[0]: name for name in table.names}
    return _pick(names, "recbole"), names


def _pick(names: Mapping[str, str], source_format: str) -> dict[str, str]:
    """Field -> the first of the format's names for it that is there."""
    known = KNOWN_FILES[source_format].items()
    found = {field: next((name for name in choices if name in names), "") for field, choices in known}
    return {field: names[name] for field, name in found.items() if name}


def read_libcity(path: Path, options: ReadOptions) -> RawRead:
    """Read a LibCity dataset folder of check-ins (type ``trajectory`` with locations; Wang et al., SIGSPATIAL 2021).

    Coordinates are ``[longitude,latitude]`` of the place. Times are UTC, except in folders named foursquare_*: there
    LibCity's conversion wrote wall-clock times, ``Z`` notwithstanding. The files have no time zone: `timezone`. Raises
    DataError: a file is missing, has coordinates instead of places, or holds a bad row.
    """
    folder = path if path.is_dir() else path.parent
    geo, dyna = (path if path.suffix == suffix else only_file(folder, suffix) for suffix in (".geo", ".dyna"))
    is_local = options.local_times or dyna.stem.lower().startswith(LOCAL_TIME_FILES)
    builder = CheckinTableBuilder(dyna.name, options, layout=ISO_ZONED, local_by_format=is_local)
    of_places = TextTable(geo, delimiter=",", quoted=True, encoding=options.encoding)
    _require(of_places, ("geo_id", "type", "coordinates"))
    theirs = _pick({name: name for name in of_places.names}, "libcity")
    theirs |= {"poi": "geo_id", "lat": "lat", "lon": "lon"}
    places = PlaceTable.read(of_places, theirs, builder.report, _split_coordinates)
    if is_local and not options.local_times:
        builder.report.note(
            f"Times of {dyna.name} are taken as local: LibCity's conversion of Foursquare data wrote them so."
        )
    table = TextTable(dyna, delimiter=",", quoted=True, encoding=options.encoding)
    _require(table, _DYNA)

    def prepare(rows: RowBlock) -> None:
        kinds = rows.columns["type"]
        other = pc.not_equal(kinds, "trajectory")
        rows.flag("not_a_checkin", other, lambda row: f"type must be trajectory, got {shorten(kinds[row])}")
        places.join(rows, "location")

    fields = {"user": "entity_id", "poi": "location", "time": "time"} | places.fields
    builder.add_text(table, fields, prepare, wanted=_DYNA)
    return builder.read("libcity", [dyna.name, geo.name], table.rows_in)


def _split_coordinates(rows: RowBlock) -> None:
    given = rows.columns["coordinates"]
    parts = pc.extract_regex(given, _POINT)
    expected = "coordinates must be [longitude,latitude] of a point"
    rows.flag("latitude", pc.is_null(parts), lambda row: f"{expected}, got {shorten(given[row])}")
    rows.columns |= {half: pc.fill_null(pc.struct_field(parts, half), "") for half in ("lat", "lon")}
