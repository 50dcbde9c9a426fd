"""Published datasets: Foursquare's TSMC2014 and TIST2015, SNAP's Gowalla, GETNext, LibCity and RecBole."""

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from recap import columns as c
from recap.data.parsing.formats import KNOWN_FILES
from recap.data.parsing.moments import HELP_ZONE
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import RowBlock, shorten
from recap.data.parsing.table_folder import split_of
from recap.data.parsing.table_source import TableSource, chain_sources, open_text
from recap.data.parsing.text_table import Form, only_file
from recap.data.parsing.times import CTIME, ISO_ZONED
from recap.errors import DataError

_FORMS: Final[dict[str, Form]] = KNOWN_FILES["published"]
_LAYOUTS: Final = {"ctime": CTIME, "iso": ISO_ZONED}
_POINT: Final = r"^\s*\[\s*(?P<lon>[^,\[\]]+?)\s*,\s*(?P<lat>[^,\[\]]+?)\s*\]\s*$"
_LOCAL: Final = "foursquare"
"""Name of LibCity datasets whose published conversion adds the local offset and still writes ``Z``."""


def open_published(path: Path, source_format: str, options: ReadOptions) -> TableSource:
    """Open a published dataset. Raises DataError: a file or a column is missing, or the parts of one table differ.

    - foursquare: TSMC2014 (Yang, Zhang, Zheng, Yu; IEEE TSMC: Systems 45(1), 2015), plain or .gz.
    - gowalla: a file of the SNAP collection (Cho, Myers, Leskovec; KDD 2011), written newest first. It names no zone;
      `bbox="california"` brings that of the state.
    - getnext: three CSV files in a folder, or one of them without split (Yang, Liu, Zhao; SIGIR 2022).
    - libcity: a folder of check-ins of type ``trajectory`` (Wang et al., SIGSPATIAL 2021) without a zone, in UTC; in
      folders named foursquare_* LibCity's conversion wrote wall-clock times, ``Z`` notwithstanding.
    - recbole: a folder, or an .inter file with the .item file next to it (Zhao et al., CIKM 2021).
    - tist2015: a folder with its ``Checkins`` and ``POIs`` files (Yang, Zhang, Qu; ACM TIST 7(3), 2016).
    """
    form = _FORMS[source_format]
    if source_format == "getnext" and path.is_dir():
        return _open_parts(path, form, options)
    file, places = _files_of(path, form)
    source = _open(file, form, options)
    if places is not None:
        of_places = form.get("places", {})
        if "merged" in form:  # places have the names of check-ins, and the one by which both are joined
            known = {field: names for field, names in form["fields"].items() if field not in ("user", "time")}
            of_places = {"needed": ["poi"], "fields": known | {"poi": [_plain(source.fields["poi"], form)]}}
        source = _with_places(source, _open(places, form | of_places, options))
    if not {"lat", "lon"} <= source.fields.keys():
        missing = f"{file.with_suffix('.item').name} with latitude:float and longitude:float"
        raise DataError(f"{file.name} has no coordinates and there is no {missing}; put that file next to it")
    if source_format == "libcity":
        source.is_local = options.local_times or file.stem.lower().startswith(_LOCAL)
        if source.is_local and not options.local_times:
            local = f"Times of {file.name} are taken as local: LibCity's conversion of Foursquare data wrote them so."
            source.notes = [local]
    for name in sorted({*form.get("merged", ())} & {_plain(name, form) for name in source.names})[:1]:
        merged = f"The column {name} says that repeated visits were merged into one row each: revisits are lost, "
        source.notes = [f"{merged}use the version of the dataset that keeps duplicates."]
    return source


def _files_of(path: Path, form: Form) -> tuple[Path, Path | None]:
    """The file of check-ins, and that of places if there is one."""
    if "files" not in form:
        return path, None
    marks, folder = form["files"], path if path.is_dir() else path.parent
    if "merged" in form:
        file = only_file(folder, marks[0]) if path.is_dir() else path
        places = file.with_suffix(marks[1])
        return file, places if places.is_file() else None
    file, places = (path if path.suffix == mark else only_file(folder, mark) for mark in marks)
    return file, places


def _plain(name: str, form: Form) -> str:
    """The name of a column without its type."""
    return name.rpartition(":")[0] if "types" in form else name


def _open(path: Path, form: Form, options: ReadOptions) -> TableSource:
    """A file with its columns by field."""
    source = open_text(path, options, form)
    untyped = [name for name in source.names if name.rpartition(":")[2] not in form.get("types", (name,))]
    if "types" in form and untyped:
        raise DataError(
            f"{source.name} line 1: {untyped[0][:40]!r} has no RecBole type; expected name:token or name:float "
            "separated by tabs"
        )
    names = {_plain(name, form): name for name in source.names}
    known = form.get("fields") or {name: [name] for name in names}
    chosen = {field: next((name for name in choices if name in names), "") for field, choices in known.items()}
    missing = [" or ".join(known[field]) for field in form.get("needed", ()) if not chosen[field]]
    if missing:
        got = f"{', '.join(names)[:120]}{form.get('hint', '')}"
        raise DataError(f"{source.name} line 1: no column {', '.join(missing)}; got {got}")
    is_zoned = options.timezone is not None
    source.fields = {field: names[name] for field, name in chosen.items() if name and not (is_zoned and field == "tz")}
    source.layout, source.is_newest_first = _LAYOUTS.get(form.get("time", "")), form.get("is_newest_first", False)
    return source


def _open_parts(folder: Path, form: Form, options: ReadOptions) -> TableSource:
    """The CSV files of a split by their names. Raises DataError: one is missing, there twice, or lacks a column."""
    files = sorted([*folder.glob("*.csv"), *folder.glob("*.csv.gz")])
    parts_of = {name: [file for file in files if split_of(Path(file.name)) == name] for name in c.SPLIT_NAMES}
    for name, part in parts_of.items():
        if len(part) != 1:
            got = " and ".join(file.name for file in part) or "none"
            raise DataError(
                f"{folder} must have one CSV file with {name} in its name, such as NYC_{name}.csv, found {got}"
            )
    parts = [_open(part[0], form, options) for part in parts_of.values()]
    # One layout of times and one clock for all parts of a dataset.
    for table in parts:
        for field in table.fields.keys() ^ parts[0].fields.keys():
            raise DataError(
                f"{folder.name}: some of its files have a column {form['fields'][field][0]}, {table.name} differs; "
                f"expected the same columns in all of them{f', or {HELP_ZONE}' if field == 'tz' else ''}"
            )
    source = chain_sources(folder.name, parts, {c.SPLIT: c.SPLIT_NAMES})
    source.files, source.fields = [table.name for table in parts], parts[0].fields | {"split": c.SPLIT}
    return source


def _with_places(source: TableSource, places: TableSource) -> TableSource:
    """Check-ins with the columns of their places, of which a separate file has the ids."""
    own, added = source.fields, [field for field in places.fields if field not in ("poi", "point")]
    added += ["lat", "lon"] if "point" in places.fields else []

    def read(stored: list[str], row_report: RowReport) -> Generator[RowBlock]:
        columns = _read_places(places, row_report)
        for rows in source.read([name for name in stored if name in source.names], row_report):
            _join(rows, own, columns, places.name)
            yield rows

    fields = {field: f"place.{field}" for field in added} | own
    names = [*source.names, *(f"place.{field}" for field in added)]
    return replace(source, names=names, read=read, fields=fields, files=[source.name, places.name])


def _read_places(source: TableSource, row_report: RowReport) -> dict[str, pa.Array]:
    """Columns of places by field; unusable rows become notes. Raises DataError: no place, or one id twice."""
    private, kept, fields = RowReport(row_report.skip_bad_rows), [], source.fields
    for rows in source.read([*fields.values()], private):
        if "point" in fields:
            _split_point(rows, fields["point"])
        columns = {"poi": rows.identifier(fields["poi"], "poi_id", "place id")}
        for field, what, limit in (("lat", "latitude", 90), ("lon", "longitude", 180)):
            if field in fields or field in rows.columns:
                columns[field] = rows.number(fields.get(field, field), what, what, limit)
        others = {field: column for field, column in fields.items() if field not in (*columns, "point")}
        kept.append(rows.finish(columns | {field: rows.text(column) for field, column in others.items()}))
    for reason, (count, examples) in private.reported.items():
        if reason != "blank_line":
            row_report.note(f"{count} places of {source.name} cannot be used, for example {examples[0]}.")
    if not any(block.num_rows for block in kept):
        raise DataError(f"{source.name} has no places")
    places = pa.concat_tables(kept).combine_chunks()
    counts = pc.value_counts(places["poi"])
    twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    if len(twice):
        raise DataError(f"{source.name}: place {shorten(twice[0])} is listed twice; leave one row for each place")
    return {name: places[name].combine_chunks() for name in places.column_names}


def _split_point(rows: RowBlock, column: str) -> None:
    """Add the latitude and the longitude of a column of points."""
    given = rows.columns[column]
    parts = pc.extract_regex(given, _POINT)
    expected = "coordinates must be [longitude,latitude] of a point"
    rows.flag("latitude", pc.is_null(parts), lambda row: f"{expected}, got {shorten(given[row])}")
    rows.columns |= {half: pc.fill_null(pc.struct_field(parts, half), "") for half in ("lat", "lon")}


def _join(rows: RowBlock, fields: dict[str, str], places: dict[str, pa.Array], where: str) -> None:
    """Add the columns of each row's place; rows of another kind and those of unknown places are marked."""
    if "kind" in fields:
        kinds, expected = rows.columns[fields["kind"]], "type must be trajectory"
        other = pc.not_equal(kinds, "trajectory")
        rows.flag("not_a_checkin", other, lambda row: f"{expected}, got {shorten(kinds[row])}")
    wanted = rows.text(fields["poi"])
    index = pc.index_in(wanted, places["poi"])
    rows.flag("poi_id", pc.equal(wanted, ""), lambda row: "place id is empty")
    rows.flag("unknown_place", pc.is_null(index), lambda row: f"place {shorten(wanted[row])} is not in {where}")
    rows.columns |= {f"place.{name}": pc.take(values, index) for name, values in places.items()}
