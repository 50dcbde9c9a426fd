"""Excel workbooks: cells of every type, titles above the table, several sheets, and what is refused by name."""

import datetime
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import Workbook

from recap import columns as c
from recap.data.reading import read_checkins
from recap.errors import DataError
from tests.recap.data.other_files.reading import asked, assert_all_read, read
from tests.recap.data.understanding.tables import ROWS, ZONE, checkins
from tests.shell import assert_refused, recap

_EPOCH = datetime.datetime(1899, 12, 30)


def write_workbook(path: Path, sheets: dict[str, Sequence[Sequence[Any]]]) -> Path:
    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def table(time: Any) -> list[list[Any]]:
    frame = checkins()
    rows = zip(frame["un"], frame["p"], frame["lat"], frame["lon"], time(frame), strict=True)
    return [["Member", "Store", "Lat", "Lon", "Visited"], *map(list, rows)]


def as_dates(frame: pd.DataFrame) -> list[Any]:
    return [time.to_pydatetime() for time in frame["local"].dt.floor("s")]


def as_text(frame: pd.DataFrame) -> list[Any]:
    return frame["local"].dt.strftime("%d.%m.%Y %H:%M:%S").tolist()


def as_numbers(frame: pd.DataFrame) -> list[Any]:
    return ((frame["local"] - _EPOCH).dt.total_seconds() / 86_400).round(8).tolist()


@pytest.mark.parametrize("time", [as_dates, as_text, as_numbers])
@pytest.mark.parametrize("above", [[], [["Visits of our members"], [None]]])
def test_a_sheet_is_read(time: Any, above: list[list[Any]], tmp_path: Path) -> None:
    """Dates, text and bare numbers of days; a title above and an empty sheet before it do not count."""
    path = write_workbook(tmp_path / "own.xlsx", {"Notes": [["To do"]], "Visits": [*above, *table(time)]})
    found = read(path, timezone=ZONE, local_times=True)
    assert_all_read(found)
    assert found.account.source_format == "xlsx" and found.table[c.USER_ID].iloc[0] == str(checkins()["un"].iloc[0])


def test_several_sheets_are_asked(tmp_path: Path) -> None:
    """Each answer is an option; a sheet that does not exist is refused with those that do."""
    path = write_workbook(tmp_path / "own.xlsx", {"May": table(as_dates), "June 2024": table(as_dates)[:500]})
    question = asked(path).question
    assert question is not None and [*question.answers] == ["May", "June 2024"]
    assert read(path, sheet="June 2024").account.rows_in == 499
    assert_refused(recap("prepare", path, "--out", tmp_path / "out"), "--text 'sheet=June 2024'")
    with pytest.raises(DataError, match="'May', 'June 2024'"):
        read(path, sheet="July")


def test_a_bad_row_is_named_by_its_row(tmp_path: Path) -> None:
    rows = table(as_dates)
    rows[3][2] = "north"
    rows.insert(6, [None] * 5)
    path = write_workbook(tmp_path / "own.xlsx", {"Visits": rows})
    found = read(path)
    assert found.account.rows_in == ROWS + 1 and found.account.dropped() == {"blank_line": 1, "latitude": 1}
    assert "own.xlsx row 4: latitude must be a number, got 'north'" in found.account.reported["latitude"].examples[0]


def test_other_spreadsheets_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "old.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with zipfile.ZipFile(tmp_path / "open.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    with zipfile.ZipFile(tmp_path / "binary.xlsb", "w") as archive:
        archive.writestr("xl/workbook.bin", "x")
    for name, part in (("old.xls", ".xls"), ("open.ods", ".ods"), ("binary.xlsb", ".xlsb")):
        assert_refused(recap("inspect", tmp_path / name), f"({part}); save it as .xlsx or CSV")


def test_damaged_workbooks_are_refused(tmp_path: Path) -> None:
    """Cut off, without its sheet, with broken XML, without a table, with a column twice."""
    path = write_workbook(tmp_path / "own.xlsx", {"Visits": table(as_dates)})
    whole = path.read_bytes()
    (tmp_path / "cut.xlsx").write_bytes(whole[: len(whole) // 2])
    write_workbook(tmp_path / "few.xlsx", {"A": [["user", "place"], [1, 2]]})
    write_workbook(tmp_path / "twice.xlsx", {"A": [["user", "user", "place"], [1, 2, 3]]})
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(tmp_path / "broken.xlsx", "w") as broken:
        for item in archive.namelist():
            broken.writestr(item, archive.read(item)[:-40] if "sheet1" in item else archive.read(item))
    for name in ("cut", "few", "twice", "broken"):
        with pytest.raises(DataError):
            read_checkins(tmp_path / f"{name}.xlsx", "auto")
        assert_refused(recap("inspect", tmp_path / f"{name}.xlsx"))
