"""Coordinates in other forms, columns cut by other separators, and one person's file."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recap import columns as c
from recap.data.parsing.degrees import split_point, to_degrees
from recap.data.reading import read_checkins
from recap.errors import DataError
from tests.recap.data.other_files.reading import asked, assert_all_read, own, problems, read
from tests.recap.data.refusing import assert_unreadable
from tests.recap.data.understanding.tables import ROWS, ZONE, checkins
from tests.shell import assert_refused, recap


def dms(degrees: float, letters: str, form: str) -> str:
    whole = abs(degrees)
    minutes = whole % 1 * 60
    letter = letters[degrees < 0]
    return form.format(d=int(whole), m=int(minutes), s=minutes % 1 * 60, mm=minutes, w=letter, a=whole)


FORMS = [
    "{d}°{m:02}'{s:06.3f}\"{w}",
    "{d}° {m}′ {s:.3f}″ {w}",
    "{w} {d}°{mm:.5f}'",
    "{d} {m:02} {s:06.3f} {w}",
    "{d}:{m:02}:{s:06.3f}{w}",
    "{a:.6f}{w}",
    "{a:.6f}° {w}",
    "{w}{a:.6f}",
    "{d} deg {m} min {s:.3f} sec {w}",
]


def spelled(form: str, east: float, north: float) -> dict[str, Any]:
    lat, lon = checkins()["lat"] + north, checkins()["lon"] + east
    return {"lat": lat.map(lambda v: dms(v, "NS", form)), "lon": lon.map(lambda v: dms(v, "EW", form))}


@pytest.mark.parametrize("move", [(0, 0), (-87.4, -11.8), (137.8, -86.4)])
@pytest.mark.parametrize("form", FORMS)
def test_degrees_in_other_forms(form: str, move: tuple[float, float], tmp_path: Path) -> None:
    """In each quarter of the world; signs are as written."""
    found = read(own(tmp_path / "own.csv", **spelled(form, *move)))
    assert found.account.rows_kept == ROWS
    for column, name, by in ((c.LATITUDE, "lat", move[1]), (c.LONGITUDE, "lon", move[0])):
        np.testing.assert_allclose(found.table[column], checkins()[name] + by, atol=2e-6)


def wkb(lon: float, lat: float) -> bytes:
    return struct.pack("<BIdd", 1, 1, lon, lat)


POINTS: dict[str, Callable[[float, float], str]] = {
    "degree signs": lambda lat, lon: f"{lat}°, {lon}°",
    "brackets": lambda lat, lon: f"({lat}°, {lon}°)",
    "letters": lambda lat, lon: f"{lat}N {lon}E",
    "minutes": lambda lat, lon: f"{dms(lat, 'NS', FORMS[0])}, {dms(lon, 'EW', FORMS[0])}",
    "longitude first": lambda lat, lon: f"{lon}°E {lat}°N",
    "geo": lambda lat, lon: f"geo:{lat},{lon}",
    "GeoJSON": lambda lat, lon: f'{{"type": "Point", "coordinates": [{lon}, {lat}]}}',
    "WKT with a height": lambda lat, lon: f"POINT Z ({lon} {lat} 34)",
    "geo with a height": lambda lat, lon: f"geo:{lat},{lon},34.5",
    "a record": lambda lat, lon: f"{{'lat': {lat}, 'lng': {lon}}}",
    "WKB": lambda lat, lon: wkb(lon, lat).hex(),
    "EWKB": lambda lat, lon: struct.pack("<BIIdd", 1, 0x20000001, 4326, lon, lat).hex().upper(),
}


@pytest.mark.parametrize("name", POINTS)
def test_points(name: str, tmp_path: Path) -> None:
    points = [POINTS[name](lat, lon) for lat, lon in zip(checkins()["lat"], checkins()["lon"], strict=True)]
    found = read(own(tmp_path / "own.csv", lat=None, lon=None, where=points))
    np.testing.assert_allclose(found.table[[c.LATITUDE, c.LONGITUDE]], checkins()[["lat", "lon"]], atol=2e-6)


def test_points_in_bytes(tmp_path: Path) -> None:
    """GeoParquet's geometry."""
    frame = checkins()
    points = [wkb(lon, lat) for lat, lon in zip(frame["lat"], frame["lon"], strict=True)]
    table = pa.table({"user": frame["u"], "place": frame["p"], "time": frame["local"], "geometry": points})
    pq.write_table(table, tmp_path / "own.parquet")
    found = read(tmp_path / "own.parquet")
    np.testing.assert_allclose(found.table[[c.LATITUDE, c.LONGITUDE]], frame[["lat", "lon"]])


@pytest.mark.parametrize("text", ["Main St 12, 80331 Munich", "12, 4", "A 48, B 11", "48.1°", "cafe N 12"])
def test_what_is_no_point(text: str) -> None:
    assert split_point(pa.array([text])) == (pa.array([None], pa.string()), pa.array([None], pa.string()))


@pytest.mark.parametrize("text", ["11.6O", "48.1.2", "361 N E", "twelve", "48°61'N"])
def test_what_is_no_angle(text: str) -> None:
    """O is east in German and west in French."""
    assert to_degrees(pa.array([text])).null_count == 1


def test_longitudes_up_to_360(tmp_path: Path) -> None:
    """New York is at 286 degrees; one typing error above 180 is no reason to turn."""
    lat, lon = checkins()["lat"] - 11.8, checkins()["lon"] - 87.4
    found = read(own(tmp_path / "own.csv", lat=lat, lon=lon + 360))
    np.testing.assert_allclose(found.table[c.LONGITUDE], lon)
    assert any("from 0 to 360" in note for note in found.account.notes)
    wrong = checkins()["lon"].where(np.arange(ROWS) != 5, 213.4)
    assert read(own(tmp_path / "b.csv", lon=wrong)).account.dropped() == {"longitude": 1}


@pytest.mark.parametrize(
    ("columns", "part"),
    [
        ({"lat": checkins()["lat"] + 240}, r"“lat” is there, but 29\d.* is above 90"),
        ({"lat": "north"}, "“lat” is there, but 'north' is no latitude that I can read"),
        ({"lon": checkins()["lon"].map("{}O".format)}, "“lon” is there, but .*O' is no longitude"),
        ({"lat": checkins()["lat"] * 100, "lon": checkins()["lon"] * 100}, "is above 90, the largest latitude"),
        ({"letter": "W"}, "“letter” holds hemispheres; write them next to the degrees in “lon”"),
        ({"lat": checkins()["lat"] * 130_000, "lon": checkins()["lon"] * 111_320}, "Web Mercator"),
        ({x: (checkins()[x] * 1e7).round().astype(int) for x in ("lat", "lon")}, "times 10,000,000"),
    ],
)
def test_the_reason_is_said(columns: dict[str, Any], part: str, tmp_path: Path) -> None:
    path = own(tmp_path / "own.csv", **columns)
    assert_unreadable(part, path, "csv")
    assert_refused(recap("prepare", path, "--out", tmp_path / "out"), "“")


@pytest.mark.parametrize("move", [(0, 0), (-87.4, -11.8), (126.4, -16.8), (137.8, -86.4), (-60.0, -75.5)])
def test_radians(move: tuple[float, float], tmp_path: Path) -> None:
    """Refused with that name; a problem where the columns are named."""
    lat, lon = np.radians(checkins()["lat"] + move[1]), np.radians(checkins()["lon"] + move[0])
    path = own(tmp_path / "own.csv", lat=lat, lon=lon)
    assert_unreadable("“lat” and “lon” are in the sea around 0, 0", path, "csv")
    assert problems(path, columns={"lat": "lat", "lon": "lon"})["no_degrees"] == ROWS


@pytest.mark.parametrize(
    ("lat", "lon", "is_odd"),
    [
        ((0, 1), (0, 1), True),  # shares of a map
        ((-1, 1), (-1, 1), True),
        ((0.0, 0.4), (6.5, 6.8), False),  # São Tomé
        ((-1.47, -1.40), (5.60, 5.65), False),  # Annobón
        ((0.3, 0.5), (9.3, 9.6), False),  # Libreville
        ((5.5, 5.7), (-0.3, 0.0), False),  # Accra
        ((-0.4, 0.1), (-78.6, -78.3), False),  # Quito
        ((51.4, 51.6), (-0.2, 0.1), False),  # London
        ((0, 0), (0, 0), False),  # no coordinates
    ],
)
def test_degrees_near_zero(lat: tuple[float, float], lon: tuple[float, float], is_odd: bool, tmp_path: Path) -> None:
    """Only open sea is doubted; missing coordinates written as zeros tell nothing."""
    place = checkins()["pn"] % 97 / 97
    path = own(tmp_path / "own.csv", lat=lat[0] + place * (lat[1] - lat[0]), lon=lon[0] + place**2 * (lon[1] - lon[0]))
    assert ("no_degrees" in problems(path, columns={"lat": "lat", "lon": "lon"})) == is_odd


@pytest.mark.parametrize("separator", ["~", "#", "^", "\x01", ","])
@pytest.mark.parametrize(
    "title",
    ["", "Check-ins\n", "My check-ins, 2023\n", "A title\nof 3 May 2024\n\n", "# made by a tool\n", "Export,,,,\n"],
)
def test_titles_and_rare_separators(title: str, separator: str, tmp_path: Path) -> None:
    """Read as if there were none; names of places may hold the usual marks."""
    path = own(tmp_path / "own.csv", place=checkins()["p"] + " & Co; no. 7|b")
    path.write_text((title + path.read_text()).replace(",", separator))
    found = read(path)
    assert_all_read(found)
    assert found.account.columns["user"] == "user" and found.table[c.POI_ID].str.endswith("& Co; no. 7|b").all()


@pytest.mark.parametrize("text", ["Food|Bar|Pub", "a#b#c#d", "x~y~z", "1;2;3", "one two three four"])
def test_values_that_look_cut_are_below_their_names(text: str, tmp_path: Path) -> None:
    """The first line is no title where only the values hold marks; nor is a line cut short above values."""
    path = own(tmp_path / "own.csv", category=text)
    assert_all_read(read(path))
    path.write_text("a,b\n" + "".join(path.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(DataError):
        read_checkins(path, "csv")


@pytest.mark.parametrize("separator", [" | ", "\t", " ; ", " , ", "  |  "])
@pytest.mark.parametrize("time", ["%a %b %d %H:%M:%S +0000 %Y", "%Y-%m-%d %H:%M:%S UTC"])
@pytest.mark.parametrize("header", [True, False])
def test_blanks_inside_and_around(separator: str, time: str, header: bool, tmp_path: Path) -> None:
    """Blanks in every value cut lines alike too, but a separator wins; blanks around it are trimmed."""
    frame = checkins()
    rows = pd.DataFrame(
        {
            **{"no": "A-" + frame["un"].astype(str), "user": frame["u"], "place": "the " + frame["p"]},
            **{"lat": frame["lat"].map("{:.5f}".format), "lon": frame["lon"].map("{:.5f}".format)},
            "when": frame["utc"].dt.strftime(time),
        }
    )
    lines = [separator.join(rows.columns)] * header + [separator.join(row) for row in rows.itertuples(index=False)]
    (tmp_path / "own.txt").write_text("\n".join(lines) + "\n")
    found = read(tmp_path / "own.txt", columns={"user": "user" if header else "column2"})
    assert_all_read(found)
    assert found.table[c.POI_ID].iloc[0] == f"the {frame['p'].iloc[0]}"


def test_quotes_after_blanks(tmp_path: Path) -> None:
    text = 'user, place, time, lat, lon\n"a", "x, y", "2024-07-01T12:00:00Z", 52.5, 13.4\n'
    (tmp_path / "own.csv").write_text(text)
    assert read(tmp_path / "own.csv").table[c.POI_ID].tolist() == ["x, y"]


def test_one_persons_file(tmp_path: Path) -> None:
    """Asked once; the answer and the option are the same, in text, JSON and Parquet."""
    path = own(tmp_path / "own.csv", user=None)
    question = asked(path).question
    assert question is not None and question.about == "user" and "Is this one person's file?" in question.text
    (options,) = question.answers.values()
    assert options.columns["user"] == "one"
    frame = pd.read_csv(path)
    frame.to_json(tmp_path / "own.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "own.parquet")
    for name in ("own.csv", "own.jsonl", "own.parquet"):
        found = read(tmp_path / name, columns={"user": "one"})
        assert_all_read(found)
        assert set(found.table[c.USER_ID]) == {"one"}
    out = ["--out", tmp_path / "out", "--timezone", ZONE, "--set", "min_user_checkins=1", "--set", "min_poi_checkins=1"]
    assert_refused(recap("prepare", path, *out), "--map user=one")
    assert recap("prepare", path, *out, "--map", "user=one").returncode == 0
    frame.assign(one="ann").to_csv(path, index=False)
    assert set(read(path, columns={"user": "one"}).table[c.USER_ID]) == {"ann"}
