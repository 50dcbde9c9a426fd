"""Day and clock in two columns, in the spellings of other people's files; a clock that is none is one bad row."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recap import columns as c
from recap.data.parsing.clocks import ClockStyle, spell_clocks
from recap.data.reading import read_checkins
from tests.recap.data.other_files.reading import asked, assert_all_read, own, problems, read
from tests.recap.data.understanding.tables import ROWS, checkins

Clocks = Callable[["pd.Series[Any]"], Any]


def unpadded(times: "pd.Series[Any]") -> "pd.Series[Any]":
    return times.map(lambda time: f"{time.hour}:{time.minute}:{time.second}")


def of_day(times: "pd.Series[Any]") -> "pd.Series[Any]":
    return (times - times.dt.floor("D")).dt.total_seconds().astype(int)


SPELLINGS: dict[str, tuple[Clocks, str]] = {
    "unpadded": (unpadded, "s"),
    "dots": (lambda t: t.dt.strftime("%H.%M.%S"), "s"),
    "dots without zeros": (lambda t: unpadded(t).str.replace(":", "."), "s"),
    "dashes": (lambda t: t.dt.strftime("%H-%M-%S"), "s"),
    "p.m.": (lambda t: t.dt.strftime("%I.%M %p").str.replace("AM", "a.m.").str.replace("PM", "p.m."), "min"),
    "half days": (lambda t: t.dt.strftime("%I:%M:%S%p").str.lower(), "s"),
    "seconds of the day": (of_day, "s"),
    "hours and minutes in a number": (lambda t: t.dt.strftime("%H%M").astype(int), "min"),
    "seconds as decimals": (lambda t: of_day(t).astype(float), "s"),
    "minutes of the day": (lambda t: of_day(t) // 60, "min"),
    "Excel's fractions": (lambda t: (of_day(t) / 86_400).round(8), "s"),
    "Excel's first day": (lambda t: t.dt.strftime("1899-12-30 %H:%M:%S"), "s"),
    "Excel's first day with a Z": (lambda t: t.dt.strftime("1899-12-30T%H:%M:%S.000Z"), "s"),
    "Access": (lambda t: t.dt.strftime("12/30/1899 %H:%M:%S"), "s"),
    "timedelta": (lambda t: t - t.dt.floor("D"), "s"),
    "letters": (lambda t: t.dt.strftime("%Hh%Mm%Ss"), "s"),
    "Uhr": (lambda t: t.dt.strftime("%-H Uhr %M"), "min"),
    "fractions": (lambda t: t.dt.strftime("%H:%M:%S.250"), "s"),
}


@pytest.mark.parametrize("day", ["%Y-%m-%d", "%d/%m/%Y", "%d.%m.%y"])
@pytest.mark.parametrize("name", SPELLINGS)
def test_a_clock_of_its_own(name: str, day: str, tmp_path: Path) -> None:
    """Joined with its day, whatever both look like."""
    make, unit = SPELLINGS[name]
    local = checkins()["local"]
    path = own(tmp_path / "own.csv", date=local.dt.strftime(day), time=make(local))
    found = read(path)
    assert (found.account.columns["date"], found.account.columns["time"]) == ("date", "time")
    assert_all_read(found, unit)


@pytest.mark.parametrize("name", ["day", "Datum", "visit_date"])
@pytest.mark.parametrize("clock", ["dots", "p.m.", "seconds of the day", "Excel's fractions", "Excel's first day"])
def test_a_day_as_a_spreadsheet_numbers_it(clock: str, name: str, tmp_path: Path) -> None:
    """Whole, or with a decimal, or as a number of Parquet; next to a clock in any spelling."""
    make, unit = SPELLINGS[clock]
    local = checkins()["local"]
    days = (local - pd.Timestamp("1899-12-30")).dt.days
    for serial in (days, days.astype(float), days.astype(str) + ",0"):
        path = own(tmp_path / "own.csv", **{name: serial, "time": make(local)})
        found = read(path)
        assert (found.account.columns["date"], found.account.columns["time"]) == (name, "time")
        assert_all_read(found, unit)
    pd.read_csv(path).assign(**{name: days}).to_parquet(tmp_path / "own.parquet")
    assert_all_read(read(tmp_path / "own.parquet"), unit)


@pytest.mark.parametrize("bad", ["n/a", "unknown", "25:61:00", "NULL", "12"])
def test_a_clock_that_is_none(bad: str, tmp_path: Path) -> None:
    """One of 1,000 is reported; the others keep their clocks."""
    local = checkins()["local"]
    clocks = local.dt.strftime("%H:%M:%S")
    clocks.iloc[7] = bad
    found = read(own(tmp_path / "own.csv", date=local.dt.strftime("%Y-%m-%d"), time=clocks))
    assert found.account.dropped() == {"time": 1} and bad in found.account.reported["time"].examples[0]
    assert found.table[c.TIME].iloc[0] == checkins()["utc"].iloc[0]


def test_a_column_called_time_is_never_dropped_in_silence(tmp_path: Path) -> None:
    """A third of its values are no clocks: it is asked about, and each answer is read."""
    local = checkins()["local"]
    clocks = local.dt.strftime("%H:%M:%S").where(np.arange(ROWS) % 3 > 0, "evening")
    path = own(tmp_path / "own.csv", date=local.dt.strftime("%Y-%m-%d"), time=clocks)
    found = asked(path)
    assert found.question is not None and found.question.about == "date" and "evening" in found.question.text
    with_clocks, without = found.question.answers.values()
    for options, kept in ((with_clocks, ROWS - 334), (without, ROWS)):
        options = options.model_copy(update={"timezone": "Europe/Berlin", "skip_bad_rows": True})
        assert read_checkins(path, "csv", options).account.rows_kept == kept


def test_hours_apart_from_minutes_are_asked(tmp_path: Path) -> None:
    """They would all be full hours otherwise."""
    local = checkins()["local"]
    parts = {"date": local.dt.date, "hour": local.dt.hour, "minute": local.dt.minute, "time": None}
    question = asked(own(tmp_path / "own.csv", **parts)).question
    assert question is not None and "“hour” holds hours and “minute” minutes; join them" in question.text


def test_a_second_time_is_said_to_be_unused(tmp_path: Path) -> None:
    local = checkins()["local"]
    path = own(tmp_path / "own.csv", timestamp=local, time=local.dt.strftime("%H:%M"))
    (column,) = (column for column in asked(path).columns if column.name == "time")
    assert column.field is None and column.reason == "not used"


def test_midnights_in_local_time_are_dates_only(tmp_path: Path) -> None:
    """A day without a clock in Berlin begins at 22:00 or 23:00 in UTC."""
    path = own(tmp_path / "own.csv", time=checkins()["local"].dt.strftime("%Y-%m-%d"))
    assert problems(path, timezone="Europe/Berlin", local_times=True)["dates_only"] == ROWS


def test_durations_of_parquet(tmp_path: Path) -> None:
    """Next to dates, or to days that are midnights."""
    frame = checkins()
    table = {"user": frame["u"], "place": frame["p"], "lat": frame["lat"], "lon": frame["lon"]}
    days = frame["local"].dt.floor("D")
    for kind, day in (("s", pa.date32()), ("ns", pa.timestamp("ms"))):
        clocks = pa.array(frame["local"] - days, pa.duration("ns")).cast(pa.duration(kind))
        dates = pa.array(days.dt.to_pydatetime().tolist(), day)
        pq.write_table(pa.table({**table, "date": dates, "time": clocks}), tmp_path / "own.parquet")
        assert_all_read(read(tmp_path / "own.parquet"))


@pytest.mark.parametrize("values", [["01.03.23", "12.04.23"], ["2023-03-01 12:00"], ["1 days 12:00:00"], ["shop 12"]])
def test_what_is_no_clock(values: list[str]) -> None:
    assert ClockStyle.of(pa.array(values)) is None


def test_the_first_rows_decide_for_all_blocks() -> None:
    """A block of short numbers does not turn 930 seconds into half past nine."""
    style = ClockStyle.of(pa.array(["5", "93005", "235959"]))
    assert style is not None and spell_clocks(pa.array(["930"]), style).to_pylist() == ["00:09:30"]
    assert re.fullmatch(r"\d\d:\d\d:\d\d", spell_clocks(pa.array(["930"])).to_pylist()[0])
