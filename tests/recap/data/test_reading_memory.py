"""Files that are small on disk and large when read: what is kept of lines that are left out is bounded, counts stay."""

import gzip
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from recap.data.parsing import text_table
from recap.data.parsing.clocks import spell_clocks
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.table_source import open_text
from recap.data.reading import read_checkins
from recap.errors import DataError
from tests.checkins import foursquare_lines

GOOD = foursquare_lines([("u", "p", 1.0), ("u", "q", 2.0), ("v", "p", 3.0)])
PROGRAM = """
import resource, sys
from pathlib import Path
from recap.data.parsing.options import ReadOptions
from recap.data.reading import read_checkins
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
read = read_checkins(Path(sys.argv[1]), "foursquare", ReadOptions(skip_bad_rows=True))
print(read.account.rows_in, read.account.rows_kept, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("line", "times"), [("\n", 6_000_000), ("a\tb\n", 900_000)])
def test_memory_does_not_follow_lines_left_out(line: str, times: int, tmp_path: Path) -> None:
    """Six million blank lines took 1 GB; a process of its own, since memory that was taken once is not given back."""
    path = tmp_path / "lines.txt.gz"
    with gzip.open(path, "wb") as file:
        file.write(("\n".join(GOOD[:2]) + "\n").encode())
        for _ in range(times // 100_000):
            file.write(line.encode() * 100_000)
        file.write((GOOD[2] + "\n").encode())
    done = subprocess.run([sys.executable, "-c", PROGRAM, path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows_in, kept, kilobytes = map(int, done.stdout.split())
    assert (rows_in, kept) == (times + 3, 3)
    assert kilobytes < 350_000


def test_lines_keep_their_numbers_over_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong and blank lines before, between and after small blocks: every good row knows its line."""
    monkeypatch.setattr(text_table, "_BLOCK_BYTES", 64)
    lines = ["a,b", *["wrong,by,far" if i % 3 == 0 else "" if i % 7 == 0 else f"{i + 2},x" for i in range(400)]]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    table = open_text(tmp_path / "t.csv", ReadOptions())
    report = RowReport(skip_bad_rows=True)
    found: list[tuple[int, str]] = []
    for rows in table.read(["a", "b"], report):
        found += zip(rows.lines.tolist(), rows.columns["a"].to_pylist(), strict=True)
        rows.finish(rows.columns)
    assert found == [(i + 2, str(i + 2)) for i in range(400) if i % 3 and i % 7]
    (wrong, examples), (blank, blanks) = report.reported["wrong_columns"], report.reported["blank_line"]
    assert (wrong, examples[0]) == (134, "t.csv line 2: expected 2 columns separated by commas, got 3")
    assert (blank, blanks[0]) == (38, "t.csv line 9: blank line")


def test_a_file_of_wrong_lines_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the options: more lines than that are no accident."""
    monkeypatch.setattr(text_table, "MOST_WRONG_LINES", 5)
    (tmp_path / "t.txt").write_text("\n".join([*GOOD, *["one\ttwo"] * 6, *GOOD]) + "\n")
    with pytest.raises(DataError, match="more than 5 lines do not have 8 columns, the first is line 4 with 2"):
        read_checkins(tmp_path / "t.txt", "foursquare", ReadOptions(skip_bad_rows=True))


def test_blank_lines_first_do_not_hide_the_layout_of_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first block without a row says nothing about the others."""
    monkeypatch.setattr(text_table, "_BLOCK_BYTES", 32)
    rows = [f"u,p,{time},1.0,2.0" for time in (1333476009, 1333476010)]
    (tmp_path / "t.csv").write_text("\n".join(["user,poi,time,lat,lon", "", "", "", "", *rows]) + "\n")
    read = read_checkins(tmp_path / "t.csv", "csv", ReadOptions(timezone="UTC"))
    assert read.account.dropped() == {"blank_line": 4} and len(read.table) == 2


def test_one_long_text_does_not_pad_every_row() -> None:
    """A text of a million characters among 300 clocks takes megabytes, not 300 of them for each copy."""
    clocks = pa.array(["930"] * 300 + ["x" * 1_000_000])
    usual = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(counted)
    try:
        spelled = spell_clocks(clocks).to_pylist()
    finally:
        pa.set_memory_pool(usual)
    assert spelled == ["09:30:00"] * 300 + clocks[300:].to_pylist()
    assert 0 < counted.max_memory() < 20_000_000
