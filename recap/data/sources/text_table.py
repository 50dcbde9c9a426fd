"""Delimited text files, block by block: strict about columns, exact about line numbers, complete in its counts."""

import codecs
import csv as stdlib_csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import numpy as np
import pyarrow as pa
from pyarrow import csv

from recap.errors import DataError

_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZIP_MAGIC: Final = b"PK\x03\x04"
_BLOCK_BYTES: Final = 1 << 24
"""Text read at a time; no line may be longer."""

_MARKS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def open_bytes(path: Path) -> IO[bytes]:
    """Open a plain or gzip-compressed file, told apart by content and not by name.

    Raises:
        DataError: missing, empty, a folder, or a zip archive.
    """
    if not path.exists():
        raise DataError(f"{path} does not exist")
    if path.is_dir():
        raise DataError(f"{path} is a folder; name the check-in file inside it, or the folder's format with --format")
    with path.open("rb") as file:
        magic = file.read(4)
    if not magic:
        raise DataError(f"{path.name} is empty; expected one check-in a line")
    if magic == _ZIP_MAGIC:
        raise DataError(f"{path.name} is a zip archive; unpack it and name the file or folder inside")
    return gzip.open(path, "rb") if magic[:2] == _GZIP_MAGIC else path.open("rb")  # type: ignore[return-value]


@dataclass(frozen=True)
class TextScan:
    """What one pass over a file's bytes tells: its lines and its encoding."""

    lines: int
    encoding: str


def scan_text(path: Path, encoding: str | None = None, fallback: str = "utf-8") -> TextScan:
    """Count lines (ends are LF, CRLF or CR) and tell the encoding: a byte-order mark, else UTF-8, else ``fallback``.

    Raises:
        DataError: broken compression, bytes that no text has, or text in neither encoding.
    """
    decoder = codecs.getincrementaldecoder(encoding or "utf-8")()
    bad_line, lines, last = 0, 0, b""
    try:
        with open_bytes(path) as file:
            head = file.read(4)
            marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
            if encoding is None and marked == "utf-16":
                return TextScan(lines=_count_utf16(path), encoding="utf-16")
            chunk = head + file.read(_BLOCK_BYTES)
            while chunk:
                # NUL is in no text but UTF-16 or UTF-32, and those say so by a mark or by --encoding.
                if encoding is None and b"\0" in chunk:
                    raise DataError(f"{path.name} is not text (it holds NUL bytes); if it is, name its --encoding")
                if not bad_line:
                    try:
                        decoder.decode(chunk)
                    except UnicodeDecodeError as error:
                        bad_line = lines + chunk.count(b"\n", 0, error.start) + 1
                lines += chunk.count(b"\n") + chunk.count(b"\r") - chunk.count(b"\r\n")
                if last == b"\r" and chunk[:1] == b"\n":
                    lines -= 1
                last = chunk[-1:]
                chunk = file.read(_BLOCK_BYTES)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path.name}: the compressed file is cut off or damaged ({error}); fetch it again") from error
    lines += last not in (b"\n", b"\r")
    if not bad_line:
        return TextScan(lines, encoding or marked or "utf-8")
    if encoding or fallback == "utf-8":
        raise DataError(
            f"{path.name} line {bad_line} is not {encoding or 'utf-8'} text; name the file's encoding, "
            "for example --encoding latin-1"
        )
    return TextScan(lines, fallback)


def _count_utf16(path: Path) -> int:
    try:
        with open_bytes(path) as file, codecs.getreader("utf-16")(file) as reader:
            text = reader.read()
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} begins like UTF-16 text but is not; name its --encoding") from error
    return len(text.splitlines())


def read_head(path: Path, lines: int = 20, encoding: str | None = None) -> list[str]:
    """The first lines of a text file, each cut to 2,000 characters; undecodable bytes become replacement marks.

    Raises:
        DataError: see `open_bytes`.
    """
    with open_bytes(path) as file:
        try:
            data = file.read(1 << 16)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(
                f"{path.name}: the compressed file is cut off or damaged ({error}); fetch it again"
            ) from error
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    text = data.decode(encoding or marked or "utf-8", errors="replace")
    return [line[:2000] for line in text.splitlines()[:lines]]


def header_names(head: list[str], delimiter: str, quoted: bool) -> list[str]:
    """Column names in the first line of a file."""
    if quoted:
        names = next(stdlib_csv.reader(head[:1], delimiter=delimiter), [])
    else:
        names = next(stdlib_csv.reader(head[:1], delimiter=delimiter, quoting=stdlib_csv.QUOTE_NONE), [])
    return [name.strip().removeprefix("\ufeff") for name in names]


@dataclass(frozen=True)
class TextBlock:
    """Consecutive good rows of a file.

    Attributes:
        columns: name -> text column.
        lines: int64 line number of each row, counted from 1.
    """

    columns: dict[str, pa.Array]
    lines: np.ndarray


class TextTable:
    """A delimited text file whose rows all must have the same columns.

    Args:
        names: all column names in file order; None takes them from the first line.
        wanted: the columns to read; all by default.
        quoted: values may stand in double quotes (RFC 4180).
        multiline: quoted values may hold line ends; line numbers then count rows.

    Raises:
        DataError: not a text file, see `open_bytes` and `scan_text`, or a header with a name twice.

    Attributes:
        wrong_columns: (line number, number of columns) of rows that have another number of columns, as far as read.
        rows_in: rows of the file, the header not counted.
    """

    def __init__(
        self,
        path: Path,
        *,
        delimiter: str,
        names: Sequence[str] | None = None,
        quoted: bool = False,
        multiline: bool = False,
        encoding: str | None = None,
        fallback_encoding: str = "utf-8",
    ) -> None:
        self.path, self.name = path, path.name
        self.delimiter, self.quoted, self.multiline = delimiter, quoted, multiline
        scan = scan_text(path, encoding, fallback_encoding)
        self.encoding = scan.encoding
        self.header = 0 if names is not None else 1
        self.names = list(names) if names is not None else self._read_header()
        self.rows_in = scan.lines - self.header
        self.wrong_columns: list[tuple[int, int]] = []

    def _read_header(self) -> list[str]:
        first = read_head(self.path, 1, self.encoding)
        names = header_names(first, self.delimiter, self.quoted)
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise DataError(f"{self.name} line 1: the column {sorted(twice)[0]!r} stands there twice; rename one")
        return names

    def blocks(self, wanted: Sequence[str] | None = None) -> Iterator[TextBlock]:
        """Read the file once, in order.

        Raises:
            DataError: a line longer than 16 MB, or quoted values over several lines without ``multiline``.
        """
        wanted = self.names if wanted is None else list(dict.fromkeys(wanted))
        rows = 0
        try:
            with open_bytes(self.path) as file:
                for batch in csv.open_csv(pa.PythonFile(file, mode="r"), *self._arrow_options(wanted)):
                    yield TextBlock({name: batch.column(name) for name in wanted}, self._lines(rows, batch.num_rows))
                    rows += batch.num_rows
        except pa.ArrowInvalid as error:
            if "straddling" in str(error):
                raise DataError(
                    f"{self.name}: a line is longer than {_BLOCK_BYTES >> 20} MB; this is not a check-in file"
                ) from error
            if "Empty CSV" not in str(error):
                raise DataError(f"{self.name} cannot be read as text: {str(error).splitlines()[0]}") from error
        except UnicodeDecodeError as error:
            raise DataError(f"{self.name} is not {self.encoding} text; name its --encoding") from error
        read = rows + len(self.wrong_columns)
        if self.multiline:
            self.rows_in = read
        elif read != self.rows_in:
            raise DataError(
                f"{self.name}: {self.rows_in} lines but {read} rows, so quoted values run over line ends; a quotation "
                "mark is not closed, or, if the line breaks are meant, read the file with --multiline"
            )

    def _arrow_options(self, wanted: list[str]) -> tuple[csv.ReadOptions, csv.ParseOptions, csv.ConvertOptions]:
        def remember(row: csv.InvalidRow) -> str:
            self.wrong_columns.append((row.number, row.actual_columns))
            return "skip"

        return (
            csv.ReadOptions(
                column_names=self.names,
                encoding="utf8" if self.encoding.startswith("utf-8") else self.encoding,
                use_threads=False,  # with threads, rows have no numbers
                skip_rows=self.header,
                block_size=_BLOCK_BYTES,
            ),
            csv.ParseOptions(
                delimiter=self.delimiter,
                quote_char='"' if self.quoted else False,
                newlines_in_values=self.multiline,
                ignore_empty_lines=False,
                invalid_row_handler=remember,
            ),
            csv.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, pa.string()),
                strings_can_be_null=False,
                check_utf8=True,
            ),
        )

    def _lines(self, start: int, count: int) -> np.ndarray:
        """Line numbers of good rows start .. start + count: lines that are no row stand between them."""
        bad = np.array([line for line, _ in self.wrong_columns], dtype=np.int64)
        good_before = bad - 1 - self.header - np.arange(len(bad))
        rows = np.arange(start, start + count, dtype=np.int64)
        return rows + 1 + self.header + np.searchsorted(good_before, rows, side="right")
