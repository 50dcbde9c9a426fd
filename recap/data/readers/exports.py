"""One person's own exports: visits of Google's Timeline, check-ins of Foursquare's Swarm, arrivals of OwnTracks."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.degrees import split_point
from recap.data.parsing.nested_records import Flat, Record, flat, walk
from recap.data.parsing.options import ONE_PERSON, ReadOptions
from recap.data.parsing.read_report import TRACK, RawRead
from recap.data.parsing.row_block import RowBlock
from recap.data.parsing.table_builder import CheckinTableBuilder
from recap.data.parsing.table_source import parse_json, read_json_text
from recap.errors import DataError

_LISTS: Final = ("semanticSegments", "timelineObjects", "items")
"""Keys of the list of records in a document."""
_NEEDED: Final = ("user", "poi", "time", "lat", "lon", "category")


@dataclass(frozen=True)
class _Export:
    """How the visits of an export are written: whether a record is one; field of `--map` -> paths in a record, the
    first that is there counts; what the other records are.
    """

    is_visit: Callable[[Record], bool]
    fields: dict[str, tuple[str, ...]]
    others: str


_BEST, _OLD = "visit.topCandidate", "placeVisit"
_POINT: Final = (f"{_BEST}.placeLocation.latLng", f"{_BEST}.placeLocation")
_EXPORTS: Final = {
    "timeline": _Export(
        lambda record: isinstance(record.get("visit"), dict) or isinstance(record.get("placeVisit"), dict),
        {
            "poi": (f"{_BEST}.placeId", f"{_BEST}.placeID", f"{_OLD}.location.placeId"),
            "name": (f"{_OLD}.location.name",),
            "category": (f"{_BEST}.semanticType", f"{_OLD}.location.semanticType"),
            "time": ("startTime", f"{_OLD}.duration.startTimestamp", f"{_OLD}.duration.startTimestampMs"),
            "lat": (*_POINT, f"{_OLD}.location.latitudeE7", f"{_OLD}.centerLatE7"),
            "lon": (*_POINT, f"{_OLD}.location.longitudeE7", f"{_OLD}.centerLngE7"),
            "tz": ("startTimeTimezoneUtcOffsetMinutes",),
        },
        "segments are journeys or paths",
    ),
    "swarm": _Export(
        lambda record: "createdAt" in record,
        {
            "poi": ("venue.id",),
            "name": ("venue.name",),
            "category": ("venue.categories.1.name",),
            "time": ("createdAt",),
            "lat": ("lat", "venue.location.lat"),
            "lon": ("lng", "venue.location.lng"),
            "tz": ("timeZoneOffset",),
        },
        "items are no check-ins",
    ),
    "owntracks": _Export(
        lambda record: record.get("event") == "enter",
        {
            "user": ("tid",),
            "poi": ("desc", "rid"),
            "name": ("desc",),
            "time": ("tst",),
            "lat": ("lat",),
            "lon": ("lon",),
        },
        "messages are points or departures",
    ),
}


def read_export(path: Path, source_format: str, options: ReadOptions | None = None) -> RawRead:
    """Read Google's Timeline of a phone or months of an older Takeout, Swarm's ``checkins*.json``, or arrivals that
    OwnTracks recorded, as a file or their folder. Raises DataError: no visit in it, or a bad row.
    """
    options, export = options or ReadOptions(), _EXPORTS[source_format]
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    found, count = {}, 0
    for file in files:
        records = _records(read_json_text(file, options.encoding))
        numbered = [(number, _visit(record, export)) for number, record in enumerate(records, 1)]
        found[file.name] = [(number, visit) for number, visit in numbered if visit is not None]
        count += len(records)
    visits = [visit for rows in found.values() for _, visit in rows]
    if not visits:
        is_track = source_format == "owntracks"
        raise DataError(TRACK.format(name=path.name) if is_track else f"{path.name} has no visits to places")
    fields = {field: field for field in visits[0] if field in _NEEDED or all(visit[field] for visit in visits)}
    builder = CheckinTableBuilder(path.name, options)
    for name, rows in found.items():
        if rows:
            columns = {field: pa.array([visit[field] for _, visit in rows], pa.string()) for field in fields}
            for half, field in enumerate(("lat", "lon")):
                columns[field] = pc.coalesce(split_point(columns[field])[half], columns[field])
            builder.add(RowBlock(name, columns, np.array([number for number, _ in rows]), noun="item"), fields)
    if left := count - len(visits):
        builder.report.note(f"{left:,} {export.others}, which are not read.")
    return builder.read(source_format, [file.name for file in files], len(visits))


def _records(text: str) -> list[Any]:
    """The records of a document, or of lines, each perhaps after a time and a topic."""
    document = parse_json(text)
    if document is None:
        return [parse_json(line[line.find("{") :]) for line in re.split(r"[\r\n]+", text) if "{" in line]
    if isinstance(document, dict):
        inner = walk(document, is_outer=True)
        document = next((value for path, _, value in inner if path.rpartition(".")[2] in _LISTS and value), [document])
    return document if isinstance(document, list) else []


def _visit(record: Any, export: _Export) -> Flat | None:
    """Text by field, empty where there is none; None if the record is no visit."""
    if not isinstance(record, dict) or not export.is_visit(record):
        return None
    values = flat(record)
    visit = {"user": ONE_PERSON, "category": ""}
    for field, paths in export.fields.items():
        path = next((path for path in paths if values.get(path)), "")
        visit[field] = _from_e7(values[path]) if path.endswith("E7") else values.get(path, visit.get(field, ""))
    return visit


def _from_e7(text: str) -> str:
    """Degrees of ten-millionths; some exports counted negative ones from 2**32."""
    if not re.fullmatch(r"-?\d{1,10}", text):
        return ""
    return str((int(text) - (2**32 if int(text) > 1_800_000_000 else 0)) / 1e7)
