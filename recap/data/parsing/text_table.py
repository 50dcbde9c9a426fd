"""Delimited text files, read in blocks: strict about columns, exact about line numbers."""

import codecs
import csv as stdlib_csv
import gzip
import io
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from recap.data.parsing.column_names import VALUE
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import RowBlock
from recap.errors import DataError

Form = Mapping[str, Any]
"""What is known of a published format, see `formats.toml`."""
GZIP_MAGIC: Final = b"\x1f\x8b"
ZIP_MAGIC: Final = b"PK\x03\x04"
_BLOCK_BYTES: Final = 1 << 21
"""Text read at a time; no line may be longer."""

_BOMB_BYTES: Final = 1 << 28
_BOMB_RATIO: Final = 100
"""A compressed file that grows beyond both limits is refused; check-in files shrink to a tenth."""

MOST_WRONG_LINES: Final = 1_000_000
"""After this many lines with another number of columns, a file is always refused."""

_DELIMITERS: Final = ("\t", ";", "|", ",", " ")
_RARE: Final = ("~", "#", "^", "\x01")
"""Separators only where they cut all of the first lines into equally many fields."""
_MOST_TITLES: Final = 10
_HEAD_BYTES: Final = 1 << 20
_NAMED_DELIMITER: Final = re.compile(r"sep=(.)", re.IGNORECASE)
"""A first line that Excel writes and hides."""
_LINE_END: Final = re.compile(r"\r\n|\r|\n")

# UTF-32 first: its mark begins with that of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def require_file(path: Path) -> None:
    """Raises DataError: missing, a folder, a device, or a pipe, which can be read only once."""
    if not path.exists():
        raise DataError(f"{path} does not exist")
    if path.is_dir():
        raise DataError(f"{path} is a folder; name the check-in file inside it, or the folder's format with --format")
    if not path.is_file():
        raise DataError(f"{path} is a pipe or a device; write the check-ins to a file first")


def only_file(folder: Path, mark: str) -> Path:
    """The one file of a folder whose name ends in a mark or, before a star, has it. Raises DataError: not one."""
    if not folder.is_dir():
        raise DataError(f"{folder} does not exist")
    files = sorted(path for path in folder.iterdir() if fnmatch(path.name.lower(), f"*{mark}"))
    if len(files) != 1:
        many, mark = ", ".join(file.name for file in files[:3]) or "none", mark.rstrip("*")
        raise DataError(f"{folder} must contain one {mark} file, found {many}; name the file or one dataset's folder")
    return files[0]


def open_bytes(path: Path) -> IO[bytes]:
    """Open a plain or gzip-compressed file by its content. Raises DataError: no file, empty, or a zip archive."""
    require_file(path)
    with path.open("rb") as file:
        magic = file.read(4)
    if not magic:
        raise DataError(f"{path.name} is empty; expected one check-in per line")
    if magic == ZIP_MAGIC:
        raise DataError(f"{path.name} is a zip archive; unpack it and name the file or folder inside")
    return gzip.open(path, "rb") if magic[:2] == GZIP_MAGIC else path.open("rb")  # type: ignore[return-value]


@contextmanager
def _undamaged(path: Path) -> Iterator[None]:
    """Refuse a compressed file that cannot be unpacked."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path.name}: the compressed file is cut off or damaged ({error}); copy it again") from error


def scan_text(path: Path, encoding: str | None = None, fallback: str = "utf-8") -> tuple[int, str]:
    """Count lines (ends are LF, CRLF or CR) and find the encoding: a byte-order mark, else UTF-8, else ``fallback``.
    Raises DataError: broken compression, bytes that no text has, or text in neither encoding.
    """
    name, lines, last = path.name, 0, "\n"
    with _undamaged(path), open_bytes(path) as file:
        limit = max(_BOMB_BYTES, _BOMB_RATIO * path.stat().st_size)
        start = file.read(4)
        used = encoding or _marked(start) or "utf-8"
        decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(used)(), translate=True)
        for chunk in chain([start], iter(partial(file.read, _BLOCK_BYTES), b""), [b""]):
            # NUL is in no text but UTF-16 or UTF-32, and those say so by a mark or by --text encoding.
            if encoding is None and b"\0" in chunk and not used.startswith(("utf-16", "utf-32")):
                raise DataError(f"{name} is not text (it contains NUL bytes); if it is, name its --text encoding")
            if file.tell() > limit:
                raise DataError(
                    f"{name} unpacks to more than {_BOMB_RATIO} times its size; this is not a check-in file"
                )
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeError as error:
                if encoding is None and fallback != "utf-8":
                    return scan_text(path, fallback)
                bad_line = lines + chunk.count(b"\n", 0, getattr(error, "start", 0)) + 1
                raise DataError(
                    f"{name} line {bad_line} is not {used.removesuffix('-sig')} text; name the file's encoding, "
                    "for example --text encoding=latin-1"
                ) from error
            lines += text.count("\n")
            last = text[-1:] or last
    return lines + (last != "\n"), used


def _marked(data: bytes) -> str | None:
    """The encoding that a byte-order mark says."""
    return next((name for mark, name in _MARKS if data.startswith(mark)), None)


def read_head(path: Path, lines: int = 20, encoding: str | None = None) -> list[str]:
    """The first lines, up to a megabyte; bytes that are no text become marks. Raises DataError: no such text."""
    with _undamaged(path), open_bytes(path) as file:
        data = file.read(_HEAD_BYTES)
    try:
        text = data.decode(encoding or _marked(data) or "utf-8", errors="replace")
    except UnicodeError as error:
        raise DataError(f"{path.name} is not {encoding} text; name it with --text encoding") from error
    return _LINE_END.split(text, maxsplit=lines)[:lines]


def first_cells(
    path: Path, delimiter: str | None, encoding: str | None, quoted: bool = True
) -> tuple[str, list[str], int]:
    """The separator, the cells of the first line, and that line's number; ``sep=;`` before it names the separator, and
    a title before it is passed over. Where none is named, it is the one that cuts most of the first lines like the
    first, and into most columns; blanks come last. Raises DataError: the first line holds none.
    """
    lines, number = read_head(path, 50, encoding), 1
    if len(lines) > 1 and (named := _NAMED_DELIMITER.fullmatch(lines[0])):
        delimiter, number, lines = delimiter or named[1], 2, lines[1:]
    marks = [delimiter] if delimiter else [*_DELIMITERS, *_RARE]
    titles = _count_titles(path.name, lines, marks, quoted)
    number += titles
    lines = [lines[titles], *filter(str.strip, lines[titles + 1 :])]
    parsed = []
    for mark in marks:
        rows = _cut(path.name, lines, mark, quoted)
        columns = len(rows[0]) if rows else 0
        alike = sum(len(row) == columns for row in rows[1:])
        is_even, is_sure = 2 * alike >= len(rows) - 1, mark != " " and alike == len(rows) - 1 > 0 and columns > 2
        if delimiter or is_sure or (columns > 1 and (is_even or mark != " ") and mark not in _RARE):
            parsed.append((is_sure, is_even, columns, mark, [cell.strip().removeprefix("\ufeff") for cell in rows[0]]))
    if not parsed:
        raise DataError(
            f"{path.name} line {number}: expected column names separated by tabs, commas, semicolons, bars or blanks, "
            f"got {lines[0][:60]!r}; name another separator with --text delimiter"
        )
    *_, delimiter, cells = max(parsed, key=lambda item: item[:3])
    return delimiter, cells, number


def _cut(name: str, lines: list[str], mark: str, quoted: bool) -> list[list[str]]:
    quoting: Literal[0, 3] = 0 if quoted else 3  # QUOTE_MINIMAL, QUOTE_NONE
    try:
        return list(stdlib_csv.reader(lines, delimiter=mark, skipinitialspace=True, quoting=quoting))
    except stdlib_csv.Error as error:
        raise DataError(f"{name}: the first lines have no column names ({error})") from error


def _count_titles(name: str, lines: list[str], marks: list[str], quoted: bool) -> int:
    """How many lines are above the column names: these are cut like the lines below, and hold no values."""
    candidates = []
    for mark in marks:
        rows = [(_cut(name, [line], mark, quoted) or [[]])[0] for line in lines]
        widths = [len(row) if sum(map(bool, row)) > 1 else 0 for row in rows]
        below = [width for width, line in zip(widths, lines, strict=True) if line.strip()]
        columns = max(below, key=below.count, default=0)
        top = widths.index(columns) if below else 0
        if columns > 2 and below.count(columns) >= 0.9 * sum(map(bool, map(str.strip, lines[top:]))):
            candidates.append((top, not any(map(VALUE.fullmatch, rows[top]))))
    top, are_names = min(candidates, default=(0, True))
    return top if are_names and top <= _MOST_TITLES else 0


def require_distinct(names: list[str], where: str) -> None:
    """Refuse a table in which two columns have one name. Raises DataError: they do; ``where`` begins the message."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"{where}: the column {twice[0][:40]!r} appears twice; rename one")


class TextTable:
    """Rows of a text file that all must have the same columns; these are called column1, column2, … where the first
    line holds values, unless a published form has their names. Values may stand in double quotes (RFC 4180) unless a
    form has tabs; with ``multiline`` they may hold line ends, and line numbers then count rows.
    """

    def __init__(self, path: Path, options: ReadOptions, form: Form) -> None:
        self.path, self.multiline = path, options.multiline
        self.quoted = form.get("separator", ",") == ","
        lines, self.encoding = scan_text(path, options.encoding, form.get("encoding", "utf-8"))
        self.header, self.delimiter, self.names = 0, form.get("separator", ""), form.get("columns", [])
        if not self.names:
            delimiter = self.delimiter or options.delimiter
            self.delimiter, first, line = first_cells(path, delimiter, self.encoding, self.quoted)
            is_counted = first in ([str(place + start) for place in range(len(first))] for start in (0, 1))
            has_names = is_counted or not any(map(VALUE.fullmatch, first))
            self.names = [(has_names and name) or f"column{place}" for place, name in enumerate(first, 1)]
            self.header = line - (not has_names)
            require_distinct(self.names, f"{path.name} line {line}")
        self.lines = lines - self.header

    def rows(self, wanted: list[str], row_report: RowReport) -> Generator[RowBlock]:
        """The rows block by block, without blank lines. Raises DataError: a line longer than 2 MB, quoted values over
        several lines without ``multiline``, or the last lines have other columns and the report does not skip.
        """
        spoken = {"\t": "tabs", ",": "commas", " ": "blanks", ";": "semicolons"}
        marks = spoken.get(self.delimiter, repr(self.delimiter))
        expected = f"expected {len(self.names)} columns separated by {marks}"
        # Of rows that have another number of columns: where they are, and how many they have.
        self._wrong_lines, self._wrong_columns, seen = array("q"), array("q"), 0

        def describe(first: int, row: int) -> str:
            return f"{expected}, got {self._wrong_columns[first + row]}"

        def leave_out(reason: str, lines: np.ndarray, describe: Callable[[int], str]) -> None:
            left = RowBlock(self.path.name, {}, lines, report=row_report)
            left.flag(reason, np.ones(len(lines), dtype=bool), describe)

        for columns, lines in chain(self._blocks(wanted), [({}, np.empty(0, np.int64))]):
            wrong = np.array(self._wrong_lines[seen:], dtype=np.int64)
            leave_out("wrong_columns", wrong, partial(describe, seen))
            seen += len(wrong)
            letters = sum((np.asarray(pc.binary_length(column)) for column in columns.values()), np.zeros(len(lines)))
            blank = letters == 0
            # Left out at once: a file can hold millions of them in a few bytes.
            leave_out("blank_line", lines[blank], lambda _: "blank line")
            if not blank.all():
                kept = pa.array(~blank)
                columns = {name: column.filter(kept) for name, column in columns.items()} if blank.any() else columns
                yield RowBlock(self.path.name, columns, lines[~blank], report=row_report)
        row_report.refuse()

    def _blocks(self, wanted: list[str]) -> Iterator[tuple[dict[str, pa.Array], np.ndarray]]:
        """Text columns by name, and the line number of each row, counted from 1."""
        name, rows, line = self.path.name, 0, self.header + 1
        options = self._arrow_options(wanted)
        try:
            with self._open() as file, csv.open_csv(pa.PythonFile(file, mode="r"), *options) as reader:
                for batch in reader:
                    wrong = np.array(self._wrong_lines, dtype=np.int64)
                    wrong = wrong[np.searchsorted(wrong, line) :]
                    lines = np.arange(line, line + batch.num_rows + len(wrong))
                    lines = np.setdiff1d(lines, wrong, assume_unique=True)[: batch.num_rows]
                    yield {name: batch.column(name) for name in wanted}, lines
                    rows += batch.num_rows
                    line = lines[-1] + 1 if len(lines) else line
        except pa.ArrowInvalid as error:
            if "straddling" in str(error):
                raise DataError(
                    f"{name}: a line is longer than {_BLOCK_BYTES >> 20} MB; this is not a check-in file"
                ) from error
            if len(self._wrong_lines) > MOST_WRONG_LINES:
                raise DataError(
                    f"{name}: more than {MOST_WRONG_LINES:,} lines do not have {len(self.names)} columns, the "
                    f"first is line {self._wrong_lines[0]} with {self._wrong_columns[0]}; name the --format or the "
                    "--text delimiter"
                ) from error
            if "Empty CSV" not in str(error):
                raise DataError(f"{name} cannot be read as text: {str(error).splitlines()[0]}") from error
        except UnicodeError as error:
            raise DataError(f"{name} is not {self.encoding} text; name its --text encoding") from error
        read = rows + len(self._wrong_lines)
        if read != self.lines and not self.multiline:
            raise DataError(
                f"{name}: {self.lines} lines but {read} rows, so quoted values run over line ends; a quotation "
                "mark is not closed, or, if the line breaks are meant, read the file with --text multiline=true"
            )

    def _open(self) -> IO[bytes]:
        """The file, or its whole text without the blanks that would be read as columns or letters."""
        mark = re.escape(self.delimiter)
        if self.delimiter == " ":  # any number of blanks separates columns
            steps = [(" +", " "), (r"(?m)^ +| +(?=\r?$)", "")]
        elif self.quoted and re.search(f'{mark} +"(?!")', "\n".join(read_head(self.path, encoding=self.encoding))):
            steps = [(f'(?<={mark}) +"(?!")', '"'), (f'" +(?={mark})', '"')]
        else:
            return open_bytes(self.path)
        with open_bytes(self.path) as file:
            text = file.read()
        for pattern, spelling in steps:
            text = re.sub(pattern.encode(), spelling.encode(), text)
        return io.BytesIO(text)

    def _arrow_options(self, wanted: list[str]) -> tuple[csv.ReadOptions, csv.ParseOptions, csv.ConvertOptions]:
        def remember(row: csv.InvalidRow) -> str:
            self._wrong_lines.append(row.number)
            self._wrong_columns.append(row.actual_columns)
            return "skip" if len(self._wrong_lines) <= MOST_WRONG_LINES else "error"

        reading = csv.ReadOptions(block_size=_BLOCK_BYTES, skip_rows=self.header, column_names=self.names)
        reading.encoding = "utf8" if self.encoding.startswith("utf-8") else self.encoding
        reading.use_threads = False  # with threads, rows have no numbers
        lines = {"newlines_in_values": self.multiline, "ignore_empty_lines": False, "invalid_row_handler": remember}
        parsing = csv.ParseOptions(delimiter=self.delimiter, quote_char='"' if self.quoted else False, **lines)
        types = dict.fromkeys(wanted, pa.string())
        converting = csv.ConvertOptions(include_columns=wanted, column_types=types, strings_can_be_null=False)
        return reading, parsing, converting
