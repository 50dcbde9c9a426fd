"""The user's own table as CSV, JSON or Parquet: its columns by name, and its rows block by block."""

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc as orc
import pyarrow.parquet as pq

from recap.data.parsing.degrees import split_point
from recap.data.parsing.nested_records import Flat, flat_visits, records_of, visit_lists
from recap.data.parsing.options import ONE_PERSON, ReadOptions
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import RowBlock
from recap.data.parsing.table_folder import labels_of, table_files
from recap.data.parsing.text_table import Form, TextTable, open_bytes, require_distinct, require_file, scan_text
from recap.data.parsing.times import TimeLayout
from recap.data.parsing.workbook import read_sheets
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
    """Columns and rows of a table; those of records within records are called ``outer.inner``. ``crs``: of a geometry
    that is not in degrees; ``labels``: columns that are the names of files and folders. Of published formats also the
    files, columns by field, the layout of times, whether they are local, whether the last row is first, and remarks.
    """

    name: str
    names: list[str]
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
        made = {name: self._made_of(name) for name in wanted if name not in self.names}
        stored = dict.fromkeys(part for name in wanted for part in (made[name][0] if name in made else [name]))
        for rows in self.read([*stored], row_report):
            rows.columns |= {name: make(rows) for name, (_, make) in made.items()}
            yield rows

    def _made_of(self, name: str) -> tuple[list[str], Callable[[RowBlock], pa.Array]]:
        """The columns that a name other than theirs is made of, and how."""
        parts = name.split("+")
        if len(parts) > 1 and {*parts} <= {*self.names}:
            return parts, lambda rows: rows.joined(parts)
        if name == ONE_PERSON:
            return [], lambda rows: pa.array([name] * len(rows))
        return [name[:-2]], lambda rows: split_point(rows.columns[name[:-2]])[int(name[-1]) - 1]


def open_table(path: Path, source_format: str, options: ReadOptions) -> TableSource:
    """Open a file, or a folder of files with equal columns. Raises DataError: no such table, or they differ."""
    if path.is_dir():
        return _open_folder(path, source_format, options)
    require_file(path)
    if source_format == "csv":
        return open_text(path, options)
    if source_format == "json":
        return _open_json(path, options)
    return _open_workbook(path, options) if source_format == "xlsx" else _open_typed(path, source_format == "parquet")


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
    note = f"{len(left)} of the files are not read, since their names say no part of a split: {names}."
    source.notes = [note] * bool(left)
    return source


def chain_sources(name: str, sources: Sequence[TableSource], labels: Mapping[str, Sequence[str]]) -> TableSource:
    """The rows of tables one after the other; ``labels``: further columns, with their value in each table."""

    def read(stored: list[str], row_report: RowReport) -> Generator[RowBlock]:
        for number, source in enumerate(sources):
            for rows in source.read([name for name in stored if name not in labels], row_report):
                for label in labels.keys() & {*stored}:
                    rows.columns[label] = pa.array([labels[label][number]] * len(rows), pa.string())
                yield rows

    return TableSource(name, [*sources[0].names, *labels], read, sources[0].crs, [*labels])


def open_text(path: Path, options: ReadOptions, form: Form = MappingProxyType({})) -> TableSource:
    """Text with a separator, perhaps of a published form."""
    table = TextTable(path, options, form)
    return TableSource(path.name, table.names, table.rows)


def _open_typed(path: Path, is_parquet: bool) -> TableSource:
    """Typed columns of Parquet, batch by batch, or of Feather, Arrow or ORC; fields of structures are columns, short
    lists are text, or each visit in a list is a row.
    """
    with _readable(path):
        whole = None if is_parquet else _read_arrow(path)
        schema = pq.read_schema(path) if whole is None else whole.schema

    def batches(rows: int, columns: list[str] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        start = 1
        with _readable(path):
            if whole is None:  # without a buffer of all bytes read so far
                parts = pq.ParquetFile(path, pre_buffer=False).iter_batches(rows, columns=columns, use_threads=False)
            else:
                parts = whole.select(columns or whole.column_names).to_batches(rows)
            for batch in parts:
                yield start, batch
                start += batch.num_rows

    def read(stored: list[str], row_report: RowReport) -> Generator[RowBlock]:
        for start, batch in batches(_BATCH_ROWS, stored):
            table = _flattened(pa.Table.from_batches([batch]))
            with _readable(path):
                columns = {name: _plain(table[name].combine_chunks()) for name in stored}
            lines = np.arange(start, start + batch.num_rows, dtype=np.int64)
            yield RowBlock(path.name, columns, lines, "row", row_report)

    def visits(lists: Sequence[str]) -> Iterator[list[_Row]]:
        for start, batch in batches(_NESTED_ROWS):
            yield [*flat_visits(batch.to_pylist(), lists, start)]

    flat = _flattened(schema.empty_table()).schema
    source = TableSource(path.name, flat.names, read, _projection(schema))
    if any(pa.types.is_list(field.type) or pa.types.is_large_list(field.type) for field in flat):
        first: list[Any] = next((batch.to_pylist() for _, batch in batches(_NESTED_ROWS)), [])
        lists = visit_lists(first, path.name)
        if lists:
            source = source_of_records(path.name, "row", partial(visits, lists))
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
    with suppress(AttributeError, KeyError, TypeError):  # what has another structure names none
        for column in geo["columns"].values():
            crs = column.get("crs") or {}
            if str(crs.get("type")).startswith("Projected"):
                known = crs.get("id") or {}
                code = ":".join(str(known[key])[:40] for key in ("authority", "code") if key in known)
                return code or str(crs.get("name"))[:60]
    return ""


def source_of_records(name: str, noun: str, batches: Callable[[], Iterable[Sequence[_Row]]]) -> TableSource:
    """Flat records, batch by batch, with their numbers; their columns are those of the first batch."""
    names = list({key: None for batch in islice(batches(), 1) for _, record in batch for key in record or {}})

    def read(stored: list[str], row_report: RowReport) -> Generator[RowBlock]:
        for batch in filter(None, batches()):
            numbers, records = zip(*batch, strict=True)
            values = {key: [(record or {}).get(key, "") for record in records] for key in stored}
            columns = {key: pa.array(texts, pa.string()) for key, texts in values.items()}
            rows = RowBlock(name, columns, np.asarray(numbers), noun, row_report)
            rows.flag("blank_line", np.array([record == {} for record in records]), lambda _: "blank line")
            rows.flag("not_a_checkin", np.array([record is None for record in records]), lambda _: "no JSON record")
            yield rows

    return TableSource(name, names, read)


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
    documents = records_of(json_or_none(text), path.name)
    if documents is None:
        lines = re.sub(r"\r\n?", "\n", text).removesuffix("\n").split("\n")
        documents = [json_or_none(line) if line.strip() else {} for line in lines]
    records = [*flat_visits(documents, visit_lists(documents, path.name))]
    if not any(record for _, record in records):
        raise DataError(f"{path.name} has no JSON records; expected one per line, or a list of them")
    return source_of_records(path.name, "line", partial(iter, [records]))


def _open_workbook(path: Path, options: ReadOptions) -> TableSource:
    """The named sheet of an Excel workbook, or its first with a table."""
    sheets = read_sheets(path)
    name = next(iter(sheets)) if options.sheet is None else options.sheet
    if name not in sheets:
        names = ", ".join(map(repr, [*sheets][:8]))
        raise DataError(f"{path.name} has no table in a sheet {name!r}; its tables: {names}")
    return source_of_records(path.name, "row", partial(iter, [sheets[name]]))


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
