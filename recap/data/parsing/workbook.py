"""Excel workbooks: the sheets that hold a table, as text."""

import datetime
import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from recap.data.parsing.text_table import require_distinct
from recap.errors import DataError

_LARGEST: Final = 1 << 29
"""Bytes that a workbook may unpack to."""
_LEAST_COLUMNS: Final = 3
_SAVE: Final = "save it as .xlsx or CSV"


@dataclass(frozen=True)
class Sheet:
    """A table of a workbook; ``rows``: number and name -> cell as text, empty where all cells are."""

    name: str
    rows: list[tuple[int, dict[str, str] | None]]


def workbook_kind(path: Path, magic: bytes) -> str | None:
    """``xlsx`` where a file is a workbook by its first four bytes and content; None where it is something else. Raises
    DataError: it is a spreadsheet of another kind.
    """
    if magic == b"\xd0\xcf\x11\xe0":
        raise DataError(f"{path.name} is an old Excel workbook (.xls); {_SAVE}")
    if magic != b"PK\x03\x04":
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            kind = archive.read("mimetype")[:80] if "mimetype" in names else b""
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, KeyError, ValueError):
        return None
    if b"opendocument.spreadsheet" in kind:
        raise DataError(f"{path.name} is an OpenDocument spreadsheet (.ods); {_SAVE}")
    if "xl/workbook.bin" in names:
        raise DataError(f"{path.name} is a binary Excel workbook (.xlsb); {_SAVE}")
    return "xlsx" if "xl/workbook.xml" in names else None


def read_sheets(path: Path) -> list[Sheet]:
    """The sheets that hold a table of three columns or more. Raises DataError: the workbook is damaged, too large, or
    holds no table, or its reader is not installed.
    """
    try:
        import python_calamine
    except ImportError as error:
        raise DataError(f"{path.name} is an Excel workbook; pip install 'recap-mobility[app]' reads it") from error
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(item.file_size for item in archive.infolist())
        if size > _LARGEST:
            raise DataError(f"{path.name} unpacks to {size >> 20:,} MB; save its sheet as CSV")
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(path.read_bytes()))
        cells = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in book.sheet_names}
    except (python_calamine.CalamineError, zipfile.BadZipFile, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise DataError(f"{path.name} cannot be read as an Excel workbook: {reason}") from error
    found = [sheet for name, rows in cells.items() if (sheet := _table_of(name, rows)) is not None]
    if not found:
        raise DataError(f"{path.name} has no sheet with a table: names in one row, one visit in each row below")
    return found


def sheet_names(sheets: Sequence[Sheet]) -> str:
    """The names of sheets in words."""
    return ", ".join(f"{sheet.name!r}" for sheet in sheets[:8])


def _table_of(name: str, rows: list[list[Any]]) -> Sheet | None:
    """The table of a sheet; rows above its names, such as a title, do not count."""
    text = [[_text(cell) for cell in row] for row in rows]
    start = next((at for at, row in enumerate(text) if sum(map(bool, row)) >= _LEAST_COLUMNS), len(text))
    end = max((at for at, row in enumerate(text, 1) if any(row)), default=0)
    body = text[start + 1 : end]
    if not body:
        return None
    named = [(at, cell.strip()) for at, cell in enumerate(text[start]) if cell.strip()]
    require_distinct([cell for _, cell in named], f"sheet {name!r}")
    records = [{cell: row[at] if at < len(row) else "" for at, cell in named} for row in body]
    return Sheet(name, [*enumerate((record if any(record.values()) else {} for record in records), start + 2)])


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ")
    if isinstance(cell, datetime.timedelta):
        return str(cell) if cell.days else str(datetime.datetime.min + cell).partition(" ")[2]
    return "" if cell is None else str(cell)
