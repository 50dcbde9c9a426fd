"""Times and zones of your own table: layouts, days and clocks, local clocks, zones of a type or a column."""

import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recap import columns as c
from recap.data.parsing.options import ReadOptions
from recap.data.reading import read_checkins, understand
from tests.recap.data.refusing import assert_unreadable

MOMENTS = pd.date_range("2012-04-13 18:18:36", periods=6, freq="61min")
UTC = ReadOptions(timezone="UTC")


def own(path: Path, **columns: list[str]) -> Path:
    frame = pd.DataFrame({"user": "u", "poi": "p", **columns, "lat": 40.0, "lon": -74.0})
    frame.to_csv(path, index=False)
    return path


def test_day_or_month_first_is_asked_where_both_read_it(tmp_path: Path) -> None:
    """Both readings of one value, each with its option."""
    path = own(tmp_path / "own.csv", time=["03/04/2012 18:00", "04/04/2012 19:00"])
    value = "first, 03/04/2012 18:00 is"
    assert_unreadable(f"day {value} 03 Apr 2012 18:00: .*--time-format '%d/%m/%Y", path, "csv", UTC)
    assert_unreadable(f"month {value} 04 Mar 2012 18:00: .*--time-format '%m/%d/%Y %H:%M'", path, "csv", UTC)
    _, month_first = understand(path).question.answers.values()
    read = read_checkins(path, "csv", month_first.model_copy(update={"timezone": "UTC"}))
    assert read.table[c.TIME].dt.month.tolist() == [3, 4]


def test_the_value_shown_is_one_that_cannot_be_read(tmp_path: Path) -> None:
    path = own(tmp_path / "own.csv", time=["1333476009", "x1", "x2"])
    options = ReadOptions(timezone="UTC", columns={"time": "time"})
    assert_unreadable("line 3: time must look like '1333476009', got 'x1'", path, "csv", options)


def test_days_alone_are_read_as_midnights(tmp_path: Path) -> None:
    days = list(MOMENTS.strftime("%Y-%m-%d"))
    read = read_checkins(own(tmp_path / "own.csv", date=days), "csv", UTC)
    assert read.table[c.TIME].dt.strftime("%Y-%m-%d").tolist() == days


def test_a_zone_of_a_parquet_type_counts(tmp_path: Path) -> None:
    """18:18:36 in New York is 22:18:36 UTC, four hours ahead; a fixed offset counts too."""
    for zone, minutes in (("America/New_York", -240), ("+02:00", 120)):
        frame = pd.DataFrame({"user": "u", "poi": "p", "lat": 40.0, "lon": -74.0, "time": MOMENTS.tz_localize(zone)})
        frame.to_parquet(tmp_path / "own.parquet")
        table = read_checkins(tmp_path / "own.parquet", "parquet").table
        assert set(table[c.TZ_OFFSET_MINUTES]) == {minutes}
        assert table[c.TIME].iloc[0] == MOMENTS[0].tz_localize(zone)


@pytest.mark.parametrize("zone", ["Mars/Base", "", "../../etc/passwd"])
def test_a_zone_of_a_type_that_does_not_exist(zone: str, tmp_path: Path) -> None:
    """A type may hold any text; the option names a zone that exists."""
    columns = {"user": ["u"], "poi": ["p"], "lat": [40.0], "lon": [-74.0]}
    times = pa.array([1_333_476_009], pa.timestamp("s", tz=zone or "No/Where"))
    pq.write_table(pa.table(columns | {"time": times}), tmp_path / "own.parquet")
    path = tmp_path / "own.parquet"
    assert_unreadable("does not exist; name the zone of the check-ins with --timezone", path, "parquet")
    assert read_checkins(path, "parquet", UTC).account.rows_kept == 1


@pytest.mark.parametrize("local", [False, True])
def test_a_column_of_zone_names(local: bool, tmp_path: Path) -> None:
    """Each row in its own zone, text or Parquet: 18:18:36 UTC is 14:18 in New York, 03:18 in Tokyo; a name that is
    none is a bad row."""
    zones = ["America/New_York", "Asia/Tokyo", "+05:30", "UTC-3:00", "Mars/Base", ""]
    path = own(tmp_path / "own.csv", time=[str(MOMENTS[0])] * 6, timezone=zones)
    pd.read_csv(path, keep_default_na=False).to_parquet(tmp_path / "own.parquet", index=False)
    for file, form in ((path, "csv"), (tmp_path / "own.parquet", "parquet")):
        read = read_checkins(file, form, ReadOptions(skip_bad_rows=True, local_times=local))
        minutes = [-240, 540, 330, -180]
        assert read.table[c.TZ_OFFSET_MINUTES].tolist() == minutes and read.account.dropped() == {"tz_offset": 2}
        moved = [MOMENTS[0] - pd.Timedelta(minutes=offset * local) for offset in minutes]
        assert read.table[c.TIME].dt.tz_localize(None).tolist() == moved
        assert_unreadable("time zone must be a name such as America/New_York, or minutes, got 'Mars", file, form)


def test_a_local_time_with_a_zero_offset(tmp_path: Path) -> None:
    """As GETNext writes it: 18:18:36+00:00 in a column called local is 18:18:36 on the wall, 22:18:36 UTC; other
    offsets are as they say."""
    zoned = MOMENTS.tz_localize("UTC")
    path = own(tmp_path / "own.csv", local_time=[str(moment) for moment in zoned])
    pd.read_csv(path).assign(local_time=zoned).to_parquet(tmp_path / "own.parquet")
    for file, form in ((path, "csv"), (tmp_path / "own.parquet", "parquet")):
        assert_unreadable("--timezone", file, form)
        read = read_checkins(file, form, ReadOptions(timezone="America/New_York"))
        assert read.table[c.TIME].iloc[0] == pd.Timestamp("2012-04-13 22:18:36", tz="UTC")
        assert "taken as local, as its name says, though they are written with a zero offset" in read.account.notes[0]
    path.write_text(path.read_text().replace("+00:00", "+02:00"))
    assert read_checkins(path, "csv").table[c.TIME].iloc[0] == pd.Timestamp("2012-04-13 16:18:36", tz="UTC")


def test_swapped_coordinates_are_named(tmp_path: Path) -> None:
    path = own(tmp_path / "own.csv", time=["1333476009", "1333476010"])
    path.write_text(path.read_text().replace("40.0,-74.0", "139.7,35.6"))
    assert_unreadable(r"lat and lon look swapped.*lat=lon,lon=lat", path, "csv", UTC)
    turned = ReadOptions(timezone="UTC", columns={"lat": "lon", "lon": "lat"})
    assert not read_checkins(path, "csv", turned).account.notes
    assert read_checkins(path, "csv", turned).table[c.LATITUDE].tolist() == [35.6, 35.6]


def test_a_given_split_without_validation_is_named(tmp_path: Path) -> None:
    """At `prepare`, not at the first training."""
    path = own(tmp_path / "own.csv", time=["1333476009", "1333476010"], split=["train", "test"])
    notes = read_checkins(path, "csv", UTC).account.notes
    assert [note for note in notes if re.search("no val rows.*keep_given_split=false", note)]
