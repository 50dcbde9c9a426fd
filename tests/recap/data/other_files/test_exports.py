"""One person's exports, recognised by content; tracks are refused with what makes visits of them."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from recap import columns as c
from recap.data.reading import detect_format
from recap.errors import DataError
from tests.recap.data.other_files.reading import assert_all_read, read
from tests.recap.data.understanding.tables import ROWS, checkins
from tests.shell import assert_refused, recap


def local(row: Any) -> str:
    return str(row.utc.tz_convert("Europe/Berlin").isoformat(timespec="milliseconds"))


def android(row: Any) -> dict[str, Any]:
    where = {"latLng": f"{row.lat}°, {row.lon}°"}
    best = {"placeId": row.p, "semanticType": row.kind, "placeLocation": where}
    return {"startTime": local(row), "endTime": local(row), "visit": {"hierarchyLevel": 0, "topCandidate": best}}


def android_utc(row: Any) -> dict[str, Any]:
    time = f"{row.utc:%Y-%m-%dT%H:%M:%S}.000Z"
    return android(row) | {"startTime": time, "startTimeTimezoneUtcOffsetMinutes": row.minutes}


def ios(row: Any) -> dict[str, Any]:
    best = {"placeID": row.p, "semanticType": row.kind, "placeLocation": f"geo:{row.lat:.6f},{row.lon:.6f}"}
    return {"endTime": local(row), "startTime": local(row), "visit": {"topCandidate": best, "probability": "0.6"}}


def takeout(row: Any) -> dict[str, Any]:
    e7 = {"latitudeE7": round(row.lat * 1e7), "longitudeE7": round(row.lon * 1e7)}
    where = {**e7, "placeId": row.p, "name": row.name}
    return {"placeVisit": {"location": where, "duration": {"startTimestamp": f"{row.utc:%Y-%m-%dT%H:%M:%S}Z"}}}


def takeout_old(row: Any) -> dict[str, Any]:
    visit = takeout(row)
    visit["placeVisit"]["duration"] = {"startTimestampMs": str(int(row.utc.timestamp() * 1000))}
    return visit


def swarm(row: Any) -> dict[str, Any]:
    venue = {"id": row.p, "name": row.name, "categories": [{"name": row.kind}, {"name": "Other"}]}
    time = {"createdAt": f"{row.utc:%Y-%m-%d %H:%M:%S}.000000", "timeZoneOffset": row.minutes}
    return {"id": str(row.Index), **time, "type": "checkin", "venue": venue, "lat": row.lat, "lng": row.lon}


def swarm_epochs(row: Any) -> dict[str, Any]:
    found = swarm(row) | {"createdAt": int(row.utc.timestamp())}
    found["venue"]["location"] = {"lat": found.pop("lat"), "lng": found.pop("lng")}
    return found


def arrival(row: Any) -> dict[str, Any]:
    place = {"desc": row.p, "lat": row.lat, "lon": row.lon}
    return {"_type": "transition", "event": "enter", "tst": int(row.utc.timestamp()), "tid": "ab", **place}


WALK: dict[str, Any] = {"startTime": "2024-01-01T00:00:00Z", "endTime": "2024-01-01T00:10:00Z", "activity": {}}
PATH = {**WALK, "timelinePath": [{"point": "48.1°, 11.6°", "time": "2024-01-01T00:00:00Z"}]}


def whole(make: Callable[[Any], Any], around: Callable[[list[Any]], Any], other: Any) -> Callable[[], str]:
    def text() -> str:
        items = [make(row) for row in checkins().itertuples()]
        return json.dumps(around([other, *items]), indent=1, ensure_ascii=False)

    return text


EXPORTS: dict[str, tuple[str, Callable[[], str]]] = {
    "android.json": ("timeline", whole(android, lambda found: {"semanticSegments": found, "rawSignals": [{}]}, PATH)),
    "utc.json": ("timeline", whole(android_utc, lambda found: {"rawSignals": [{}], "semanticSegments": found}, PATH)),
    "ios.json": ("timeline", whole(ios, lambda found: found, PATH)),
    "2023_MARCH.json": ("timeline", whole(takeout, lambda f: {"timelineObjects": f}, {"activitySegment": {}})),
    "2016_MAY.json": ("timeline", whole(takeout_old, lambda f: {"timelineObjects": f}, {"activitySegment": {}})),
    "checkins1.json": ("swarm", whole(swarm, lambda found: {"count": ROWS, "items": found}, {"id": "x"})),
    "checkins.json": ("swarm", whole(swarm_epochs, lambda found: {"items": found}, {"id": "x"})),
    "api.json": ("swarm", whole(swarm, lambda f: {"response": {"checkins": {"items": f}}}, {"id": "x"})),
    "own.json": ("owntracks", whole(arrival, lambda found: found, {"_type": "location", "lat": 1, "lon": 2})),
    "2024-01.rec": (
        "owntracks",
        lambda: "\n".join(
            f"{r.utc:%FT%TZ}\t*                 \t{json.dumps(arrival(r))}" for r in checkins().itertuples()
        ),
    ),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_read(name: str, tmp_path: Path) -> None:
    """Every visit of one person with its offset, plain and compressed; what is not a segment is counted."""
    source_format, make = EXPORTS[name]
    (tmp_path / name).write_text(make(), encoding="utf-8")
    (tmp_path / "packed").write_bytes(gzip.compress(make().encode()))
    for path in (tmp_path / name, tmp_path / "packed"):
        assert detect_format(path)[0] == source_format
        found = read(path)
        truth = checkins()
        assert_all_read(found)
        assert len(set(found.table[c.USER_ID])) == 1
        assert found.table[c.POI_ID].tolist() == truth["p"].tolist()
        assert found.table[c.TZ_OFFSET_MINUTES].tolist() == truth["minutes"].tolist()
        assert abs(found.table[c.LATITUDE] - truth["lat"]).max() < 1e-6
        assert name.endswith("rec") or any("not read" in note for note in found.account.notes)


def test_a_folder_of_months(tmp_path: Path) -> None:
    text = EXPORTS["2023_MARCH.json"][1]()
    for name in ("2023/2023_MARCH.json", "2024/2024_MAY.json"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    found = read(tmp_path)
    assert found.account.rows_kept == 2 * ROWS and len(found.account.files) == 2


def test_a_check_in_without_a_venue_is_reported(tmp_path: Path) -> None:
    items = [swarm(row) for row in checkins().itertuples()]
    del items[3]["venue"], items[5]["lat"]
    (tmp_path / "checkins1.json").write_text(json.dumps({"items": items}))
    assert read(tmp_path / "checkins1.json").account.dropped() == {"poi_id": 1, "latitude": 1}
    line = recap("prepare", tmp_path / "checkins1.json", "--out", tmp_path / "out")
    assert_refused(line, "checkins1.json item 4: place id is empty")


POINT = '<trkpt lat="48.1" lon="11.6"><time>2023-03-01T11:38:13Z</time></trkpt>'
RECORD = {"latitudeE7": 481000000, "longitudeE7": 116000000, "timestamp": "2023-03-01T11:38:13Z"}
TRACKS = {
    "a.gpx": f'<?xml version="1.0"?>\n<gpx version="1.1"><trk><trkseg>{POINT}</trkseg></trk></gpx>',
    "b.gpx": f'\ufeff<gpx xmlns="http://www.topografix.com/GPX/1/1">{POINT}</gpx>',
    "c.plt": "Geolife trajectory\nWGS 84\nAltitude is in Feet\n39.9,116.3,0,492,39744.1,2008-10-23,02:53:04",
    "Records.json": json.dumps({"locations": [RECORD] * 50}, indent=2),
    "own.csv": "who,lat,lon,altitude,time\n" + "a,48.1,11.6,500,2023-03-01 11:38:13\n" * 60,
    "d.json": json.dumps([{"_type": "location", "lat": 1, "lon": 2, "tst": 1}] * 9),
    "e.kml": '<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document/></kml>',
    "f.tcx": "<TrainingCenterDatabase><Activities/></TrainingCenterDatabase>",
}


@pytest.mark.parametrize("name", TRACKS)
def test_tracks_are_explained(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(TRACKS[name])
    part = "the points of a track, not visits to places. Make stops of them first, with trackintel"
    for command in (["inspect", tmp_path / name], ["prepare", tmp_path / name, "--out", tmp_path / "out"]):
        assert_refused(recap(*command), part)


@pytest.mark.parametrize(
    "text", ['{"semanticSegments": []}', '{"timelineObjects": [1, null]}', '{"semanticSegments": [{"']
)
def test_an_export_without_visits(text: str, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(text)
    with pytest.raises(DataError, match="has no visits to places"):
        read(tmp_path / "own.json")


@pytest.mark.parametrize(
    "text",
    [
        '{"items": [{"createdAt": 1, "timeZoneOffset": 0, "venue": 9}]}',
        '{"items": [{"createdAt": 1, "timeZoneOffset": 0, "venue": {"location": 9, "categories": true}}]}',
        '{"semanticSegments": [{"startTime": 1, "visit": {"topCandidate": [9]}}]}',
        '{"timelineObjects": [{"placeVisit": {"location": "x", "duration": 1}}]}',
        '{"timelineObjects": [{"placeVisit": {"location": {"latitudeE7": 1%s}}}]}' % ("0" * 400),
        '{"timelineObjects": [{"placeVisit": {"location": {"latitudeE7": "1%s"}}}]}' % ("0" * 5000),
    ],
)
def test_a_visit_with_another_value_in_the_place_of_an_object(text: str, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(text)
    with pytest.raises(DataError):
        read(tmp_path / "own.json")


@pytest.mark.parametrize("tool", ["trackintel", "scikit-mobility"])
def test_tables_of_the_tools_that_make_stops(tool: str, tmp_path: Path) -> None:
    """As their `to_csv` writes them; stops without a place are left out and counted."""
    frame = checkins()
    stay = pd.to_timedelta(600 + frame.index % 97 * 60, unit="s")
    if tool == "trackintel":
        table = pd.DataFrame(
            {
                "id": range(ROWS),
                "user_id": frame["un"],
                "started_at": frame["utc"].astype(str),
                "finished_at": (frame["utc"] + stay).astype(str),
                "is_activity": True,
                "location_id": frame["pn"].astype(float).where(frame.index != 4),
                "geom": [f"POINT ({lon} {lat})" for lat, lon in zip(frame["lat"], frame["lon"], strict=True)],
            }
        )
    else:
        place = {"lat": frame["lat"], "lng": frame["lon"]}
        table = pd.DataFrame({**place, "datetime": frame["local"], "uid": frame["un"], "cluster": frame["pn"]})
        table["leaving_datetime"] = frame["local"] + stay
    table.to_csv(tmp_path / "stops.csv", index=False)
    found = read(tmp_path / "stops.csv")
    assert found.account.rows_kept == ROWS - (tool == "trackintel")
    assert found.table[c.TIME].iloc[0] == frame["utc"].iloc[0]
