"""The user's own CSV and Parquet: mapped and guessed columns, every kind of id and time, and what is refused."""

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recap import columns as c
from recap.data.parsing.options import ReadOptions, parse_mapping
from recap.data.reading import read_checkins
from recap.errors import ConfigError
from tests.recap.data.refusing import assert_unreadable

ZONE = ReadOptions(timezone="Europe/Berlin")
NOON = pd.Timestamp("2024-07-01 12:00:00", tz="UTC")
HEADER = "user,poi,time,lat,lon\n"


def csv(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def options(**changes: Any) -> ReadOptions:
    return ReadOptions.parse({"timezone": "Europe/Berlin", **changes})


def test_named_columns(tmp_path: Path) -> None:
    """--map names what no one could guess; ids keep zeros and letters; July in Berlin is UTC+2."""
    path = csv(tmp_path / "a.csv", "who;wo;wann;breite;länge\n007;Café;2024-07-01T12:00:00Z;52.5;13.4\n")
    mapping = parse_mapping(["user=who,poi=wo", "time=wann, lat=breite,lon=länge"])
    read = read_checkins(path, "csv", options(columns=mapping))
    row = read.table.iloc[0]
    assert (row[c.USER_ID], row[c.POI_ID], row[c.LATITUDE], row[c.LONGITUDE]) == ("007", "Café", 52.5, 13.4)
    assert (row[c.TIME], row[c.TZ_OFFSET_MINUTES], row[c.CATEGORY]) == (NOON, 120, "")
    assert read.account.columns == mapping


@pytest.mark.parametrize(
    "time",
    [
        *("2024-07-01T12:00:00Z", "2024-07-01 12:00:00", "2024-07-01T14:00:00+02:00", "2024-07-01 12:00:00.999"),
        *("1719835200", "1719835200.0", "1719835200000", "1719835200000000", "1719835200000000000"),
        *("Mon Jul 01 12:00:00 +0000 2024", "2024-07-01 12:00"),
    ],
)
def test_time_layouts_are_recognised(tmp_path: Path, time: str) -> None:
    """ISO with or without zone, epochs in seconds to nanoseconds, and the Foursquare layout: all 12:00 UTC."""
    path = csv(tmp_path / "a.csv", HEADER + f"1,2,{time},52.5,13.4\n")
    assert read_checkins(path, "csv", ZONE).table[c.TIME].tolist() == [NOON]


def test_a_layout_of_ones_own(tmp_path: Path) -> None:
    """--time-format reads anything strptime reads; a day that the calendar lacks is refused."""
    path = csv(tmp_path / "a.csv", HEADER + "1,2,01.07.2024 12:00,52.5,13.4\n1,2,31.06.2024 12:00,1,1\n")
    read = read_checkins(path, "csv", options(time_format="%d.%m.%Y %H:%M", skip_bad_rows=True))
    assert read.table[c.TIME].tolist() == [NOON]
    (example,) = read.account.reported["time"].examples
    assert "line 3: time must look like '03.04.2012 18:00', got '31.06.2024" in example
    assert_unreadable("strptime", path, "csv", options(time_format="%d.%Q"))


def test_local_times_only(tmp_path: Path) -> None:
    """14:00 on Berlin's wall is 12:00 UTC; 2:30 on the night of the change exists not (moved) or twice (first)."""
    rows = ["2024-07-01 14:00:00", "2024-03-31 02:30:00", "2024-10-27 02:30:00"]
    path = csv(tmp_path / "a.csv", HEADER + "".join(f"1,2,{time},52.5,13.4\n" for time in rows))
    read = read_checkins(path, "csv", options(local_times=True))
    utc = ["2024-07-01 12:00:00", "2024-03-31 01:00:00", "2024-10-27 00:30:00"]
    assert read.table[c.TIME].tolist() == [pd.Timestamp(time, tz="UTC") for time in utc]
    assert read.table[c.TZ_OFFSET_MINUTES].tolist() == [120, 120, 120]
    assert len(read.account.notes) == 2 and all("1 times" in note for note in read.account.notes)
    assert_unreadable("--timezone", path, "csv", ReadOptions(local_times=True))
    offset = csv(tmp_path / "o.csv", "user,poi,time,lat,lon,tz\n1,2,2024-07-01 14:00:00,52.5,13.4,120\n")
    table = read_checkins(offset, "csv", ReadOptions(local_times=True)).table
    assert (table[c.TIME].tolist(), table[c.TZ_OFFSET_MINUTES].tolist()) == ([NOON], [120])
    longitude = read_checkins(path, "csv", options(local_times=True, timezone="longitude")).table
    assert longitude[c.TIME].iloc[0] == NOON + pd.Timedelta(hours=1)
    for mark in ("Z", "+00:00", "-05:00"):  # the clock counts, whatever it carries
        marked = csv(tmp_path / "b.csv", HEADER + f"1,2,2024-07-01T14:00:00{mark},52.5,13.4\n")
        read = read_checkins(marked, "csv", options(local_times=True))
        assert read.table[c.TIME].tolist() == [NOON] and "clocks as local" in read.account.notes[0]


@pytest.mark.parametrize("column", ["local_time", "Time (local)"])
def test_a_column_that_calls_itself_local(tmp_path: Path, column: str) -> None:
    """Its times are local without --local-times, and the account says so; times that carry a zone are as they say."""
    path = csv(tmp_path / "a.csv", f"user,poi,{column},lat,lon\n1,2,2024-07-01 14:00:00,52.5,13.4\n")
    read = read_checkins(path, "csv", ZONE)
    assert read.table[c.TIME].tolist() == [NOON]
    assert read.account.notes == [f"Times of the column {column} are taken as local, as its name says."]
    assert read_checkins(path, "csv", options(local_times=True)).account.notes == []
    path.write_text(path.read_text().replace("14:00:00", "14:00:00+02:00"))
    read = read_checkins(path, "csv", ZONE)
    assert (read.table[c.TIME].tolist(), read.account.notes) == ([NOON], [])


def test_offsets_from_a_column_or_from_the_times(tmp_path: Path) -> None:
    """A column of minutes needs no --timezone, nor do times that carry offsets; the option overrides both."""
    text = "user,poi,time,lat,lon,tz\n1,2,1719835200,52.5,13.4,120\n1,2,1719835200,1,1,-570\n"
    column = csv(tmp_path / "a.csv", text)
    table = read_checkins(column, "csv").table
    assert table[c.TZ_OFFSET_MINUTES].tolist() == [120, -570]
    text = HEADER + "1,2,2024-07-01T14:00:00+02:00,1,1\n1,2,2024-07-01T07:30:00-04:30,1,1\n"
    carried = csv(tmp_path / "b.csv", text)
    table = read_checkins(carried, "csv").table
    assert table[c.TZ_OFFSET_MINUTES].tolist() == [120, -270] and set(table[c.TIME]) == {NOON}
    for path in (column, carried):
        assert set(read_checkins(path, "csv", options(timezone="UTC")).table[c.TZ_OFFSET_MINUTES]) == {0}


def test_a_split_of_ones_own(tmp_path: Path) -> None:
    """A column of train, val and test words is kept; an unknown word is refused."""
    text = "user,poi,time,lat,lon,split,trajectory_id\n" + "".join(
        f"1,2,{1719835200 + i},1,1,{word},{i}\n" for i, word in enumerate(["train", "Valid", "TEST", "validation"])
    )
    table = read_checkins(csv(tmp_path / "a.csv", text), "csv", ZONE).table
    assert table[c.SPLIT].tolist() == [0, 1, 2, 1]
    assert table[c.TRAJECTORY_ID].tolist() == ["0", "1", "2", "3"]
    wrong = csv(tmp_path / "b.csv", text.replace("train", "unused"))
    assert_unreadable("line 2: split must be train, val or test, got 'unused'", wrong, "csv", ZONE)


def test_quotes_line_breaks_and_encodings(tmp_path: Path) -> None:
    """Quoted commas stay; line breaks in quotes need an option; UTF-16 is recognised, Latin-1 must be named."""
    text = 'user,poi,time,lat,lon,category\n1,"a, ""b""",1719835200,1,1,Café\n'
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        row = read_checkins(csv(tmp_path / "a.csv", text, encoding), "csv", ZONE).table.iloc[0]
        assert (row[c.POI_ID], row[c.CATEGORY]) == ('a, "b"', "Café")
    latin = csv(tmp_path / "l.csv", text, "latin-1")
    assert_unreadable(r"l\.csv line 2 is not utf-8 text.*--text encoding=latin-1", latin, "csv", ZONE)
    assert read_checkins(latin, "csv", options(encoding="latin-1")).table[c.CATEGORY].tolist() == ["Café"]
    broken = csv(tmp_path / "b.csv", text.replace("Café", '"Ca\nfé"'))
    assert_unreadable(r"2 lines but 1 rows.*--text multiline=true", broken, "csv", ZONE)
    read = read_checkins(broken, "csv", options(multiline=True))
    assert read.table[c.CATEGORY].tolist() == ["Ca\nfé"] and read.account.rows_in == 1


def test_a_first_line_that_names_the_separator(tmp_path: Path) -> None:
    """Excel writes it; the names are on line 2, the first row is on line 3."""
    text = "sep=;\nuser;poi;time;lat;lon\n1;a, b;1719835200;1;1\n1;a, b;1719835260;1;1\n"
    read = read_checkins(csv(tmp_path / "a.csv", text), "auto", ZONE)
    assert read.table[c.POI_ID].tolist() == ["a, b"] * 2 and read.account.rows_in == 2
    path = csv(tmp_path / "b.csv", text.replace(";1;1", ";95;1", 1))
    assert_unreadable("line 3: latitude 95 is outside", path, "csv", ZONE)


def test_numbers_as_names(tmp_path: Path) -> None:
    """A first line of values holds no names, unless it counts the columns, as pandas writes them."""
    row, mapping = "1,2,1719835200,1.5,1\n", {"user": "0", "poi": "1", "time": "2", "lat": "3", "lon": "4"}
    for header in ("0,1,2,3,4\n", ""):
        columns = {field: name if header else f"column{int(name) + 1}" for field, name in mapping.items()}
        read = read_checkins(csv(tmp_path / "a.csv", header + row * 2), "csv", options(columns=columns))
        assert read.account.rows_in == read.account.rows_kept == 2


UTF_16 = ["utf-16-le", "utf-16-be", "utf-32"]


@pytest.mark.parametrize("encoding", UTF_16)
def test_named_encodings_of_several_bytes_a_line_end(tmp_path: Path, encoding: str) -> None:
    """Lines are counted in the text, not in its bytes: U+010A holds the byte of a line end, U+2028 ends no line."""
    text = "user,poi,time,lat,lon,category\n1,2,1719835200,1,1,\u010a\u2028\x0b.\r\n1,3,1719835200,1,1,b\r\n"
    path = csv(tmp_path / "a.csv", text, encoding)
    read = read_checkins(path, "csv", options(encoding=encoding))
    assert read.account.rows_in == 2 and read.table[c.POI_ID].tolist() == ["2", "3"]
    assert read.table[c.CATEGORY].tolist() == ["\u010a\u2028\x0b.", "b"]
    marked = csv(tmp_path / "m.csv", text, "utf-16")
    assert read_checkins(marked, "csv", ZONE).account.rows_in == 2


@pytest.mark.parametrize("encoding", ["utf-16", *UTF_16, "idna", "utf-7"])
def test_a_wrong_encoding_is_refused(tmp_path: Path, encoding: str) -> None:
    """A file that is not what --text encoding says: the option is named, or the columns that were not found."""
    path = csv(tmp_path / "a.csv", "user,poi,time,lat,lon,category\n1,2,1719835200,1,1,Café\n", "utf-8")
    assert_unreadable(r"--text encoding|column names", path, "csv", options(encoding=encoding))
    assert_unreadable(r"--text encoding|expected 5 columns", path, "gowalla", options(encoding=encoding))


def test_more_columns_than_a_short_line_holds(tmp_path: Path) -> None:
    """A header of 4,000 characters is read whole; one name of 200,000 is refused."""
    extra = [f"a_column_with_a_long_name_{number}" for number in range(130)]
    header = ",".join([*extra, "user,poi,time,lat,lon"])
    path = csv(tmp_path / "a.csv", f"{header}\n{',' * 130}1,2,1719835200,1,1\n")
    assert read_checkins(path, "csv", ZONE).table[c.POI_ID].tolist() == ["2"]
    assert_unreadable("no column names", csv(tmp_path / "b.csv", f"{'x' * 200_000},{header}\n"), "csv", ZONE)


def test_a_name_longer_than_any(tmp_path: Path) -> None:
    """4,096 characters are a name, one more is a bad row, in ids and in categories."""
    row = "1,{},1719835200,1,1,{}\n"
    text = "user,poi,time,lat,lon,category\n" + row.format("é" * 4096, "a") + row.format("b", "x" * 4097)
    path = csv(tmp_path / "a.csv", text + row.format("y" * 4097, "c"))
    assert_unreadable(r"line 3: category_id must have at most 4,096 characters, got 4,097: 'xxx", path, "csv", ZONE)
    read = read_checkins(path, "csv", options(skip_bad_rows=True))
    assert read.account.rows_kept == 1 and read.account.dropped() == {"too_long": 2}


def test_text_cut_inside_a_letter(tmp_path: Path) -> None:
    """A last line that ends in half a letter is refused as text, whatever its columns."""
    for tail in ("x", "x,y,1719835200,1,1,"):
        text = f"user,poi,time,lat,lon,category\n1,2,1719835200,1,1,Café\n{tail}é"
        (tmp_path / "a.csv").write_bytes(text.encode()[:-1])
        assert_unreadable(r"a\.csv line 3 is not utf-8 text", tmp_path / "a.csv", "csv", ZONE)


def test_offsets_with_a_sign(tmp_path: Path) -> None:
    """`+60`, `-240.0` and `0` are minutes; `5,5` and `+` are bad rows."""
    rows = "".join(f'1,2,1719835200,1,1,"{offset}"\n' for offset in ("+60", "-240.0", "0", "5,5", "+"))
    path = csv(tmp_path / "a.csv", f"user,poi,time,lat,lon,tz\n{rows}")
    read = read_checkins(path, "csv", ReadOptions(skip_bad_rows=True))
    assert read.table[c.TZ_OFFSET_MINUTES].tolist() == [60, -240, 0] and read.account.dropped() == {"tz_offset": 2}


def test_pipes_are_refused_before_they_are_opened(tmp_path: Path) -> None:
    """A pipe would block for ever or be empty at the second reading."""
    os.mkfifo(tmp_path / "pipe")
    for source_format in ("auto", "csv", "parquet", "foursquare"):
        assert_unreadable("pipe or a device; write the check-ins to a file", tmp_path / "pipe", source_format, ZONE)


@pytest.mark.filterwarnings("error")  # a warning would be a second line for the user
def test_impossible_longitudes_with_zones_by_longitude(tmp_path: Path) -> None:
    """They are reported like any others; a zone is not computed from them."""
    text = HEADER + "1,2,1719835200,1,1e300\n1,2,1719835200,1,-45\n"
    read = read_checkins(csv(tmp_path / "a.csv", text), "csv", options(timezone="longitude", skip_bad_rows=True))
    assert read.account.dropped() == {"longitude": 1} and read.table[c.TZ_OFFSET_MINUTES].tolist() == [-180]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (
            "user,poi,time,lat\n1,2,3,4\n",
            r"latitude and longitude.* its columns: user, poi, time, lat. Name it with --map lat=COLUMN,lon=COLUMN",
        ),
        (HEADER + "1,2,soon,1,1\n", r"has the time\? I cannot tell from its columns: user, poi, time, lat, lon"),
        (HEADER + "1,2,1719835200,1,1\n1,2,-90000000000,1,1\n", "line 3: time .* outside 1990"),
        (HEADER + "1,2,1719835200,1,1\n1,2,9999999999,1,1\n", r"line 3: time .* outside 1990 to 2099"),
        (HEADER + "1, ,1719835200,1,1\n", "line 2: place id is empty"),
        (HEADER + "1,2,1719835200,1\n", "line 2: expected 5 columns separated by commas, got 4"),
        ("words\n", "names separated by tabs, commas"),
    ],
)
def test_refuses_csv(tmp_path: Path, text: str, part: str) -> None:
    """Missing or doubled columns, no rows, bad values: what was expected, what came, which option helps."""
    assert_unreadable(part, csv(tmp_path / "a.csv", text), "csv", ZONE)


def test_parquet_columns_of_every_fitting_type(tmp_path: Path) -> None:
    """Integers and strings as ids, timestamps with and without zone, decimals and dictionaries; nulls are bad rows."""
    times = pd.to_datetime(["2024-07-01 12:00", "2024-07-01 12:00"])
    for name, time in (("naive", times), ("zoned", times.tz_localize("UTC").tz_convert("Asia/Tokyo"))):
        table = pa.table(
            {
                "user": pa.array([7, 8]),
                "poi": pa.array(["a", "b"]).dictionary_encode(),
                "time": pa.array(time),
                "lat": pa.array([1.5, 2.5], pa.float32()),
                "lon": pa.array([1, 2]),
                "category": pa.array([None, "bar"]),
            }
        )
        pq.write_table(table, tmp_path / f"{name}.parquet")
        read = read_checkins(tmp_path / f"{name}.parquet", "parquet", ZONE)
        assert read.table[c.USER_ID].tolist() == ["7", "8"]
        assert read.table[c.POI_ID].tolist() == ["a", "b"]
        assert read.table[c.CATEGORY].tolist() == ["", "bar"]
        assert set(read.table[c.TIME]) == {NOON}
    epochs = pa.table({"user": [1.0, 2.0, None], "poi": [1, 2, 3], "time": [1719835200000] * 3, "lat": [1.0] * 3})
    epochs = epochs.append_column("lon", pa.array([1.0, float("nan"), 1.0]))
    pq.write_table(epochs, tmp_path / "e.parquet")
    read = read_checkins(tmp_path / "e.parquet", "parquet", options(skip_bad_rows=True))
    assert read.table[c.USER_ID].tolist() == ["1"] and read.table[c.TIME].tolist() == [NOON]
    assert read.account.dropped() == {"longitude": 1, "user_id": 1}
    assert_unreadable(r"e\.parquet row 2: longitude nan", tmp_path / "e.parquet", "parquet", ZONE)


def test_parquet_ids_that_became_floats(tmp_path: Path) -> None:
    """Each id for itself: one NaN or 1.5 among them changes no other's text, and NaN is no id."""
    ids = pa.array([7.0, float("nan"), 1.5, None, 1e300])
    table = pa.table({"user": ids, "poi": [1] * 5, "time": [1719835200] * 5, "lat": [1.0] * 5, "lon": [1.0] * 5})
    pq.write_table(table, tmp_path / "f.parquet")
    read = read_checkins(tmp_path / "f.parquet", "parquet", options(skip_bad_rows=True))
    assert read.table[c.USER_ID].tolist() == ["7", "1.5", "1e+300"] and read.account.dropped() == {"user_id": 2}


def test_refuses_parquet_that_no_one_can_read(tmp_path: Path) -> None:
    """Two columns of one name, text that is no UTF-8, times that no calendar holds."""
    good = {"user": [1], "poi": [1], "time": [1719835200], "lat": [1.0], "lon": [1.0]}
    twice = pa.table(good).append_column("lat", pa.array([2.0]))
    noise = pa.array([b"\xff\xfe"]).view(pa.string())
    far = pa.array([2**62], pa.timestamp("us"))
    tables = {
        "'lat' appears twice": twice,
        "cannot be read as Parquet.*UTF8": pa.table(good | {"user": noise}),
        r"row 1: time '4611686018427387904' is outside 1990 to 2099": pa.table(good | {"time": far}),
    }
    for part, table in tables.items():
        pq.write_table(table, tmp_path / "a.parquet")
        assert_unreadable(part, tmp_path / "a.parquet", "parquet", ZONE)


@pytest.mark.parametrize("text", ["user", "user=", "=a", "who=a", "user=a,user=b"])
def test_refuses_bad_mappings(text: str) -> None:
    """No pair, no column, no field, an unknown field, a field twice."""
    with pytest.raises(ConfigError, match="--map"):
        parse_mapping([text])


@pytest.mark.parametrize("bad", [{"timezone": "Mars/Base"}, {"encoding": "klingon"}, {"delimiter": "ab"}])
def test_refuses_bad_options(bad: dict[str, str]) -> None:
    """Zones, encodings and separators that do not exist."""
    with pytest.raises(ConfigError):
        ReadOptions.parse(bad)


def test_a_named_column_must_exist(tmp_path: Path) -> None:
    path = csv(tmp_path / "a.csv", HEADER + "1,2,1719835200,1,1\n")
    part = "no column 'person' for --map user=person; its columns: user, poi"
    assert_unreadable(part, path, "csv", options(columns={"user": "person"}))
