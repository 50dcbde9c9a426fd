"""Times that no known layout reads: the message names column, look-alikes and the option that reads this very file."""

import re
import shlex
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recap import columns as c
from recap.data.cleaning import DataConfig
from recap.data.inspection import inspect_checkins
from recap.data.parsing.options import ReadOptions, parse_mapping
from recap.data.reading import read_checkins
from recap.errors import DataError

MOMENTS = pd.date_range("2012-04-13 18:18:36", periods=6, freq="61min")


def own(path: Path, **columns: list[str]) -> Path:
    frame = pd.DataFrame({"user": "u", "poi": "p", **columns, "lat": 40.0, "lon": -74.0})
    frame.to_csv(path, index=False)
    return path


def follow(message: str) -> ReadOptions:
    """The options that a message gives, as a shell would take them."""
    words = shlex.split(message[message.index("--") :].split(" or --")[0].split(" (")[0])
    given = dict(zip(words[::2], words[1::2], strict=True))
    return ReadOptions.parse(
        {
            "timezone": "UTC",
            "time_format": given.get("--time-format"),
            "columns": parse_mapping([given.get("--map", "")]),
        }
    )


FORMATS = [
    "%m/%d/%Y %I:%M %p",
    "%d/%m/%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%Y%m%d%H%M%S",
    "%d %b %Y %H:%M",
    "%Y/%m/%d %H:%M",
]


@pytest.mark.parametrize("form", FORMATS)
def test_the_option_in_the_message_reads_the_file(form: str, tmp_path: Path) -> None:
    """Day first and month first are told apart by a 13th; what is read with the option equals what was written."""
    path = own(tmp_path / "own.csv", time=[moment.strftime(form) for moment in MOMENTS])
    with pytest.raises(DataError, match="column 'time' was taken for the times, but no layout is known") as refused:
        read_checkins(path, "csv", ReadOptions(timezone="UTC"))
    read = read_checkins(path, "csv", follow(str(refused.value)))
    written = [moment.floor("min") if "%S" not in form else moment for moment in MOMENTS]
    assert read.table[c.TIME].dt.tz_localize(None).tolist() == written
    found = inspect_checkins(path, "csv", ReadOptions(), DataConfig())
    assert any(f"--time-format '{form}'" in note for note in found.account.notes), found.account.notes


def test_day_or_month_first_is_asked_where_both_read_it(tmp_path: Path) -> None:
    path = own(tmp_path / "own.csv", time=["03/04/2012 18:00", "04/04/2012 19:00"])
    with pytest.raises(DataError, match=r"%d/%m/%Y %H:%M' \(day first\) or --time-format '%m/%d/%Y .*month first"):
        read_checkins(path, "csv", ReadOptions(timezone="UTC"))


def test_a_clock_without_a_day_finds_its_day(tmp_path: Path) -> None:
    """The other column is named, and both together are read."""
    path = own(tmp_path / "own.csv", day=list(MOMENTS.strftime("%Y-%m-%d")), time=list(MOMENTS.strftime("%H:%M:%S")))
    with pytest.raises(
        DataError, match=r"clock times without a day, such as '18:18:36'.*--map date=day,time=time$"
    ) as no:
        read_checkins(path, "csv", ReadOptions(timezone="UTC"))
    assert read_checkins(path, "csv", follow(str(no.value))).table[c.TIME].dt.tz_localize(None).tolist() == list(
        MOMENTS
    )


def test_other_columns_that_look_like_times_are_named(tmp_path: Path) -> None:
    path = own(tmp_path / "own.csv", time=["1", "2"], stamp=["1333476009", "1333476010"])
    with pytest.raises(DataError, match=r"look like times: stamp \('1333476009'\).*--map time=stamp"):
        read_checkins(path, "csv", ReadOptions(timezone="UTC"))


def test_a_zone_of_a_parquet_type_counts(tmp_path: Path) -> None:
    """18:18:36 in New York is 22:18:36 UTC, four hours ahead; a fixed offset counts too."""
    for zone, minutes in (("America/New_York", -240), ("+02:00", 120)):
        frame = pd.DataFrame({"user": "u", "poi": "p", "lat": 40.0, "lon": -74.0, "time": MOMENTS.tz_localize(zone)})
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "own.parquet")
        table = read_checkins(tmp_path / "own.parquet", "parquet").table
        assert set(table[c.TZ_OFFSET_MINUTES]) == {minutes}
        assert table[c.TIME].iloc[0] == MOMENTS[0].tz_localize(zone)


def test_swapped_coordinates_are_named(tmp_path: Path) -> None:
    path = own(tmp_path / "own.csv", time=["1333476009", "1333476010"])
    path.write_text(path.read_text().replace("40.0,-74.0", "139.7,35.6"))
    with pytest.raises(DataError, match=r"swapped.*139\.7.*--map lat=lon,lon=lat"):
        read_checkins(path, "csv", ReadOptions(timezone="UTC"))
    turned = ReadOptions(timezone="UTC", columns={"lat": "lon", "lon": "lat"})
    assert read_checkins(path, "csv", turned).table[c.LATITUDE].tolist() == [35.6, 35.6]


def test_swapped_coordinates_within_both_ranges_are_seen_by_their_clock(tmp_path: Path) -> None:
    """New York's -74 is a latitude too, but its clock is four hours behind and not three ahead."""
    path = own(tmp_path / "own.csv", time=["1333476009", "1333476010"])
    path.write_text(path.read_text().replace("40.0,-74.0", "-74.0,40.0"))
    found = inspect_checkins(path, "csv", ReadOptions(timezone="America/New_York"), DataConfig())
    (advice,) = [problem.advice for problem in found.problems if problem.kind == "odd_zone"]
    assert advice.startswith("Latitude and longitude look swapped")


def test_a_given_split_without_validation_is_told(tmp_path: Path) -> None:
    """At `prepare`, not at the first training."""
    path = own(tmp_path / "own.csv", time=["1333476009", "1333476010"], split=["train", "test"])
    notes = read_checkins(path, "csv", ReadOptions(timezone="UTC")).account.notes
    assert [note for note in notes if re.search("no val rows.*keep_given_split=false", note)]
