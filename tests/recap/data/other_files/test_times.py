"""Times of other people's files: the range, offsets and zones in many spellings, and why a column is no time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from recap import columns as c
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
