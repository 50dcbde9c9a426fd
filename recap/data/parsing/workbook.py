"""Excel workbooks: the sheets that hold a table, as text."""

import datetime
import io
import zipfile
from pathlib import Path
from typing import Any, Final

from recap.data.parsing.text_table import require_distinct
from recap.errors import DataError

_LARGEST: Final = 1 << 29
"""Bytes that a workbook may unpack to."""
_LEAST_COLUMNS: Final = 3
SheetRows = list[tuple[int, dict[str, str] | None]]
"""Number of a row, and name -> cell as text, empty where all cells are."""


def is_workbook(path: Path) -> bool:
    """Whether a zip archive is an Excel workbook. Raises DataError: it is a binary one."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, KeyError, ValueError):
        return False
    if "xl/workbook.bin" in names:
        raise DataError(f"{path.name} is a binary Excel workbook (.xlsb); save it as .xlsx or CSV")
    return "xl/workbook.xml" in names


def read_sheets(path: Path) -> dict[str, SheetRows]:
    """The sheets with a table of three columns or more, by name. Raises DataError: none can be read."""
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
    tables = {name: table for name, rows in cells.items() if (table := _table_of(name, rows))}
    if not tables:
        raise DataError(f"{path.name} has no sheet with a table: names in one row, one visit in each row below")
    return tables


def _table_of(name: str, rows: list[list[Any]]) -> SheetRows:
    """The table of a sheet, if it has one; rows above its names, such as a title, do not count."""
    text = [[_text(cell) for cell in row] for row in rows]
    start = next((number for number, row in enumerate(text) if sum(map(bool, row)) >= _LEAST_COLUMNS), len(text))
    end = max((number for number, row in enumerate(text, 1) if any(row)), default=0)
    body = text[start + 1 : end]
    if not body:
        return []
    named = [(number, cell.strip()) for number, cell in enumerate(text[start]) if cell.strip()]
    require_distinct([cell for _, cell in named], f"sheet {name!r}")
    records = [{cell: row[number] if number < len(row) else "" for number, cell in named} for row in body]
    return [*enumerate((record if any(record.values()) else {} for record in records), start + 2)]


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ")
    if isinstance(cell, datetime.timedelta):
        return str(cell) if cell.days else str(datetime.datetime.min + cell).partition(" ")[2]
    return "" if cell is None else str(cell)
