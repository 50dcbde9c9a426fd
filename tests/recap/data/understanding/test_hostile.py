"""Files that nobody should have to read: each is inspected or refused in one line, and nothing is left on the disk."""

import gzip
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recap.data.parsing import text_table
from tests.recap.data.understanding.tables import ROWS, checkins, own_table
from tests.shell import assert_refused, recap

HEADER = "user,place,time,lat,lon\n"


def rows(**columns: object) -> bytes:
    """The invented check-ins as a table of text, with some columns replaced."""
    return own_table(**columns).to_csv(index=False).encode()


def bomb(lines: bytes, times: int) -> bytes:
    return gzip.compress(HEADER.encode() + lines * times, compresslevel=9)


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("own.csv", rows())
    return buffer.getvalue()


def parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue())


REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty": (lambda: b"", "is empty"),
    "blank lines": (lambda: b"\n" * 10_000, "cannot tell the format"),
    "binary": (lambda: bytes(range(256)) * 40, "cannot tell the format"),
    "a zip": (zipped, "is a zip archive"),
    "a header alone": (lambda: HEADER.encode(), "has no check-ins"),
    "prose": (
        lambda: b"It was the best of times,\nit was the worst of times.\n" * 99,
        "Which columns have latitude and longitude",
    ),
    "broken UTF-8": (lambda: rows(shop="café").replace(b"caf\xc3\xa9", b"caf\xe9"), "--text encoding=latin-1"),
    "5,000 columns": (
        lambda: ",".join(f"c{i}" for i in range(5000)).encode() + b"\n" + b"1," * 4999,
        "its first 300 of 5,000 columns",
    ),
    "one long line": (lambda: HEADER.encode() + b"x" * 5_000_000, "cannot tell the format"),
    "a quotation mark left open": (lambda: rows().replace(b"\nw", b'\n"w', 1), "quotation mark"),
    "cut off": (lambda: gzip.compress(rows())[:-900], "cut off or damaged"),
    "a bomb": (lambda: bomb(b",,,,\n", 60_000), "unpacks to more than 100 times its size"),
    "numbers without a name": (lambda: b"1,2,3\n" * 2000, "Which columns have latitude and longitude"),
    "an infinite number": (lambda: b"1,2,3\n" * 2000 + b"1,2,1e999\n", "Which columns have latitude and longitude"),
    "deep JSON": (lambda: b'{"a":' * 100_000, "no JSON records"),
    "JSON without records": (lambda: b"[1, 2, 3]", "no JSON records"),
    "noise that begins as Parquet": (lambda: b"PAR1" + bytes(4000), "cannot be read as Parquet"),
    "half a Parquet file": (lambda: parquet(pa.table({"user": ["a"] * 900}))[:-30], "cannot be read as Parquet"),
    "the year 9999": (lambda: rows(time="9999-12-31 23:59:59"), "Which column has the time?"),
    "one column twice": (lambda: HEADER.replace("lon", "lat").encode() + b"a,b,c,1,2\n", "'lat' appears twice"),
}
INSPECTED: dict[str, tuple[Callable[[], bytes], str]] = {
    "one row": (lambda: (HEADER + "ann,home,2024-05-06 07:08:09,52.5,13.4\n").encode(), "--timezone Europe/Berlin"),
    "one user": (lambda: rows(user="ann"), "1,000 understood"),
    "one place": (lambda: rows(place="home", lat=52.5, lon=13.4), "1,000 understood"),
    "swapped axes": (lambda: rows(lat=checkins()["lon"], lon=checkins()["lat"]), "lat and lon look swapped"),
    "300 columns": (lambda: rows(**{f"extra {i}": i for i in range(295)}), "1,000 understood"),
    "markup in names": (lambda: rows(**{"[bold]<b onload=x>": "=1+1", "a\x1b[31m": "[link=x]y"}), "[bold]<b onload=x>"),
    "carriage returns": (lambda: rows().replace(b"\n", b"\r"), "1,000 understood"),
    "UTF-16": (lambda: rows().decode().encode("utf-16"), "1,000 understood"),
    "values of another type": (lambda: rows(shop=np.where(np.arange(ROWS) % 2, "a" * 500, "")), "1,000 understood"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_table, "_BOMB_BYTES", 1 << 17)  # 256 MB in the product
    make, part = REFUSED[name]
    (tmp_path / "own").write_bytes(make())
    for command in (["inspect"], ["prepare", "--out", tmp_path / "out"]):
        found = recap(command[0], tmp_path / "own", *command[1:])
        if command[0] == "inspect" and found.returncode == 0:
            assert part in " ".join(found.stdout.split())
        else:
            assert_refused(found, part)
        assert [path.name for path in tmp_path.iterdir()] == ["own"]


@pytest.mark.parametrize("name", INSPECTED)
def test_it_is_inspected(name: str, tmp_path: Path) -> None:
    """What it holds, or what has to be said; `prepare` without a zone refuses it in one line."""
    make, part = INSPECTED[name]
    (tmp_path / "own").write_bytes(make())
    found = recap("inspect", tmp_path / "own")
    assert found.returncode == 0, found.stderr
    assert part in " ".join(found.stdout.split())
    assert_refused(recap("prepare", tmp_path / "own", "--out", tmp_path / "out"))
    assert [path.name for path in tmp_path.iterdir()] == ["own"]


PROGRAM = """
import sys
from pathlib import Path
from app.cli.main import run
sys.argv = ["recap", "inspect", sys.argv[1]]
try:
    run()
finally:
    print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0], file=sys.stderr)
"""
"""Prints its own peak: that of `getrusage` begins with the process that started it."""


@pytest.mark.slow
@pytest.mark.parametrize("line", ["1,2\n", "{user},{place},{time},52.{place:04},13.{place:04}\n"])
def test_two_million_short_rows(line: str, tmp_path: Path) -> None:
    """Two columns are asked about at once; whole check-ins are inspected, in less than 1.5 GB."""
    numbers = np.random.default_rng(1).integers(0, 9000, (2_000_000, 2)).tolist()
    with (tmp_path / "own.csv").open("w") as file:
        if "user" in line:
            file.write(HEADER)
        file.writelines(line.format(user=a, place=b, time=1_700_000_000 + 40 * i) for i, (a, b) in enumerate(numbers))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path / "own.csv"], capture_output=True, text=True, timeout=300
    )
    assert int(done.stderr.split()[-1]) < 1_500_000
    assert ("2,000,000 understood" in done.stdout) == ("user" in line)


def test_records_that_are_none_are_counted(tmp_path: Path) -> None:
    """A broken line of JSON is a bad row, a blank one is none; halves of letters do not end the reading."""
    good = {"user": "ann\ud800", "place": "p", "time": 1_700_000_000, "lat": 52.5, "lon": 13.4}
    (tmp_path / "own.jsonl").write_text("\n".join([json.dumps(good), "{broken", "", '"text"']))
    zone = ["--timezone", "Europe/Berlin"]
    assert_refused(recap("prepare", tmp_path / "own.jsonl", "--out", tmp_path / "out", *zone), "line 2: no JSON record")
    found = recap("inspect", tmp_path / "own.jsonl", *zone)
    assert found.returncode == 0 and "4 rows, 1 understood" in found.stdout
