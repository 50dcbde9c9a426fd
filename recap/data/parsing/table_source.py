"""The user's own table as CSV, JSON or Parquet: its columns by name, and its rows block by block."""

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc as orc
import pyarrow.parquet as pq

from recap.data.parsing.column_names import VALUE
from recap.data.parsing.degrees import split_point
from recap.data.parsing.nested_records import Flat, Shape, records_of
from recap.data.parsing.options import ONE_PERSON, ReadOptions
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import RowBlock
from recap.data.parsing.table_folder import labels_of, table_files
from recap.data.parsing.text_table import TextTable, first_cells, open_bytes, require_distinct, require_file, scan_text
from recap.data.parsing.times import TimeLayout
from recap.data.parsing.workbook import read_sheets, sheet_names
from recap.errors import DataError

PARQUET_MAGIC: Final = b"PAR1"
_BATCH_ROWS: Final = 1 << 18
_NESTED_ROWS: Final = 1 << 14
_LARGEST_JSON: Final = 1 << 26
_LARGEST_EXPORT: Final = 1 << 28
_Row = tuple[int, Flat | None]
"""The number of a record, and it flat; empty where blank, None where it is none."""


@dataclass
class TableSource:
    """Columns and rows of a table; those of records within records are called ``outer.inner``. ``rows_in`` of text and
    JSON is known once all rows were read. ``crs``: of the geometry, if the file names one that is not in degrees;
    ``labels``: columns that are the names of files and folders. Of published formats also the names of the files read,
    columns by field, how times are written, whether they are local, whether the last row happened first, and remarks.
    """

    name: str
    names: list[str]
    rows_in: int
    read: Callable[[list[str], RowReport], Generator[RowBlock]]
    crs: str = ""
    labels: Sequence[str] = ()
    files: Sequence[str] = ()
    fields: dict[str, str] = field(default_factory=dict)
    layout: TimeLayout | None = None
    is_local: bool = False
    is_newest_first: bool = False
    notes: Sequence[str] = ()

    def rows(self, wanted: list[str], row_report: RowReport) -> Generator[RowBlock]:
        """The rows of some columns: ``point.1`` and ``point.2`` are the numbers of a ``point``, ``a+b`` joins two
        columns, ``one`` is one person. Raises DataError: the file cannot be read to its end.
        """
        made = {name: self.parts(name) for name in wanted if name not in self.names}
        stored = [*(name for name in wanted if name not in made), *(part for parts in made.values() for part in parts)]
        for rows in self.read(list(dict.fromkeys(stored)), row_report):
            for name, parts in made.items():
                if not parts:
                    rows.columns[name] = pa.array([name] * len(rows))
                elif len(parts) > 1:
                    rows.columns[name] = rows.joined(parts)
                else:
                    rows.columns[name] = split_point(rows.columns[parts[0]])[int(name[-1]) - 1]
            yield rows

    def parts(self, name: str) -> list[str]:
        """The columns that a name other than theirs is made of; none for one person."""
        joined = name.split("+")
        is_joined = len(joined) > 1 and set(joined) <= {*self.names}
        return joined if is_joined else [] if name == ONE_PERSON else [name[:-2]]


def open_table(path: Path, source_format: str, options: ReadOptions) -> TableSource:
    """Open a table as csv, json, parquet, xlsx or arrow, or a folder of such files with equal columns. Raises
    DataError: it is no such file, or the columns differ.
    """
    if path.is_dir():
        return _open_folder(path, source_format, options)
    require_file(path)
    open_as: dict[str, Callable[[Path, ReadOptions], TableSource]] = {
        "csv": open_text,
        "json": _open_json,
        "parquet": partial(_open_typed, is_parquet=True),
        "xlsx": _open_workbook,
        "arrow": partial(_open_typed, is_parquet=False),
    }
    return open_as[source_format](path, options)


def _open_folder(folder: Path, source_format: str, options: ReadOptions) -> TableSource:
    """The files of a folder one after the other, with columns for what their names say."""
    files, left = table_files(folder)
    sources = [open_table(file, source_format, options) for file in files]
    labels = labels_of(folder, files)
    for source in sources:
        if {*source.names} != {*sources[0].names}:
            columns = "; ".join(f"{item.name}: {', '.join(item.names)[:100]}" for item in (sources[0], source))
            raise DataError(f"the files of {folder.name} have different columns ({columns}); name the one of check-ins")
    labels = {name if name not in sources[0].names else f"{name} name": values for name, values in labels.items()}
    source = chain_sources(folder.name, sources, labels)
    names = ", ".join(path.name for path in left[:3])
    source.notes = [
        f"{len(left)} of the files are not read, since their names say no part of a split: {names}."
    ] * bool(left)
    return source


def chain_sources(name: str, sources: Sequence[TableSource], labels: Mapping[str, Sequence[str]]) -> TableSource:
    """The rows of tables one after the other; ``labels``: further columns, with their value in each table."""

    def read(stored: list[str], row_report: RowReport) -> Generator[RowBlock]:
        for number, source in enumerate(sources):
            for rows in source.read([name for name in stored if name not in labels], row_report):
                for label in labels.keys() & {*stored}:
                    rows.columns[label] = pa.array([labels[label][number]] * len(rows), pa.string())
                yield rows
        found.rows_in = sum(source.rows_in for source in sources)

    rows_in = sum(source.rows_in for source in sources)
    found = TableSource(name, [*sources[0].names, *labels], rows_in, read, sources[0].crs, [*labels])
    return found


def open_text(
    path: Path,
    options: ReadOptions,
    *,
    names: list[str] | None = None,
    delimiter: str | None = None,
    quoted: bool = True,
    fallback: str = "utf-8",
) -> TableSource:
    """Text with a separator; columns are called column1, column2, … where the first line holds values, unless ``names``
    says how. ``delimiter``, ``quoted``, ``fallback``: see `first_cells` and `scan_text`.
    """
    lines, encoding = scan_text(path, options.encoding, fallback)
    header, delimiter = 0, delimiter or options.delimiter
    if names is None:
        delimiter, first, line = first_cells(path, delimiter, encoding, quoted)
        is_counted = first in ([str(place + start) for place in range(len(first))] for start in (0, 1))
        has_names = is_counted or not any(map(VALUE.fullmatch, first))
        names = [(has_names and name) or f"column{place}" for place, name in enumerate(first, 1)]
        header = line - (not has_names)
        require_distinct(names, f"{path.name} line {line}")
    assert delimiter is not None, "given with the names"
    table = TextTable(path, names, delimiter, encoding, header, lines - header, quoted, options.multiline)

    def read(stored: list[str], row_report: RowReport) -> Generator[RowBlock]:
        yield from table.rows(stored, row_report)
        source.rows_in = table.rows_in

    source = TableSource(path.name, names, table.rows_in, read)
    return source


def _open_typed(path: Path, options: ReadOptions, *, is_parquet: bool) -> TableSource:
    """Typed columns of Parquet, batch by batch, or of Feather, Arrow or ORC; fields of structures are columns, short
    lists are text, or each visit in a list is a row.
    """
    with _readable(path):
        whole = None if is_parquet else _read_arrow(path)
        schema = pq.read_schema(path) if whole is None else whole.schema
        rows_in = pq.read_metadata(path).num_rows if whole is None else whole.num_rows

    def batches(rows: int, columns: list[str] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        start = 1
        with _readable(path):
            if whole is None:  # without a buffer of all bytes read so far
                found = pq.ParquetFile(path, pre_buffer=False).iter_batches(rows, columns=columns, use_threads=False)
            else:
                found = whole.select(columns or whole.column_names).to_batches(rows)
            for batch in found:
                yield start, batch
                start += batch.num_rows

    def read(stored: list[str], row_report: RowReport) -> Generator[RowBlock]:
        for start, batch in batches(_BATCH_ROWS, stored):
            table = _flattened(pa.Table.from_batches([batch]))
            with _readable(path):
                columns = {name: _plain(table[name].combine_chunks()) for name in stored}
            lines = np.arange(start, start + batch.num_rows, dtype=np.int64)
            yield RowBlock(path.name, columns, lines, "row", row_report)

    flat = _flattened(schema.empty_table()).schema
    source = TableSource(path.name, flat.names, rows_in, read, _projection(schema))
    if any(pa.types.is_list(field.type) or pa.types.is_large_list(field.type) for field in flat):
        first: list[Any] = next((batch.to_pylist() for _, batch in batches(_NESTED_ROWS)), [])
        shape = Shape.of(first, path.name)
        if shape != Shape():
            source = source_of_records(
                path.name,
                "row",
                shape.rows(first),
                lambda: ([*shape.rows(batch.to_pylist(), start)] for start, batch in batches(_NESTED_ROWS)),
            )
    require_distinct(source.names, path.name)
    return source


def _read_arrow(path: Path) -> pa.Table:
    """Feather, which is an Arrow file, an Arrow stream, or ORC."""
    with pa.OSFile(str(path)) as file:
        magic = file.read(6)
        file.seek(0)
        if magic[:3] == b"ORC":
            table = orc.ORCFile(file).read()
        else:
            table = (pa.ipc.open_file if magic == b"ARROW1" else pa.ipc.open_stream)(file).read_all()
        table = _flattened(table)
        return table.rename_columns(table.column_names)  # names that are no text fail here


def _projection(schema: pa.Schema) -> str:
    """The reference system of GeoParquet's geometry, such as EPSG:3857; empty where it is one of degrees."""
    geo = json_or_none((schema.metadata or {}).get(b"geo", b"").decode("utf-8", "replace"))
    columns = geo.get("columns") if isinstance(geo, dict) else None
    for column in columns.values() if isinstance(columns, dict) else ():
        crs = column.get("crs") if isinstance(column, dict) else None
        if isinstance(crs, dict) and str(crs.get("type")).startswith("Projected"):
            known = found if isinstance(found := crs.get("id"), dict) else {}
            return (
                ":".join(str(known[key])[:40] for key in ("authority", "code") if key in known)
                or str(crs.get("name"))[:60]
            )
    return ""


def source_of_records(
    name: str, noun: str, first: Iterable[_Row], batches: Callable[[], Iterable[Sequence[_Row]]] | None = None
) -> TableSource:
    """Flat records, the first ones or batch by batch, with their numbers; their columns are those of the first ones."""
    names = list({name: None for _, record in first for name in record or {}})

    def read(stored: list[str], row_report: RowReport) -> Generator[RowBlock]:
        source.rows_in = 0
        for batch in filter(None, batches() if batches else [first]):
            numbers, records = zip(*batch, strict=True)
            columns = {
                name: pa.array([(record or {}).get(name, "") for record in records], pa.string()) for name in stored
            }
            rows = RowBlock(name, columns, np.asarray(numbers), noun, row_report)
            rows.flag("blank_line", np.array([record == {} for record in records]), lambda _: "blank line")
            rows.flag("not_a_checkin", np.array([record is None for record in records]), lambda _: "no JSON record")
            source.rows_in += len(records)
            yield rows

    source = TableSource(name, names, 0, read)
    return source


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise DataError(f"{path.name} cannot be read as Parquet or Arrow: {reason}") from error


def _plain(values: pa.Array) -> pa.Array:
    """A column without text that is no UTF-8 or dates that are none; short lists are text, long ones nothing."""
    values.validate(full=True)
    if not pa.types.is_nested(values.type):
        return values
    is_short = pa.types.is_list(values.type) and (pc.max(pc.list_value_length(values)).as_py() or 0) < 4
    return pa.array(map(str, values.to_pylist()) if is_short else [""] * len(values))


def _flattened(table: pa.Table) -> pa.Table:
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table


def _open_json(path: Path, options: ReadOptions) -> TableSource:
    """JSON records, one per line or in one list, which may be inside a record."""
    text = read_json_text(path, options.encoding, _LARGEST_JSON)
    found = records_of(json_or_none(text), path.name)
    if found is None:
        lines = re.sub(r"\r\n?", "\n", text).removesuffix("\n").split("\n")
        found = [json_or_none(line) if line.strip() else {} for line in lines]
    records = [*Shape.of(found, path.name).rows(found)]
    if not any(record for _, record in records):
        raise DataError(f"{path.name} has no JSON records; expected one per line, or a list of them")
    return source_of_records(path.name, "line", records)


def _open_workbook(path: Path, options: ReadOptions) -> TableSource:
    """The named sheet of an Excel workbook, or its first with a table."""
    sheets = read_sheets(path)
    sheet = next((sheet for sheet in sheets if options.sheet in (None, sheet.name)), None)
    if sheet is None:
        raise DataError(f"{path.name} has no table in a sheet {options.sheet!r}; its tables: {sheet_names(sheets)}")
    return source_of_records(path.name, "row", sheet.rows)


def read_json_text(path: Path, encoding: str | None, largest: int = _LARGEST_EXPORT) -> str:
    """The whole text of a file. Raises DataError: the file is too large, or no text."""
    _, encoding = scan_text(path, encoding)
    with open_bytes(path) as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise DataError(f"{path.name} is larger than {largest >> 20} MB; write it as CSV or Parquet")
    return data.decode("utf-8-sig" if encoding == "utf-8" else encoding)


def json_or_none(text: str) -> Any:
    """A JSON document; None where the text is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
