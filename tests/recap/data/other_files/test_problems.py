"""Problems that no single row shows: impossible zones, one id in several spellings, words for nothing, lost digits."""

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from recap import columns as c
from recap.data.checks import check_checkins
from recap.data.id_spellings import spelling_pairs
from recap.data.parsing.row_block import NOTHING
from tests.checkins import raw_table
from tests.recap.data.other_files.reading import asked, inspected, own, problems, read
from tests.recap.data.understanding.tables import ROWS, checkins
from tests.shell import assert_refused, recap, recap_json

DAYTIME = pd.Timestamp("2023-03-06") + pd.to_timedelta(np.arange(ROWS) // 16, unit="D")
CLOCK = DAYTIME + pd.to_timedelta(np.arange(ROWS) % 16 * 3600 + 7 * 3600 + np.arange(ROWS) % 3541, unit="s")
"""Local times from 7 to 23 o'clock."""


def moved(east: float, north: float = 0.0, **columns: Any) -> dict[str, Any]:
    """The invented check-ins of Berlin elsewhere."""
    return {"lat": checkins()["lat"] + north, "lon": checkins()["lon"] + east, **columns}


NEW_YORK, TOKYO, MUNICH = (-87.4, -11.8), (126.4, -16.8), (-1.8, -4.4)


@pytest.mark.parametrize("place", [NEW_YORK, TOKYO])
@pytest.mark.parametrize("spell", ["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S+00:00", "%a %b %d %H:%M:%S +0000 %Y", "s"])
def test_local_times_marked_as_utc(place: tuple[float, float], spell: str, tmp_path: Path) -> None:
    """Many are at night as read, none if local; the option that is named reads them so."""
    seconds = (CLOCK - pd.Timestamp("1970-01-01")).total_seconds().astype(int)
    times = seconds if spell == "s" else CLOCK.strftime(spell)
    path = own(tmp_path / "own.csv", **moved(*place, time=times))
    (problem,) = (item for item in inspected(path).problems if item.kind == "local_marked_utc")
    assert problem.count > 50 and ", 0 if their times are local" in problem.title
    zone = problem.advice.split("--timezone ")[1].split()[0]
    found = read(path, timezone=zone, local_times=True)
    local = found.table[c.TIME].dt.tz_convert(zone).dt.tz_localize(None)
    assert (local.to_numpy() == CLOCK.to_numpy()).all()
    assert not {"local_marked_utc", "odd_zone"} & problems(path, timezone=zone, local_times=True).keys()
    question = asked(path).question
    assert question is not None and [*question.answers] == ["UTC", "local times"]


@pytest.mark.parametrize("place", [NEW_YORK, TOKYO, MUNICH])
def test_times_that_are_utc_are_not_doubted(place: tuple[float, float], tmp_path: Path) -> None:
    """And local times of Munich marked as UTC: one hour tells nothing."""
    zone = {NEW_YORK: "America/New_York", TOKYO: "Asia/Tokyo", MUNICH: "UTC"}[place]
    utc = CLOCK.tz_localize(zone).tz_convert("UTC")
    path = own(tmp_path / "own.csv", **moved(*place, time=utc.strftime("%Y-%m-%dT%H:%M:%SZ")))
    assert not {"local_marked_utc", "odd_zone"} & problems(path).keys()


@pytest.mark.parametrize(
    ("place", "offset", "is_odd"),
    [
        (NEW_YORK, "-05:00", True),  # all year: an hour off in summer
        (MUNICH, "+01:00", True),
        (MUNICH, "+02:00", True),
        (NEW_YORK, "+05:00", True),  # the wrong sign
        (TOKYO, "+08:00", True),
        (TOKYO, "+09:00", False),
    ],
)
def test_offsets_that_contradict_the_coordinates(
    place: tuple[float, float], offset: str, is_odd: bool, tmp_path: Path
) -> None:
    path = own(tmp_path / "own.csv", **moved(*place, time=CLOCK.strftime("%Y-%m-%dT%H:%M:%S") + offset))
    odd = [item for item in inspected(path).problems if item.kind == "odd_zone"]
    assert bool(odd) == is_odd
    if odd:
        assert odd[0].count > 100
        assert "are at night (2 to 5 o'clock)" in odd[0].advice and "--timezone " in odd[0].advice


SPELLINGS: dict[str, Callable[[str], str]] = {
    "case": lambda name: name.upper() + "X",
    "blanks": lambda name: f"{name} x",
    "accents": lambda name: unicodedata.normalize("NFD", f"{name}éx"),
    "no-break blanks": lambda name: f"{name}\u00a0x",
    "full width": lambda name: f"{name}ｘ",
}
PLAIN = {"case": "x", "blanks": "x", "accents": "éx", "no-break blanks": "x", "full width": "x"}


@pytest.mark.parametrize("name", SPELLINGS)
def test_one_place_in_two_spellings(name: str, tmp_path: Path) -> None:
    """Three pairs are named; joining them gives the places back, and no id of another spot is touched."""
    places = checkins()["p"] + PLAIN[name]
    ids: Any = checkins()["p"].map(SPELLINGS[name]).where(np.arange(ROWS) % 3 == 0, places)
    path = own(tmp_path / "own.csv", place=ids)
    (problem,) = (item for item in inspected(path).problems if item.kind == "several_spellings")
    assert problem.count > 10 and len(problem.examples) == 3
    assert read(path).table[c.POI_ID].nunique() == places.nunique() + problem.count
    joined = read(path, ids="join")
    assert joined.table[c.POI_ID].nunique() == places.nunique()
    assert any(f"{problem.count} ids" in note for note in joined.account.notes)


@pytest.mark.parametrize("spelling", ["{}.0", "{},0", "00{}"])
def test_numbers_in_two_spellings(spelling: str, tmp_path: Path) -> None:
    """4008 and 4008.0 or 004008 of places and of users, row by row."""
    for column, number in (("place", "pn"), ("user", "un")):
        plain = checkins()[number].astype(str)
        ids: Any = plain.where(np.arange(ROWS) % 2 == 0, plain.map(spelling.format))
        path = own(tmp_path / "own.csv", **{column: ids})
        assert problems(path)["several_spellings"] > 10
        field = {"place": c.POI_ID, "user": c.USER_ID}[column]
        left = read(path, ids="join").table[field].nunique() - checkins()[number].nunique()
        assert left == 0 if column == "place" else left < 8  # some users share no place with their other spelling


def test_ids_that_differ_by_case_alone_stay() -> None:
    """At other spots; users at the same time, or without a place in common."""
    raw = raw_table([("ann", "a", 0.0), ("ann", "b", 5.0), ("ANN", "a", 3.0), ("bob", "A", 9.0), ("BOB", "b", 99.0)])
    far = raw.assign(**dict[str, Any]({c.LATITUDE: [40.0, 40.1, 40.0, 40.5, 40.1], c.LONGITUDE: -74.0}))
    assert spelling_pairs(far) == {c.POI_ID: [], c.USER_ID: []}
    later = far.iloc[:3].assign(**{c.TIME: raw_table([("ann", "a", hour) for hour in (0.0, 5.0, 30.0)])[c.TIME]})
    (pair,) = spelling_pairs(later)[c.USER_ID]
    assert (pair.kept, pair.other) == ("ann", "ANN")


def test_words_for_nothing_are_no_ids(tmp_path: Path) -> None:
    """Each is reported, and an id that only holds such a word is none of them."""
    words = [*NOTHING, "NULLarbor", "nan 1"]
    for column, reason in (("user", "user_id"), ("place", "poi_id")):
        ids = checkins()[column[0]].astype(object)
        ids.iloc[: len(words)] = words
        path = own(tmp_path / "own.csv", **{column: ids})
        assert read(path).account.dropped() == {reason: len(NOTHING)}


@pytest.mark.parametrize(
    ("step", "unit"), [(10_000, 1), (128, 1), (100, 1), (2**17, 1e3), (2**27, 1e6), (1000, 1), (864, 1)]
)
def test_times_that_lost_digits(step: float, unit: float) -> None:
    """Scientific notation, and seconds or milliseconds as float32."""
    seconds = (np.floor(1.68e9 * unit / step) + np.arange(500) * 7 % 411) * step // unit
    raw = raw_table([("ann", "a", float(hour)) for hour in range(500)]).assign(
        **dict[str, Any]({c.TIME: pd.to_datetime(np.sort(seconds), unit="s", utc=True), c.LATITUDE: 40.7})
    )
    assert {item.kind for item in check_checkins(raw)} >= {"lost_precision"}


@pytest.mark.parametrize("decimals", [1, 2, 3, 4])
@pytest.mark.parametrize("layout", ["spreadsheet", "%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "s"])
def test_spreadsheet_days_of_few_decimals(layout: str, decimals: int, tmp_path: Path) -> None:
    """However their times are written, read as local or as UTC."""
    start = pd.Timestamp("1899-12-30")
    days = ((CLOCK - start) / pd.Timedelta(days=1)).to_series().round(decimals)
    times = (start + pd.to_timedelta(days * 86_400, unit="s")).dt.round("s")
    epochs = (times - pd.Timestamp("1970-01-01")) // pd.Timedelta(seconds=1)
    written: Any = {"spreadsheet": days, "s": epochs}.get(layout, times.dt.strftime(layout))
    path = own(tmp_path / "own.csv", time=written.to_numpy())
    assert problems(path)["lost_precision"] == ROWS
    assert problems(path, timezone="Europe/Berlin", local_times=True)["lost_precision"] == ROWS


@pytest.mark.parametrize("step", [1, 15, 30, 60, 300, 3600, 6 * 3600])
def test_times_of_whole_minutes_lost_none(step: int) -> None:
    """And a few odd ones among them."""
    seconds = (1_680_000_000 // step + np.arange(500)) * step
    seconds[-9:] += np.arange(9) if step > 60 else 0
    raw = raw_table([("ann", "a", float(hour)) for hour in range(500)])
    raw = raw.assign(**{c.TIME: pd.to_datetime(seconds, unit="s", utc=True)})
    assert "lost_precision" not in {item.kind for item in check_checkins(raw)}


@pytest.mark.parametrize(("ids", "is_odd"), [("4.00812E+11", True), ("4.1e+17", True), ("4e12", False), ("4.5", False)])
def test_ids_in_scientific_notation(ids: str, is_odd: bool, tmp_path: Path) -> None:
    path = own(tmp_path / "own.csv", place=checkins()["p"].where(np.arange(ROWS) % 100 > 0, ids))
    assert ("rounded_ids" in problems(path)) == is_odd


def test_prepare_says_problems(tmp_path: Path) -> None:
    """As `inspect` does (`test_every_way_makes_the_same_dataset`); ids are not joined on disk."""
    ids = checkins()["p"].str.upper().where(np.arange(ROWS) % 3 == 0, checkins()["p"])
    path = own(tmp_path / "own.csv", place=ids, user=checkins()["u"].where(np.arange(ROWS) > 0, "NULL"))
    zone = ["--timezone", "Europe/Berlin", "--local-times"]
    out = ["--out", tmp_path / "out", "--skip-bad-rows", "--set", "min_poi_checkins=1"]
    made = recap_json("prepare", path, *zone, *out)["problems"]
    assert {"user_id", "several_spellings"} <= made.keys()
    shown = " ".join(recap("prepare", path, *zone, *out).stdout.split())
    assert "1 rows: no user id" in shown and f"{made['several_spellings']} pairs of places at one spot" in shown
    joined = ["--text", "ids=join", "--engine", "disk"]
    assert_refused(recap("prepare", path, *zone, *out, *joined), "works in memory only")
    assert_refused(recap("inspect", path, *zone, "--text", "ids=cut"), "ids")
