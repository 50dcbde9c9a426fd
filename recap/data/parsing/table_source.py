"""A table of one's own, whatever it is stored as: its columns by name, and its rows block by block."""

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Generator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import RowBlock, decoded, text_rows
from recap.data.parsing.text_table import TextTable, open_bytes, read_head, require_distinct, require_file, scan_text
from recap.errors import DataError

PARQUET_MAGIC: Final = b"PAR1"
_DELIMITERS: Final = ("\t", ";", "|", ",", " ")
_BATCH_ROWS: Final = 1 << 18
_RECORDS: Final = 1 << 15
_NAMING_RECORDS: Final = 1000
"""Records of a JSON file whose fields become columns."""
_LONGEST_RECORD: Final = 1 << 21
_LARGEST_DOCUMENT: Final = 1 << 26
_DEEPEST: Final = 6
_NO_NAME: Final = re.compile(r"[+-]?\d+([.,]\d+)?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|\d{1,2}:\d\d.*|.*\(-?\d.*")
"""A value in the first line that says there are no column names: a number, a date, a clock."""
_NUMBERED: Final = re.compile(r"column\d+")
_POINT: Final = (
    r"^(?:SRID=\d+;)?[A-Za-z\s]*[(\[{]?\s*(?P<a>[+-]?\d{1,3}\.\d+)\s*[°,;\s]\s*(?P<b>[+-]?\d{1,3}\.\d+)[^\d]*$"
)


class TableSource(Protocol):
    """Columns and rows of a table.

    Attributes:
        name: file name for messages.
        names: the columns; those within others are named ``outer.inner``.
    """

    name: str
    names: list[str]

    @property
    def rows_in(self) -> int:
        """How many rows there are, once they were read."""

    def rows(self, wanted: list[str], row_report: RowReport) -> Generator[RowBlock]:
        """The rows of some columns; ``point.1`` and ``point.2`` are the two numbers of a column ``point``.

        Raises:
            DataError: the file cannot be read to its end.
        """


def open_table(path: Path, source_format: str, options: ReadOptions) -> TableSource:
    """Open a table as csv, json or parquet.

    Raises:
        DataError: it is no such file.
    """
    require_file(path)
    kinds: dict[str, Callable[[Path, ReadOptions], TableSource]]
    kinds = {"csv": _TextSource, "json": _JsonSource, "parquet": _ParquetSource}
    return kinds[source_format](path, options)


def is_parquet(path: Path) -> bool:
    """Whether a file begins with Parquet's mark."""
    with path.open("rb") as file:
        return file.read(4) == PARQUET_MAGIC


def halves(column: str) -> tuple[str, str]:
    """Names of the two numbers of a point."""
    return f"{column}.1", f"{column}.2"


def split_point(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The two numbers of ``40.7,-74.0``, ``(40.7, -74.0)``, ``POINT(-74.0 40.7)`` or a list; null where none are."""
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        long = pc.greater_equal(pc.list_value_length(values), 2)
        values = pc.if_else(pc.fill_null(long, False), values, None)
        numbers = pc.cast(pc.list_flatten(pc.list_slice(values, 0, 2, return_fixed_size_list=False)), pa.string())
        both = np.full((len(values), 2), None, dtype=object)
        both[values.is_valid().to_numpy(zero_copy_only=False)] = np.array(numbers, dtype=object).reshape(-1, 2)
        return pa.array(both[:, 0], pa.string()), pa.array(both[:, 1], pa.string())
    parts = pc.extract_regex(pc.cast(decoded(values), pa.string()), _POINT)
    return pc.struct_field(parts, "a"), pc.struct_field(parts, "b")


def _physical(wanted: list[str], names: list[str]) -> list[str]:
    """The stored columns that hold the wanted ones."""
    return list(dict.fromkeys(name if name in names else name[:-2] for name in wanted))


def _with_halves(columns: dict[str, pa.Array], wanted: list[str]) -> dict[str, pa.Array]:
    for name in wanted:
        if name not in columns:
            columns |= dict(zip(halves(name[:-2]), split_point(columns[name[:-2]]), strict=True))
    return {name: columns[name] for name in wanted}


class _TextSource:
    """Text with a separator, with or without column names in the first line."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        delimiter, first = first_cells(path, options.delimiter, options.encoding)
        mapped = [column.removesuffix(".1").removesuffix(".2") for column in options.columns.values()]
        is_numbered = bool(mapped) and all(map(_NUMBERED.fullmatch, mapped)) and not set(mapped) <= set(first)
        is_counted = first in ([str(place + start) for place in range(len(first))] for start in (0, 1))
        has_names = is_counted or not (is_numbered or any(map(_NO_NAME.fullmatch, first)))
        names = [(has_names and name) or f"column{place}" for place, name in enumerate(first, 1)]
        require_distinct(names, f"{path.name} line 1")
        self.table = TextTable(
            path,
            delimiter=delimiter,
            names=names,
            header=int(has_names),
            quoted=True,
            multiline=options.multiline,
            encoding=options.encoding,
        )
        self.name, self.names = path.name, names

    @property
    def rows_in(self) -> int:
        return self.table.rows_in

    def rows(self, wanted: list[str], row_report: RowReport) -> Generator[RowBlock]:
        for rows in text_rows(self.table, _physical(wanted, self.names), row_report):
            rows.columns = _with_halves(rows.columns, wanted)
            yield rows


def first_cells(path: Path, delimiter: str | None, encoding: str | None) -> tuple[str, list[str]]:
    """The separator and what it makes of the first line: where none is named, the one that cuts most of the first lines
    into as many columns as the first, and into most columns.

    Raises:
        DataError: the first line holds none.
    """
    first, *others = read_head(path, 50, encoding)
    others = [line for line in others if line.strip()]
    found = []
    for mark in [delimiter] if delimiter else _DELIMITERS:
        try:
            rows = list(csv.reader([first, *others], delimiter=mark, skipinitialspace=mark == " "))
        except csv.Error as error:
            raise DataError(
                f"{path.name}: the first lines hold no column names ({error}); this is not a check-in file"
            ) from error
        columns = len(rows[0]) if rows else 0
        is_even = 2 * sum(len(row) == columns for row in rows[1:]) >= len(rows) - 1
        if (columns > 1 and (is_even or mark != " ")) or delimiter:
            found.append((is_even, columns, mark, [cell.strip().removeprefix("\ufeff") for cell in rows[0]]))
    if not found:
        raise DataError(
            f"{path.name} line 1: expected column names separated by tabs, commas, semicolons, bars or blanks, "
            f"got {first[:60]!r}; name another separator with --text delimiter"
        )
    return max(found, key=lambda item: item[:2])[2:]


class _ParquetSource:
    """Parquet; fields of structures are columns."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path, self.name = path, path.name
        try:
            self.names = _leaves(pq.read_schema(path))
            self.rows_in = pq.read_metadata(path).num_rows
        except (pa.ArrowException, OSError) as error:
            raise self._refusal(error) from error
        require_distinct(self.names, path.name)

    def rows(self, wanted: list[str], row_report: RowReport) -> Generator[RowBlock]:
        stored, start = _physical(wanted, self.names), 1
        try:
            # Without a buffer beside it: that would hold every byte of the file read so far.
            with pq.ParquetFile(self.path, pre_buffer=False) as file:
                for batch in file.iter_batches(_BATCH_ROWS, columns=stored, use_threads=False):
                    table = pa.Table.from_batches([batch])
                    while any(pa.types.is_struct(field.type) for field in table.schema):
                        table = table.flatten()
                    lines = np.arange(start, start + batch.num_rows, dtype=np.int64)
                    start += batch.num_rows
                    columns = {name: table[name].combine_chunks() for name in stored}
                    for values in columns.values():
                        values.validate(full=True)  # text that is no UTF-8 and dates that are none
                    columns = _with_halves(columns, wanted)
                    for name, values in columns.items():
                        if pa.types.is_nested(values.type):
                            raise DataError(
                                f"{self.name}: column {name!r} holds {values.type}; expected one value a row"
                            )
                    yield RowBlock(self.name, columns, lines, noun="row")
        except (pa.ArrowException, OSError) as error:
            raise self._refusal(error) from error

    def _refusal(self, error: Exception) -> DataError:
        return DataError(f"{self.name} cannot be read as Parquet: {(str(error).splitlines() or [''])[0]}")


def _leaves(schema: pa.Schema) -> list[str]:
    table = schema.empty_table()
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return list(table.column_names)


class _JsonSource:
    """JSON records, one a line or in one list; fields of records within records are columns."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path, self.name, self.rows_in = path, path.name, 0
        _, self.encoding = scan_text(path, options.encoding)
        names: dict[str, None] = {}
        for _, record in islice(self._records(), _NAMING_RECORDS):
            names |= dict.fromkeys(record or {})
        if not names:
            raise DataError(f"{path.name} holds no JSON records; expected one a line, or a list of them")
        self.names = list(names)

    def rows(self, wanted: list[str], row_report: RowReport) -> Generator[RowBlock]:
        records, self.rows_in = self._records(), 0
        while block := list(islice(records, _RECORDS)):
            self.rows_in += len(block)
            stored = _physical(wanted, self.names)
            columns = {name: _text_array([(record or {}).get(name, "") for _, record in block]) for name in stored}
            rows = RowBlock(self.name, _with_halves(columns, wanted), np.array([line for line, _ in block]))
            bad = np.array([record is None for _, record in block])
            rows.flag("blank_line", np.array([record == {} for _, record in block]), lambda _: "blank line")
            rows.flag("not_a_checkin", bad, lambda _: "expected a JSON record")
            yield rows

    def _records(self) -> Iterator[tuple[int, dict[str, str] | None]]:
        """Number of the line or record, from 1, and its fields as text; None where the line is no record."""
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        try:
            with open_bytes(self.path) as file, io.TextIOWrapper(file, encoding=encoding) as text:
                for number, line in enumerate(iter(lambda: text.readline(_LONGEST_RECORD), ""), 1):
                    if number == 1 and line.strip() and not isinstance(_parsed(line), dict):
                        yield from self._document(line + text.read(_LARGEST_DOCUMENT))
                        return
                    if len(line) == _LONGEST_RECORD:
                        raise DataError(f"{self.name} line {number} is longer than {_LONGEST_RECORD >> 20} MB")
                    record = _parsed(line) if line.strip() else {}
                    yield number, _flat(record) if isinstance(record, dict) else None
        except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeError) as error:
            raise DataError(f"{self.name} cannot be read as JSON text: {error}") from error

    def _document(self, text: str) -> Iterator[tuple[int, dict[str, str] | None]]:
        """The records of one JSON value: a list of them, or an object with one such list (``features``)."""
        if len(text) > _LARGEST_DOCUMENT:
            raise DataError(f"{self.name} is one JSON value of more than 64 MB; write one record a line")
        value = _parsed(text)
        lists = [item for item in value.values() if isinstance(item, list)] if isinstance(value, dict) else [value]
        if len(lists) != 1 or not isinstance(lists[0], list):
            raise DataError(f"{self.name} is no JSON: expected one record a line, or a list of records")
        for number, record in enumerate(lists[0], 1):
            yield number, _flat(record) if isinstance(record, dict) else None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _flat(record: dict[str, Any], prefix: str = "", depth: int = 0) -> dict[str, str]:
    """Fields as text; of lists the first two items, as ``list.1`` and ``list.2``."""
    found: dict[str, str] = {}
    for key, value in record.items():
        inner = dict(zip("12", value, strict=False)) if isinstance(value, list) else value
        if not isinstance(inner, dict):
            found[prefix + key] = "" if inner is None else inner if isinstance(inner, str) else json.dumps(inner)
        elif depth < _DEEPEST:
            found |= _flat(inner, f"{prefix}{key}.", depth + 1)
    return found


def _text_array(values: list[str]) -> pa.Array:
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:  # halves of letters that JSON can name
        return pa.array([value.encode("utf-8", "replace").decode() for value in values], pa.string())
