"""The TSMC2014 reader: what it keeps, and how each bad file is refused."""

import gzip
from pathlib import Path

import pandas as pd
import pytest

from recap import columns as c
from recap.data.parsing import text_table
from recap.data.reading import read_checkins
from recap.errors import ConfigError, DataError
from tests.recap.data.refusing import assert_unreadable

LINES = [
    "470\t49bbd6c0f964a520f4531fe3\t4bf58dd8d48988d127951735\tArts & Crafts Store\t40.719810\t-74.002581\t-240"
    "\tTue Apr 03 18:00:09 +0000 2012",
    "979\t4a43c0aef964a520c6a61fe3\t4bf58dd8d48988d1df941735\tBridge\t40.606800\t-74.044170\t-240"
    "\tTue Apr 03 18:00:25 +0000 2012",
    "69\t4c5cc7b485a1e21e00d35711\t\t\t40.716162\t-73.883070\t0\tSat Dec 01 00:00:00 +0000 2012",
    "007\t4c5cc7b485a1e21e00d35711\tx\tCafé\t-90\t180\t345\tWed Feb 29 23:59:59 +0000 2012",
]


def write(path: Path, lines: list[str], *, compressed: bool = False, end: str = "\n") -> Path:
    data = (end.join(lines) + end).encode("latin-1")
    path.write_bytes(gzip.compress(data) if compressed else data)
    return path


def damage(column: int, value: str, line: int = 3) -> list[str]:
    """LINES with one value replaced; line numbers count from 1."""
    fields = LINES[line - 1].split("\t")
    fields[column] = value
    return [*LINES[: line - 1], "\t".join(fields), *LINES[line:]]


@pytest.mark.parametrize("compressed", [False, True])
def test_reads_every_column_in_file_order(tmp_path: Path, compressed: bool) -> None:
    """Ids stay text (007 keeps its zeros), a missing category is empty, Latin-1 letters survive, times are UTC."""
    table = read_checkins(write(tmp_path / "checkins.txt", LINES, compressed=compressed), "foursquare").table
    assert list(table.columns) == list(c.RAW_COLUMNS)
    assert table[c.USER_ID].tolist() == ["470", "979", "69", "007"]
    assert table[c.CATEGORY].tolist() == ["Arts & Crafts Store", "Bridge", "", "Café"]
    assert table[c.LATITUDE].tolist() == [40.71981, 40.6068, 40.716162, -90.0]
    assert table[c.TZ_OFFSET_MINUTES].tolist() == [-240, -240, 0, 345]
    assert table[c.TIME].tolist() == [
        pd.Timestamp(text, tz="UTC")
        for text in ("2012-04-03 18:00:09", "2012-04-03 18:00:25", "2012-12-01", "2012-02-29 23:59:59")
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_and_a_missing_last_one_do_not_matter(tmp_path: Path, end: str) -> None:
    """Windows line ends, and a file whose last line has no end, read the same."""
    expected = read_checkins(write(tmp_path / "unix.txt", LINES), "foursquare").table
    path = tmp_path / "other.txt"
    path.write_bytes(end.join(LINES).encode("latin-1"))
    pd.testing.assert_frame_equal(read_checkins(path, "foursquare").table, expected)


def test_line_ends_that_fall_between_two_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the size of a read, CR and LF of one line end count once, and the last line counts without an end."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"ab\r\nc\r\n\r\nd\re\nf")
    for size in range(1, 20):
        monkeypatch.setattr(text_table, "_BLOCK_BYTES", size)
        assert text_table.scan_text(path) == (6, "utf-8")


def test_quotes_are_letters(tmp_path: Path) -> None:
    """The format knows no quoting: a lone quote in a category name belongs to the name."""
    for name in ('Joe"s, "Diner', "\"Joe's", '"Joe"'):
        table = read_checkins(write(tmp_path / "a.txt", damage(3, name)), "foursquare").table
        assert table[c.CATEGORY].iloc[2] == name


REFUSED = [
    (damage(4, "400.7"), ["line 3", "latitude", "400.7", "[-90, 90]"]),
    (damage(5, "-181"), ["line 3", "longitude", "-181", "[-180, 180]"]),
    (damage(4, "nan"), ["line 3", "latitude", "nan"]),
    (damage(5, "inf"), ["line 3", "longitude", "inf"]),
    (damage(4, ""), ["line 3", "latitude"]),
    (damage(4, "forty"), ["line 3", "latitude", "'forty'"]),
    (damage(6, "1.5"), ["line 3", "timezone", "got 1.5"]),
    (damage(6, "9000"), ["line 3", "timezone", "9000"]),
    (damage(0, ""), ["line 3", "user id"]),
    (damage(1, ""), ["line 3", "place id"]),
    (damage(7, "2012-04-03 18:00:09"), ["line 3", "time", "2012-04-03 18:00:09"]),
    (damage(7, "Tue Apr 31 18:00:09 +0000 2012"), ["line 3", "Apr 31"]),
    (damage(7, "Wed Feb 29 18:00:09 +0000 2013"), ["line 3", "Feb 29"]),
    (damage(7, ""), ["line 3", "time"]),
    (damage(7, "Tue Apr 03 18:00:09 +0900 2012"), ["line 3", "+0900"]),
    (damage(7, "Tue Apr 03 24:00:00 +0000 2012"), ["line 3", "24:00:00"]),
    ([LINES[0], LINES[1] + "\textra"], ["line 2", "8 columns", "9"]),
    ([LINES[0], LINES[1], "only one"], ["line 3", "8 columns", "1"]),
]


@pytest.mark.parametrize(("lines", "parts"), REFUSED)
def test_refuses_a_bad_row_and_names_its_line(tmp_path: Path, lines: list[str], parts: list[str]) -> None:
    """The message names the file, the line, the value and what was expected."""
    with pytest.raises(DataError) as refusal:
        read_checkins(write(tmp_path / "bad.txt", lines), "foursquare")
    for part in ["bad.txt", *parts]:
        assert part in str(refusal.value)


def test_names_the_line_far_into_a_large_file(tmp_path: Path) -> None:
    """Line numbers count over the whole file, not over the block that is being read."""
    lines = LINES * 60_000
    lines[212_345] = damage(4, "400.7", 1)[0]
    assert_unreadable(r"line 212346: latitude 400\.7", write(tmp_path / "long.txt", lines), "foursquare")


def test_refuses_files_that_are_no_table(tmp_path: Path) -> None:
    """A folder, and a .gz with a wrong byte; tests of the command have empty, cut-off and noisy files."""
    damaged = tmp_path / "damaged.txt.gz"
    data = bytearray(gzip.compress("\n".join(LINES * 1000).encode("latin-1")))
    data[len(data) // 2] ^= 0xFF
    damaged.write_bytes(data)
    for path, part in ((tmp_path, "folder"), (damaged, "damaged")):
        assert_unreadable(part, path, "foursquare")


def test_refuses_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'foursquer'.*foursquare"):
        read_checkins(write(tmp_path / "a.txt", LINES), "foursquer")
