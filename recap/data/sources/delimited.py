"""Read delimited text files strictly: every row has the same columns, and every complaint names its line."""

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from recap.errors import DataError

_GZIP_MAGIC = b"\x1f\x8b"


def open_text(path: Path) -> IO[bytes]:
    """Open a plain or gzip-compressed file, told apart by content and not by name."""
    if not path.exists():
        raise DataError(f"{path} does not exist")
    if path.is_dir():
        raise DataError(f"{path} is a folder; name the check-in file inside it")
    with path.open("rb") as file:
        magic = file.read(2)
    if not magic:
        raise DataError(f"{path.name} is empty")
    return gzip.open(path, "rb") if magic == _GZIP_MAGIC else path.open("rb")  # type: ignore[return-value]


def read_delimited(
    path: Path, column_types: dict[str, pa.DataType], *, delimiter: str, encoding: str, header: bool = False
) -> pa.Table:
    """Read ``column_types`` from a delimited file without quoting.

    Values are trimmed of nothing and guessed as nothing: ask for strings and parse them with the functions below, so
    that a bad value can be named with its line.

    Raises:
        DataError: missing or empty file, wrong number of columns (with the line), broken compression.
    """
    bad_rows: list[csv.InvalidRow] = []

    def remember(row: csv.InvalidRow) -> str:
        bad_rows.append(row)
        return "error"

    names = list(column_types)
    read_options = csv.ReadOptions(
        column_names=names, encoding=encoding, use_threads=False, skip_rows=int(header), block_size=1 << 24
    )
    parse_options = csv.ParseOptions(
        delimiter=delimiter, quote_char=False, ignore_empty_lines=False, invalid_row_handler=remember
    )
    convert_options = csv.ConvertOptions(column_types=column_types, strings_can_be_null=False, check_utf8=True)
    try:
        with open_text(path) as file:
            table = csv.read_csv(
                pa.PythonFile(file, mode="r"),
                read_options=read_options,
                parse_options=parse_options,
                convert_options=convert_options,
            )
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path.name}: the compressed file is cut off or damaged ({error}); fetch it again") from error
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        if bad_rows:
            row = bad_rows[0]
            where = f" line {row.number}" if row.number is not None else ""
            raise DataError(
                f"{path.name}{where}: expected {row.expected_columns} columns separated by "
                f"{_spoken(delimiter)}, got {row.actual_columns}"
            ) from error
        raise DataError(f"{path.name}: not a text table of {len(names)} columns ({first_line(error)})") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name}: not {encoding} text (byte {error.start}); name its encoding") from error
    if table.num_rows == 0:
        raise DataError(f"{path.name} has no check-ins")
    return table


def first_line(error: BaseException) -> str:
    """The first line of an error's text, for one-line messages."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _spoken(delimiter: str) -> str:
    return {"\t": "tabs", ",": "commas", " ": "spaces"}.get(delimiter, repr(delimiter))


def shorten(value: Any, limit: int = 40) -> str:
    """Quote a value for a message, cut to ``limit`` characters."""
    text = str(value)
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


class ColumnParser:
    """Turns text columns of one file into typed ones; the first bad value is named with its line.

    Args:
        name: file name for messages.
        first_line_number: line number of the first data row (2 when there is a header).
    """

    def __init__(self, name: str, first_line_number: int = 1) -> None:
        self.name = name
        self.first_line_number = first_line_number

    def refuse_where(self, bad: pa.ChunkedArray, text: pa.ChunkedArray, expected: str) -> None:
        """Raise for the first row where ``bad`` is true or null."""
        index = pc.index(pc.fill_null(bad, True), True).as_py()
        if index >= 0:
            raise DataError(
                f"{self.name} line {index + self.first_line_number}: {expected}, got {shorten(text[index].as_py())}"
            )

    def number(self, text: pa.ChunkedArray, what: str, low: float, high: float) -> pa.ChunkedArray:
        """Parse float64 values inside ``[low, high]``; NaN and infinities are refused."""
        values = self._cast(text, pa.float64(), what)
        inside = pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high))
        index = pc.index(inside, False).as_py()
        if index >= 0:
            raise DataError(
                f"{self.name} line {index + self.first_line_number}: {what} {text[index].as_py()} "
                f"is outside [{low:g}, {high:g}]"
            )
        return values

    def integer(self, text: pa.ChunkedArray, what: str, low: int, high: int) -> pa.ChunkedArray:
        """Parse int64 values inside ``[low, high]``."""
        values = self._cast(text, pa.int64(), what)
        inside = pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high))
        self.refuse_where(pc.invert(inside), text, f"{what} must be in [{low}, {high}]")
        return values

    def identifier(self, values: pa.ChunkedArray, what: str) -> pa.ChunkedArray:
        """Refuse empty identifiers; returns the column unchanged."""
        self.refuse_where(pc.equal(values.cast(pa.string()), ""), values.cast(pa.string()), f"{what} is empty")
        return values

    def time(self, text: pa.ChunkedArray, layout: str, day_slice: tuple[int, int], example: str) -> pa.ChunkedArray:
        """Parse UTC times of one fixed layout to ``timestamp[s, UTC]``.

        Args:
            layout: strptime layout.
            day_slice: where the day of the month stands; a day that the calendar lacks (31 April) is refused by
                comparing it with the parsed day.
            example: shown in the refusal.
        """
        times = pc.strptime(text, format=layout, unit="s", error_is_null=True)
        expected = f"time must look like '{example}'"
        self.refuse_where(pc.is_null(times), text, expected)
        day = pc.cast(pc.utf8_slice_codeunits(text, *day_slice), pa.int64())
        self.refuse_where(pc.not_equal(pc.day(times), day), text, expected)
        return times.cast(pa.timestamp("s", tz="UTC"))

    def _cast(self, text: pa.ChunkedArray, kind: pa.DataType, what: str) -> pa.ChunkedArray:
        try:
            return pc.cast(text, kind)
        except pa.ArrowInvalid:
            return self._name_bad_value(text, kind, what)

    def _name_bad_value(self, text: pa.ChunkedArray, kind: pa.DataType, what: str) -> pa.ChunkedArray:
        for index, value in enumerate(text.to_pylist()):
            try:
                pc.cast(pa.scalar(value), kind)
            except pa.ArrowInvalid:
                line = index + self.first_line_number
                raise DataError(f"{self.name} line {line}: {what} must be a number, got {shorten(value)}") from None
        raise DataError(f"{self.name}: {what} cannot be read as {kind}")


def as_categories(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Dictionary-encode repeated string columns, so that ten million rows stay small."""
    for name in names:
        index = table.schema.get_field_index(name)
        table = table.set_column(index, name, pc.dictionary_encode(table[name]).unify_dictionaries())
    return table
