"""One person's own exports: visits of Google's Timeline, check-ins of Foursquare's Swarm, arrivals of OwnTracks."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from recap.data.parsing.degrees import split_point
from recap.data.parsing.options import ONE_PERSON, ReadOptions
from recap.data.parsing.read_report import RawRead, RowReport
from recap.data.parsing.row_block import RowBlock
from recap.data.parsing.table_builder import CheckinTableBuilder
from recap.data.parsing.table_source import parse_json, read_json_text
from recap.errors import DataError

Visit = dict[str, Any]
"""``poi, time, lat, lon``, and of ``user, name, category, tz`` those that are known; None for what is no visit."""
_NEEDED: Final = ("user", "poi", "time", "lat", "lon")
_OPTIONAL: Final = ("category", "name", "tz")

TRACK: Final = (
    "{name} holds the points of a track, not visits to places. Make stops of them first, with trackintel "
    "(generate_staypoints, then generate_locations for place ids) or scikit-mobility (stay_locations, then cluster); "
    "RECAP reads the tables of both"
)


def read_timeline(path: Path, options: ReadOptions | None = None) -> RawRead:
    """Read Google's Timeline of a phone (Android or iOS), or months of an older Takeout, as a file or their folder.
    Raises DataError: not such a file, or no visit in it.
    """
    return _read(path, "timeline", options or ReadOptions(), _timeline_visits, "segments are journeys or paths")


def read_swarm(path: Path, options: ReadOptions | None = None) -> RawRead:
    """Read the check-ins of a Foursquare Swarm export, ``checkins*.json``, as a file or their folder. Raises DataError:
    not such a file, or a check-in without a venue or coordinates that the options do not skip.
    """
    return _read(path, "swarm", options or ReadOptions(), _swarm_visits, "items are no check-ins")


def read_owntracks(path: Path, options: ReadOptions | None = None) -> RawRead:
    """Read the arrivals at regions that OwnTracks recorded, as JSON or a recorder's ``.rec`` file. Raises DataError:
    not such a file, or only points.
    """
    return _read(path, "owntracks", options or ReadOptions(), _owntracks_visits, "messages are points or departures")


def _read(
    path: Path,
    source_format: str,
    options: ReadOptions,
    visits_of: Callable[[str], Iterator[Visit | None]],
    others: str,
) -> RawRead:
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    found = {file: [*visits_of(read_json_text(file, options.encoding))] for file in files}
    report = RowReport(options.skip_bad_rows)
    builder = CheckinTableBuilder(path.name, options, report)
    every = [visit for visits in found.values() for visit in visits if visit is not None]
    if not every:
        is_track = source_format == "owntracks"
        raise DataError(TRACK.format(name=path.name) if is_track else f"{path.name} has no visits to places")
    full = [name for name in _OPTIONAL if name == "category" or all(visit.get(name) is not None for visit in every)]
    fields = {name: name for name in (*_NEEDED, *full)}
    for file, visits in found.items():
        known = [(number, visit) for number, visit in enumerate(visits, 1) if visit is not None]
        if known:
            columns = {name: pa.array([_text(visit.get(name)) for _, visit in known], pa.string()) for name in fields}
            builder.add(RowBlock(file.name, columns, np.array([number for number, _ in known]), noun="item"), fields)
    if left := sum(len(visits) for visits in found.values()) - len(every):
        report.note(f"{left:,} {others}, which are not read.")
    return builder.read(source_format, [file.name for file in files], len(every))


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _timeline_visits(text: str) -> Iterator[Visit | None]:
    document = parse_json(text)
    if isinstance(document, dict):
        document = document.get("semanticSegments") or document.get("timelineObjects") or []
    for segment in document if isinstance(document, list) else []:
        yield _timeline_visit(segment) if isinstance(segment, dict) else None


def _timeline_visit(segment: dict[str, Any]) -> Visit | None:
    if isinstance(old := segment.get("placeVisit"), dict):
        place, when = old.get("location") or {}, old.get("duration") or {}
        lat = _from_e7(place.get("latitudeE7", old.get("centerLatE7")))
        lon = _from_e7(place.get("longitudeE7", old.get("centerLngE7")))
        time = when.get("startTimestamp") or when.get("startTimestampMs")
        known = {"poi": place.get("placeId"), "name": place.get("name"), "category": place.get("semanticType")}
        return known | {"user": ONE_PERSON, "time": time, "lat": lat, "lon": lon}
    visit = segment.get("visit")
    if not isinstance(visit, dict):
        return None
    best = visit.get("topCandidate") or {}
    where = best.get("placeLocation") or ""
    lat, lon = split_point(pa.array([_text(where.get("latLng") if isinstance(where, dict) else where)]))
    return {
        "user": ONE_PERSON,
        "poi": best.get("placeId") or best.get("placeID"),
        "category": best.get("semanticType"),
        "time": segment.get("startTime"),
        "lat": lat[0].as_py(),
        "lon": lon[0].as_py(),
        "tz": segment.get("startTimeTimezoneUtcOffsetMinutes"),
    }


def _from_e7(value: Any) -> float | None:
    """Degrees of ten-millionths; some exports counted negative ones from 2**32."""
    if not isinstance(value, int):
        return None
    return (value - (2**32 if value > 1_800_000_000 else 0)) / 1e7


def _swarm_visits(text: str) -> Iterator[Visit | None]:
    document = parse_json(text)
    items = document.get("items") if isinstance(document, dict) else document
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, dict) or "createdAt" not in item:
            yield None
            continue
        venue = item.get("venue") or {}
        where = venue.get("location") or {}
        kinds = [kind for kind in venue.get("categories") or [] if isinstance(kind, dict)]
        yield {
            "user": ONE_PERSON,
            "poi": venue.get("id"),
            "name": venue.get("name"),
            "category": kinds[0].get("name") if kinds else None,
            "time": item["createdAt"],
            "lat": item.get("lat", where.get("lat")),
            "lon": item.get("lng", where.get("lng")),
            "tz": item.get("timeZoneOffset"),
        }


def _owntracks_visits(text: str) -> Iterator[Visit | None]:
    document = parse_json(text)
    messages = document if isinstance(document, list) else [document] if document else []
    if not messages:  # lines, each perhaps after a time and a topic
        messages = [parse_json(line[line.find("{") :]) for line in re.split(r"[\r\n]+", text) if "{" in line]
    for message in messages:
        if not (isinstance(message, dict) and message.get("event") == "enter"):
            yield None
            continue
        yield {
            "user": message.get("tid") or ONE_PERSON,
            "poi": message.get("desc") or message.get("rid"),
            "name": message.get("desc"),
            "time": message.get("tst"),
            "lat": message.get("lat"),
            "lon": message.get("lon"),
        }
