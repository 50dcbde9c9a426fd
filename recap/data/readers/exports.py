"""One person's own exports: visits of Google's Timeline, check-ins of Foursquare's Swarm, arrivals of OwnTracks."""

import re
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.degrees import split_point
from recap.data.parsing.formats import KNOWN_FILES
from recap.data.parsing.nested_records import Flat, flat, walk
from recap.data.parsing.options import ONE_PERSON, ReadOptions
from recap.data.parsing.read_report import TRACK, RowReport
from recap.data.parsing.row_block import RowBlock
from recap.data.parsing.table_source import TableSource, json_or_none, read_json_text
from recap.errors import DataError

_LISTS: Final = ("semanticSegments", "timelineObjects", "items")
"""Keys of the list of records in a document."""
_NEEDED: Final = ("user", "poi", "time", "lat", "lon", "category")


def open_export(path: Path, source_format: str, options: ReadOptions) -> TableSource:
    """Open Google's Timeline of a phone or months of an older Takeout, Swarm's ``checkins*.json``, or arrivals that
    OwnTracks recorded, as a file or their folder. Raises DataError: no visit in it.
    """
    export = KNOWN_FILES["exports"][source_format]
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    found: dict[str, list[tuple[int, Flat]]] = {}
    left = 0
    for file in files:
        records = _records(read_json_text(file, options.encoding))
        numbered = ((number, _visit(record, export)) for number, record in enumerate(records, 1))
        found[file.name] = [(number, visit) for number, visit in numbered if visit is not None]
        left += len(records) - len(found[file.name])
    visits = [visit for rows in found.values() for _, visit in rows]
    if not visits:
        is_track = source_format == "owntracks"
        raise DataError(TRACK.format(name=path.name) if is_track else f"{path.name} has no visits to places")

    def read(stored: list[str], row_report: RowReport) -> Generator[RowBlock]:
        for name, rows in filter(all, found.items()):
            columns = {field: pa.array([visit[field] for _, visit in rows], pa.string()) for field in stored}
            for half, field in enumerate(("lat", "lon")):
                columns[field] = pc.coalesce(split_point(columns[field])[half], columns[field])
            yield RowBlock(name, columns, np.array([number for number, _ in rows]), noun="item")

    fields = {field: field for field in visits[0] if field in _NEEDED or all(visit[field] for visit in visits)}
    notes = [f"{left:,} {export['others']}, which are not read."] * bool(left)
    return TableSource(path.name, [*fields], len(visits), read, files=[*found], fields=fields, notes=notes)


def _records(text: str) -> list[Any]:
    """The records of a document, or of lines, each perhaps after a time and a topic."""
    document = json_or_none(text)
    if document is None:
        return [json_or_none(line[line.find("{") :]) for line in re.split(r"[\r\n]+", text) if "{" in line]
    if isinstance(document, dict):
        inner = walk(document, is_outer=True)
        document = next((value for path, _, value in inner if path.rpartition(".")[2] in _LISTS and value), [document])
    return document if isinstance(document, list) else []


def _visit(record: Any, export: dict[str, Any]) -> Flat | None:
    """Text by field, empty where there is none; None if the record is no visit."""
    found = record if isinstance(record, dict) else {}
    if not any(
        found.get(key) == value if value else found.get(key) is not None for key, value in export["visit"].items()
    ):
        return None
    values = flat(record)
    visit = {"user": ONE_PERSON, "category": ""}
    for field, paths in export["fields"].items():
        path = next((path for path in paths if values.get(path)), "")
        visit[field] = _from_e7(values[path]) if path.endswith("E7") else values.get(path, visit.get(field, ""))
    return visit


def _from_e7(text: str) -> str:
    """Degrees of ten-millionths; some exports counted negative ones from 2**32."""
    if not re.fullmatch(r"-?\d{1,10}", text):
        return ""
    return str((int(text) - (2**32 if int(text) > 1_800_000_000 else 0)) / 1e7)
