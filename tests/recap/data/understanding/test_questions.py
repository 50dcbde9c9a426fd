"""What is asked: two readings that are about equally good, one thing at a time, each answer with all that is known."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recap.data.parsing.options import ReadOptions
from recap.data.reading import understand
from recap.data.understanding import Understanding
from tests.recap.data.understanding.tables import ROWS, checkins, own_table


def understood(path: Path, **columns: object) -> Understanding:
    """The invented check-ins, moved to Anatolia, where swapped coordinates are on land too; other columns added."""
    anatolia = {"lat": checkins()["lat"] - 13.5, "lon": checkins()["lon"] + 21.8}
    own_table(**anatolia | columns).to_csv(path, index=False)
    return understand(path)


def likely(found: Understanding) -> ReadOptions:
    """The first answer."""
    return next(iter(found.question.answers.values()))


def points(form: str) -> pd.Series:
    latitude, longitude = checkins()["lat"] - 13.5, checkins()["lon"] + 21.8
    return pd.Series([form.format(lat=lat, lon=lon) for lat, lon in zip(latitude, longitude, strict=True)])


@pytest.mark.parametrize(
    ("form", "latitude"), [("POINT ({lon:.5f} {lat:.5f})", "geo.2"), ("{lat:.5f},{lon:.5f}", None)]
)
def test_the_order_of_a_point(form: str, latitude: str | None, tmp_path: Path) -> None:
    """WKT has longitude first; where nothing tells the order it is asked, and the answer settles the rest."""
    found = understood(tmp_path / "own.csv", geo=points(form), lat=None, lon=None)
    if latitude:
        assert found.options.columns["lat"] == latitude and found.question.about == "timezone"
        return
    assert found.question.about == "lat"
    assert [*found.question.answers] == ["geo.1 and geo.2", "geo.2 and geo.1"]
    first = found.question.answers["geo.1 and geo.2"]
    known = {"user": "user", "poi": "place", "time": "time"}
    assert first.columns == known | {"lat": "geo.1", "lon": "geo.2"}
    answered = understand(tmp_path / "own.csv", options=first)
    assert answered.question.about == "timezone" and answered.options.columns == first.columns


def test_names_beat_an_order_that_nothing_tells(tmp_path: Path) -> None:
    found = understood(tmp_path / "own.csv")
    assert (found.options.columns["lat"], found.options.columns["lon"]) == ("lat", "lon")
    assert likely(found).timezone == "Europe/Istanbul"


def test_two_times_far_from_each_other_are_asked(tmp_path: Path) -> None:
    """An order and its delivery days later; a departure within the day is none, a birthday belongs to its user."""
    local, rng = checkins()["local"], np.random.default_rng(4)
    days, minutes = (pd.to_timedelta(rng.integers(3, 90, ROWS), unit=unit) for unit in ("D", "min"))
    born = pd.Timestamp("1991-02-03") + pd.to_timedelta(checkins()["un"] * 50, unit="D")
    dates = {"order_date": local, "delivery_date": local + days, "birthdate": born, "time": None}
    found = understood(tmp_path / "own.csv", **dates)
    assert [*found.question.answers] == ["order_date", "delivery_date"]
    found = understood(tmp_path / "own.csv", **dates | {"delivery_date": local + minutes})
    assert found.options.columns["time"] == "order_date"
    (column,) = (column for column in found.columns if column.name == "order_date")
    assert column.reason == "by name, before delivery_date"


def test_ids_that_differ_are_asked(tmp_path: Path) -> None:
    """Two numbers of users of which neither fixes the other; of a number and a name of one user the number is taken."""
    number = checkins()["un"]
    names = number.map("name {}".format)
    found = understood(tmp_path / "own.csv", user=None, person=number // 2, member=number * 5 % 37 // 2)
    assert [*found.question.answers] == ["person", "member"]
    found = understood(tmp_path / "own.csv", user=None, member=names, member_no=number)
    assert found.options.columns["user"] == "member_no"


def test_one_column_named_is_kept(tmp_path: Path) -> None:
    """The other is found by its name, whatever else is called latitude."""
    understood(tmp_path / "own.csv", latitude=checkins()["lat"] - 13.5)
    found = understand(tmp_path / "own.csv", options=ReadOptions(columns={"lat": "latitude"}))
    assert (found.options.columns["lat"], found.options.columns["lon"]) == ("latitude", "lon")


def test_a_day_late_in_the_file_decides_the_order(tmp_path: Path) -> None:
    """The last five of 1,000 times are on a 13th."""
    minutes = np.arange(ROWS) * 17 + 1440 * (np.arange(ROWS) >= ROWS - 5)
    times = pd.Timestamp("2024-03-01") + pd.to_timedelta(minutes, unit="min")
    found = understood(tmp_path / "own.csv", time=times.strftime("%m/%d/%Y %H:%M"))
    assert found.options.time_format == "%m/%d/%Y %H:%M" and found.question.about == "timezone"
    (column,) = (column for column in found.columns if column.name == "time")
    assert column.reason == "by name, month first; day first fails on 5 rows"


@pytest.mark.parametrize("is_local", [True, False])
def test_nights_tell_local_times_from_utc(is_local: bool, tmp_path: Path) -> None:
    """People check in from 7 to 24 o'clock in Istanbul, three hours ahead of UTC."""
    hours = np.random.default_rng(5).integers(7, 24, ROWS) - 3 * (not is_local)
    days = pd.Timestamp("2024-03-01") + pd.to_timedelta(np.arange(ROWS) // 40, unit="D")
    found = understood(tmp_path / "own.csv", time=(days + pd.to_timedelta(hours, unit="h")).to_numpy())
    assert likely(found).local_times is is_local


def test_a_stay_of_weeks_begins_with_its_arrival(tmp_path: Path) -> None:
    weeks = pd.to_timedelta(np.random.default_rng(6).integers(3, 30, ROWS), unit="D")
    ends = {"departure": checkins()["local"] + weeks, "arrival": checkins()["local"], "time": None}
    assert understood(tmp_path / "own.csv", **ends).options.columns["time"] == "arrival"


def test_outings_are_no_users(tmp_path: Path) -> None:
    """Neither by name: an outing is the rows of one user on one day."""
    frame = checkins()
    outing = (frame["un"] * 1000 + frame["local"].dt.strftime("%j").astype(int)) * 7 % 99_991
    found = understood(tmp_path / "own.csv", user=None, a=outing, b=frame["un"])
    assert found.options.columns["user"] == "b"
