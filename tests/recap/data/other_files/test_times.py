"""Times of other people's files: the range, offsets, zones, day and clock apart, and why a column is no time."""

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
from recap.data.parsing.clocks import find_clock, spell_clocks
from recap.data.parsing.options import ReadOptions
from recap.data.reading import read_checkins
from tests.cli_runner import recap_here
from tests.recap.data.other_files.reading import asked, assert_all_read, own, problems, read
from tests.recap.data.refusing import assert_unreadable
from tests.recap.data.understanding.tables import ROWS, ZONE, checkins

Series = pd.Series


def with_offset(layout: str, spell: Callable[[int], str]) -> Callable[[], Series]:
    """Local times, each followed by its offset."""
    return lambda: checkins()["local"].dt.strftime(layout) + (checkins()["minutes"] // 60).map(spell)


SPELLINGS: dict[str, Callable[[], Series]] = {
    "+01": with_offset("%Y-%m-%dT%H:%M:%S", lambda h: f"+{h:02}"),
    "blank +01": with_offset("%Y-%m-%d %H:%M:%S", lambda h: f" +{h:02}"),
    "+0100": with_offset("%Y-%m-%dT%H:%M:%S", lambda h: f"+{h:02}00"),
    "blank +0100": with_offset("%Y/%m/%d %H:%M:%S", lambda h: f" +{h:02}00"),
    "+1": with_offset("%Y-%m-%d %H:%M:%S", lambda h: f"+{h}"),
    "blank +1": with_offset("%Y-%m-%dT%H:%M:%S", lambda h: f" +{h}"),
    "mixed": with_offset("%Y-%m-%dT%H:%M:%S", lambda h: "+01:00" if h == 1 else " +0200"),
    "names": with_offset("%Y-%m-%d %H:%M:%S ", lambda h: "CET" if h == 1 else "CEST"),
    "German names": with_offset("%d.%m.%Y %H:%M:%S ", lambda h: "MEZ" if h == 1 else "MESZ"),
    "Java's Date": with_offset("%a %b %d %H:%M:%S ", lambda h: ("CET" if h == 1 else "CEST") + " 2012"),
    "Java's zone": with_offset("%Y-%m-%dT%H:%M:%S", lambda h: f"+0{h}:00[Europe/Berlin]"),
    "Java's zone alone": with_offset("%Y-%m-%dT%H:%M:%S", lambda h: "[Europe/Berlin]"),
    "zone after a blank": with_offset("%Y-%m-%d %H:%M:%S", lambda h: " Europe/Berlin"),
    "in brackets": with_offset("%Y-%m-%d %H:%M:%S", lambda h: " (CET)" if h == 1 else " (CEST)"),
    "offset in brackets": with_offset("%Y-%m-%d %H:%M:%S", lambda h: f" (UTC+0{h}:00)"),
    "zone in brackets": with_offset("%Y-%m-%d %H:%M:%S", lambda h: " (Europe/Berlin)"),
    "JavaScript": with_offset("%a %b %d %Y %H:%M:%S", lambda h: f" GMT+0{h}00 (Central European Standard Time)"),
    "GMT+1": with_offset("%Y-%m-%d %H:%M:%S", lambda h: f" GMT+{h}"),
    "UTC+01:00": with_offset("%d/%m/%Y %H:%M:%S", lambda h: f" UTC+0{h}:00"),
    "e-mail": with_offset("%a, %d %b %Y %H:%M:%S", lambda h: f" +0{h}00"),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_time_that_names_its_offset(name: str, tmp_path: Path) -> None:
    """No zone is asked, every instant and offset is as written."""
    times = SPELLINGS[name]()
    if name == "Java's Date":
        times = times.str[:-4] + checkins()["local"].dt.year.astype(str)
    path = own(tmp_path / "own.csv", time=times)
    assert asked(path).question is None
    found = read(path)
    assert_all_read(found)
    assert found.table[c.TZ_OFFSET_MINUTES].tolist() == checkins()["minutes"].tolist()


@pytest.mark.parametrize(
    ("written", "minutes"),
    [("-05", -300), ("-0530", -330), (" +0545", 345), (" EST", -300), ("-03:30", -210), (" JST", 540), ("-5", -300)],
)
def test_other_offsets(written: str, minutes: int, tmp_path: Path) -> None:
    utc = checkins()["utc"].dt.tz_localize(None)
    local = (utc + pd.Timedelta(minutes=minutes)).dt.strftime("%Y-%m-%d %H:%M:%S")
    found = read(own(tmp_path / "own.csv", time=local + written))
    assert_all_read(found)
    assert set(found.table[c.TZ_OFFSET_MINUTES]) == {minutes}


@pytest.mark.parametrize(("name", "other"), [("CST", "Shanghai"), ("IST", "Israel"), ("BST", "Bangladesh")])
def test_a_name_of_several_zones_is_said(name: str, other: str, tmp_path: Path) -> None:
    """Berlin's coordinates contradict it, too; its offset is no reason to take the clock for UTC."""
    path = own(tmp_path / "own.csv", time=checkins()["local"].dt.strftime(f"%Y-%m-%d %H:%M:%S {name}"))
    assert any(note.startswith(f"{name} is read as") and other in note for note in read(path).account.notes)
    found = problems(path)
    assert ("odd_zone" in found) == (name != "BST") and "local_marked_utc" not in found
    assert not read(path, timezone=ZONE, local_times=True).account.notes[1:]


def test_a_column_of_unknown_zones_is_said(tmp_path: Path) -> None:
    question = asked(own(tmp_path / "own.csv", timezone="W. Europe Standard Time")).question
    assert question is not None and "“timezone” holds none that I know, such as 'W. Europe" in question.text


PLAIN: dict[str, tuple[Callable[[], Any], str, bool | None]] = {
    "Excel's numbers": (lambda: excel().round(6), "s", True),
    "Excel's decimal commas": (lambda: excel().map(lambda day: f"{day:.6f}".replace(".", ",")), "s", True),
    "two blanks": (lambda: checkins()["local"].dt.strftime("%Y-%m-%d  %H:%M:%S"), "s", True),
    "unpadded": (lambda: checkins()["local"].map(lambda t: f"{t:%Y-%m-%d} {t.hour}:{t.minute}:{t.second}"), "s", True),
    "slashes": (lambda: checkins()["local"].dt.strftime("%d/%m/%Y %H:%M:%S"), "s", True),
    "short months": (lambda: checkins()["local"].dt.strftime("%d-%b-%Y %H:%M:%S"), "s", True),
    "month, day": (lambda: checkins()["local"].dt.strftime("%b %d, %Y, %I:%M:%S %p"), "s", True),
    "narrow blank": (lambda: checkins()["local"].dt.strftime("%m/%d/%Y, %I:%M:%S\u202f%p"), "s", True),
    "epochs of two units": (lambda: epochs() * np.where(np.arange(ROWS) % 3, 1000, 1), "s", False),
    "microseconds among seconds": (lambda: epochs() * np.where(np.arange(ROWS) % 20, 1, 10**6), "s", False),
}


def excel() -> Series:
    return (checkins()["local"] - pd.Timestamp("1899-12-30")).dt.total_seconds() / 86_400


def epochs() -> Series:
    return (checkins()["utc"].dt.tz_localize(None) - pd.Timestamp("1970-01-01")).dt.total_seconds().astype(int)


@pytest.mark.parametrize("name", PLAIN)
def test_a_time_without_an_offset(name: str, tmp_path: Path) -> None:
    make, unit, is_local = PLAIN[name]
    path = own(tmp_path / "own.csv", time=make())
    found = read(path) if not is_local else read(path, timezone=ZONE, local_times=True)
    assert_all_read(found, unit)
    assert bool([note for note in found.account.notes if "different units" in note]) == name.startswith(("ep", "mi"))


def test_times_that_only_some_rows_give_an_offset(tmp_path: Path) -> None:
    times = checkins()["local"].astype(str)
    question = asked(own(tmp_path / "own.csv", time=times.where(np.arange(ROWS) % 3 == 0, times + "+01:00"))).question
    assert question is not None and "334 of 1,000 times in “time” are not written like the others" in question.text


@pytest.mark.parametrize("wrong", ["1970-01-01T00:00:00Z", "1980-01-06T00:00:00Z", "2155-01-01T00:00:00Z"])
def test_times_of_a_broken_clock(wrong: str, tmp_path: Path) -> None:
    """Up to a tenth are reported; with more of them the layout is asked about, and the answer leaves them out."""
    times = checkins()["utc"].dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    few, many = (times.where(np.arange(ROWS) % every > 0, wrong) for every in (10, 5))
    found = read(own(tmp_path / "few.csv", time=few))
    assert found.account.dropped() == {"time": 100}
    assert "outside 1990 to 2099" in found.account.reported["time"].examples[0]
    question = asked(own(tmp_path / "many.csv", time=many)).question
    assert question is not None and question.about == "time_format" and "200 of 1,000" in question.text
    (answer,) = question.answers.values()
    assert_unreadable(r"200 of 1,000 times .* --time-format iso", tmp_path / "many.csv", "csv")
    answered = answer.model_copy(update={"skip_bad_rows": True, "timezone": ZONE})
    assert read_checkins(tmp_path / "many.csv", "csv", answered).account.dropped() == {"time": 200}


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda t: t.dt.strftime(f"{2555}-%m-%d %H:%M:%S"), "Thai calendar"),
        (lambda t: t.dt.strftime("%d/%m/2555 %H:%M"), "Thai calendar"),
        (lambda t: t.dt.strftime("1391-%m-%d %H:%M:%S"), "Persian calendar"),
        (lambda t: t.dt.strftime("1391/%m/%d %H:%M:%S"), "Persian calendar"),
        (lambda t: t.dt.hour * 60 + t.dt.minute + 1440 * t.dt.day_of_year, "bare number"),
        (lambda t: t.dt.hour * 60 + t.dt.minute, "without a day"),
        (lambda t: t.dt.strftime("%H:%M"), "without a day"),
        (lambda t: t.dt.strftime("week %W"), "no time that I can read"),
    ],
)
def test_the_reason_is_said(make: Any, part: str, tmp_path: Path) -> None:
    """By `inspect` and `prepare`, with the column named or not; no line is the command that was just run."""
    path = own(tmp_path / "own.csv", time=make(checkins()["local"]))
    for options in ({}, {"columns": {"user": "user", "poi": "place", "time": "time", "lat": "lat", "lon": "lon"}}):
        assert_unreadable(f"“time” is there, but.*{part}", path, "csv", ReadOptions.parse(options))
    named = "user=user,poi=place,time=time,lat=lat,lon=lon"
    shown = recap_here("inspect", path, "--map", named)
    assert shown.returncode == 0 and part in " ".join(shown.stdout.split()) and "recap inspect" not in shown.stdout


Clocks = Callable[["pd.Series[Any]"], Any]


def unpadded(times: "pd.Series[Any]") -> "pd.Series[Any]":
    return times.map(lambda time: f"{time.hour}:{time.minute}:{time.second}")


def of_day(times: "pd.Series[Any]") -> "pd.Series[Any]":
    return (times - times.dt.floor("D")).dt.total_seconds().astype(int)


CLOCKS: dict[str, tuple[Clocks, str]] = {
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
@pytest.mark.parametrize("name", CLOCKS)
def test_a_clock_of_its_own(name: str, day: str, tmp_path: Path) -> None:
    """Joined with its day, whatever both look like."""
    make, unit = CLOCKS[name]
    local = checkins()["local"]
    path = own(tmp_path / "own.csv", date=local.dt.strftime(day), time=make(local))
    found = read(path)
    assert (found.account.columns["date"], found.account.columns["time"]) == ("date", "time")
    assert_all_read(found, unit)


@pytest.mark.parametrize("name", ["day", "Datum", "visit_date"])
@pytest.mark.parametrize("clock", ["dots", "p.m.", "seconds of the day", "Excel's fractions", "Excel's first day"])
def test_a_day_as_a_spreadsheet_numbers_it(clock: str, name: str, tmp_path: Path) -> None:
    """Whole, or with a decimal, or as a number of Parquet; next to a clock in any spelling."""
    make, unit = CLOCKS[clock]
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
    assert find_clock(pa.array(values)) is None


def test_the_first_rows_decide_for_all_blocks() -> None:
    """A block of short numbers does not turn 930 seconds into half past nine."""
    clock = find_clock(pa.array(["5", "93005", "235959"]))
    assert clock is not None and spell_clocks(pa.array(["930"]), clock).to_pylist() == ["00:09:30"]
    assert re.fullmatch(r"\d\d:\d\d:\d\d", spell_clocks(pa.array(["930"])).to_pylist()[0])
