"""Damaged files for each reader, through `recap prepare`: no traceback, nothing half-written, no row lost."""

import gzip
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from recap.data.dataset import Dataset
from recap.data.parsing import text_table
from recap.data.parsing.clocks import spell_clocks
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.table_source import open_text
from recap.data.reading import SOURCE_FORMATS, read_checkins
from recap.errors import DataError
from tests.checkins import foursquare_lines
from tests.cli_runner import recap_here
from tests.sources import write_source

LOW = ["--set", "min_poi_checkins=1", "--set", "min_user_checkins=1"]
HEADERLESS = ("foursquare", "gowalla", "json")
Damage = Callable[[bytes, np.random.Generator], bytes]


def separator_of(data: bytes) -> bytes:
    return b"\t" if b"\t" in data else b","


def flip_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    damaged = bytearray(data)
    for position in rng.integers(0, len(damaged), rng.integers(1, 30)):
        damaged[position] ^= 1 << int(rng.integers(0, 8))
    return bytes(damaged)


def drop_a_column(data: bytes, rng: np.random.Generator) -> bytes:
    mark = separator_of(data)
    column = int(rng.integers(0, 9))
    rows = [line.split(mark) for line in data.split(b"\n")]
    return b"\n".join(mark.join(row[:column] + row[column + 1 :]) for row in rows)


def drop_a_column_in_some_rows(data: bytes, rng: np.random.Generator) -> bytes:
    return b"\n".join(drop_a_column(line, rng) if rng.random() < 0.1 else line for line in data.split(b"\n"))


def shuffle_rows(data: bytes, rng: np.random.Generator) -> bytes:
    rows = data.rstrip(b"\n").split(b"\n")
    return b"\n".join(rows[i] for i in rng.permutation(len(rows))) + b"\n"


def swap_columns(data: bytes, rng: np.random.Generator) -> bytes:
    mark = separator_of(data)
    rows = [line.split(mark) for line in data.split(b"\n")]
    order = rng.permutation(max(map(len, rows)))
    return b"\n".join(mark.join(row[i] for i in order if i < len(row)) for row in rows)


def change_encoding(data: bytes, rng: np.random.Generator) -> bytes:
    text = data.decode("utf-8", "replace").replace("kind", str(rng.choice(["kind", "Café", "寿司", "\ufffe"])))
    return text.encode(str(rng.choice(["utf-16", "utf-16-be", "utf-32", "cp1252", "utf-8-sig", "cp037"])), "replace")


def grow_a_field(data: bytes, rng: np.random.Generator) -> bytes:
    rows = data.split(b"\n")
    chosen = int(rng.integers(0, len(rows)))
    fields = rows[chosen].split(separator_of(data))
    fields[int(rng.integers(0, len(fields)))] = b"x" * 1_000_000
    rows[chosen] = separator_of(data).join(fields)
    return b"\n".join(rows)


def replace_values(data: bytes, rng: np.random.Generator) -> bytes:
    odd = [*b"nan -inf 1e400 NULL 0x1F \" ' \\ 2012-13-45 1,2 \x00".split(b" "), b"", b" ", b"9" * 40]
    rows = data.split(b"\n")
    for chosen in rng.integers(0, len(rows), rng.integers(1, 6)):
        fields = rows[chosen].split(separator_of(data))
        fields[int(rng.integers(0, len(fields)))] = odd[int(rng.integers(0, len(odd)))]
        rows[chosen] = separator_of(data).join(fields)
    return b"\n".join(rows)


def zip_it(data: bytes, rng: np.random.Generator) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("city.txt", data)
    return buffer.getvalue()


def compress(data: bytes, rng: np.random.Generator) -> bytes:
    packed = gzip.compress(data)
    return packed[: int(rng.integers(1, len(packed) + 1))]


def cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: int(rng.integers(0, len(data)))]


def blank_lines_and_line_ends(data: bytes, rng: np.random.Generator) -> bytes:
    end = [b"\r\n", b"\r", b"\n\n", b"\n \n", b"\n\t\n"][int(rng.integers(0, 5))]
    return data.replace(b"\n", end)


def repeat_or_insert(data: bytes, rng: np.random.Generator) -> bytes:
    rows = data.split(b"\n")
    rows.insert(
        int(rng.integers(0, len(rows))), [rows[0], b"# a remark", b"\xff\xfe", b'"' * 3][int(rng.integers(0, 4))]
    )
    return b"\n".join(rows + rows[: int(rng.integers(0, len(rows)))])


def change_parquet(data: bytes, rng: np.random.Generator) -> bytes:
    """Another table in a whole Parquet file: rows, columns, types and values change."""
    table = pq.read_table(io.BytesIO(data))
    name = table.column_names[int(rng.integers(0, table.num_columns))]
    index, rows = table.column_names.index(name), table.num_rows
    holes, few = pa.array(rng.random(rows) < 0.1), table.slice(0, int(rng.integers(0, rows)))

    def column(values: Any) -> pa.Table:
        return table.set_column(index, name, values)

    def long_texts() -> pa.Table:
        text = pc.if_else(holes, "x" * 1_000_000, table[name].cast(pa.string()))
        return table.slice(0, 5).set_column(index, name, text.slice(0, 5))

    changes: list[Callable[[], pa.Table]] = [
        lambda: table.drop_columns([name]),
        lambda: table.take(pa.array(rng.permutation(rows))),
        lambda: column(table[name].cast(pa.large_string())),
        lambda: column(pc.if_else(holes, None, table[name])),
        long_texts,
        lambda: table.rename_columns([*table.column_names[:-1], name + "?"]),
        lambda: column(pa.array([[i] for i in range(rows)])),
        lambda: column(pa.array(rng.normal(0, 1e12, rows))),
        lambda: pa.concat_tables([table, few]),
    ]
    out = io.BytesIO()
    pq.write_table(changes[int(rng.integers(0, len(changes)))](), out)
    return out.getvalue()


DAMAGES: list[Damage] = [
    *(flip_bytes, drop_a_column, drop_a_column_in_some_rows, shuffle_rows, swap_columns, change_encoding),
    *(grow_a_field, replace_values, zip_it, compress, cut, blank_lines_and_line_ends, repeat_or_insert),
]
PARQUET_DAMAGES: list[Damage] = [change_parquet, change_parquet, change_parquet, flip_bytes, cut, compress, zip_it]


def count_rows(files: list[Path], source_format: str) -> int:
    """Lines of text files, by Python's own means; headers not counted."""
    total = 0
    for file in files:
        data = file.read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if data[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
            data = data.decode("utf-32").encode()
        elif data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            data = data.decode("utf-16").encode()
        total += len(re.split(rb"\r\n|\r|\n", data)) - data.endswith((b"\n", b"\r")) - (source_format not in HEADERLESS)
    return total


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
@pytest.mark.parametrize("mutations", [13, pytest.param(100, marks=pytest.mark.slow)])
def test_damaged_files(tmp_path: Path, source_format: str, mutations: int) -> None:
    """Either one line, exit 2 and no folder; or a whole dataset in which rows in = rows kept + rows reported."""
    rng = np.random.default_rng(sum(source_format.encode()))
    source, options = write_source(tmp_path, source_format)
    files = [source] if source.is_file() else sorted(source.iterdir())
    originals = {file: file.read_bytes() for file in files}
    zone = ["--timezone", options.timezone] if options.timezone else []
    if source_format in ("csv", "json", "parquet"):
        zone = ["--timezone", "UTC"]  # columns may go, and the offsets with them
    out, refused = tmp_path / "out", 0
    damages = PARQUET_DAMAGES if source_format == "parquet" else DAMAGES
    for number in range(mutations):
        damage = damages[number % len(damages)]
        victim = files[int(rng.integers(0, len(files)))]
        victim.write_bytes(damage(originals[victim], rng))
        what = f"{source_format} {number} {damage.__name__} {victim.name}"
        skip = ["--skip-bad-rows"] if (number + number // len(damages)) % 2 else []
        done = recap_here("prepare", source, "--format", source_format, "--out", out, "--json", *zone, *LOW, *skip)
        if done.returncode == 2:
            refused += 1
            assert done.stdout == "" and done.stderr.startswith("recap: "), what
            assert done.stderr.count("\n") == 1 and len(done.stderr) < 2000, what
        else:
            assert done.returncode == 0, what
            reading = json.loads(done.stdout)["reading"]
            assert reading["rows_in"] == reading["rows_kept"] + sum(reading["reported"].values()), what
            assert skip or set(reading["reported"]) <= {"blank_line"}, what
            rows = [file for file in files if file.suffix not in (".geo", ".item", ".json")]
            is_parquet = source_format == "parquet"
            expected = pq.read_metadata(source).num_rows if is_parquet else count_rows(rows, source_format)
            assert reading["rows_in"] == expected, what
            assert Dataset.load(out).manifest.report.raw == reading["rows_kept"], what
            shutil.rmtree(out)
        assert [path.name for path in tmp_path.iterdir()] == [source.name], what
        victim.write_bytes(originals[victim])
    assert refused > mutations / 6 and mutations - refused > mutations / 8, refused


@pytest.mark.parametrize("step", [23, pytest.param(1, marks=pytest.mark.slow)])
def test_a_bit_in_every_place_of_a_small_file(step: int, tmp_path: Path) -> None:
    """Gowalla's shortest lines: whichever bit flips, the account is complete or the file is refused."""
    path = tmp_path / "g.txt"
    data = b"0\t2010-10-19T23:55:27Z\t37.7\t-122.4\t22847\n1\t2010-10-19T23:55:28Z\t37.7\t-122.4\t7\n"
    for place in range(0, 8 * len(data), step):
        damaged = bytearray(data)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            read = read_checkins(path, "gowalla", ReadOptions(timezone="UTC", skip_bad_rows=True))
        except DataError:
            continue
        assert read.account.rows_in == count_rows([path], "gowalla")
        assert read.account.rows_kept == len(read.table)


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
