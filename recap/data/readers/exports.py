"""One person's own exports: visits of Google's Timeline, check-ins of Foursquare's Swarm, arrivals of OwnTracks."""

import re
from functools import partial
from pathlib import Path
from typing import Any, Final

from recap.data.parsing.formats import KNOWN_FILES
from recap.data.parsing.nested_records import Flat, flat, walk
from recap.data.parsing.options import ONE_PERSON, ReadOptions
from recap.data.parsing.read_report import TRACK
from recap.data.parsing.table_source import TableSource, chain_sources, json_or_none, read_json_text, source_of_records
from recap.errors import DataError

_LISTS: Final = ("semanticSegments", "timelineObjects", "items")
"""Keys of the list of records in a document."""
_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?")
_NEEDED: Final = ("user", "poi", "time", "lat", "lon", "category")


def open_export(path: Path, source_format: str, options: ReadOptions) -> TableSource:
    """Open an export of Google's Timeline, Swarm or OwnTracks, or their folder. Raises DataError: no visit in it."""
    export = KNOWN_FILES["exports"][source_format]
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    visits_of, left = dict[str, list[tuple[int, Flat]]](), 0
    for file in files:
        records = [_visit(record, export) for record in _records(read_json_text(file, options.encoding))]
        visits_of[file.name] = [(number, visit) for number, visit in enumerate(records, 1) if visit is not None]
        left += records.count(None)
    visits = [visit for rows in visits_of.values() for _, visit in rows]
    if not visits:
        is_track = source_format == "owntracks"
        raise DataError(TRACK.format(name=path.name) if is_track else f"{path.name} has no visits to places")
    sources = [source_of_records(name, "item", partial(iter, [rows])) for name, rows in visits_of.items() if rows]
    source = chain_sources(path.name, sources, {})
    source.fields = {field: field for field in visits[0] if field in _NEEDED or all(visit[field] for visit in visits)}
    source.files = [*visits_of]
    source.notes = [f"{left:,} {export['others']}, which are not read."] * bool(left)
    return source


def _records(text: str) -> list[Any]:
    """The records of a document, or of lines, each perhaps after a time and a topic."""
    document = json_or_none(text)
    if document is None:
        return [json_or_none(line[line.find("{") :]) for line in re.split(r"[\r\n]+", text) if "{" in line]
    if isinstance(document, dict):
        lists = (value for path, value in walk(document) if path.rpartition(".")[2] in _LISTS and value)
        document = next(lists, [document])
    return document if isinstance(document, list) else []


def _visit(record: Any, export: dict[str, Any]) -> Flat | None:
    """Text by field, empty where there is none; None if the record is no visit."""
    fields = record if isinstance(record, dict) else {}
    wanted = export["visit"].items()
    if not any(fields.get(key) == value if value else fields.get(key) is not None for key, value in wanted):
        return None
    values = flat(record)
    visit = {"user": ONE_PERSON, "category": ""}
    for field, paths in export["fields"].items():
        path = next((path for path in paths if values.get(path)), "")
        visit[field] = _from_e7(values[path]) if path.endswith("E7") else values.get(path, visit.get(field, ""))
    for half, field in enumerate(("lat", "lon")):
        if "," in visit[field]:  # a point, such as geo:48.1,11.6
            visit[field] = [*_NUMBER.findall(visit[field]), "", ""][half]
    return visit


def _from_e7(text: str) -> str:
    """Degrees of ten-millionths; some exports counted negative ones from 2**32."""
    if not re.fullmatch(r"-?\d{1,10}", text):
        return ""
    return str((int(text) - (2**32 if int(text) > 1_800_000_000 else 0)) / 1e7)
