"""What to say where no column fits: why the one of that name was not taken, or which other file has it."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

import numpy as np

from recap.data.parsing.column_names import field_of, words_of
from recap.data.parsing.nested_records import Shape
from recap.data.parsing.row_block import NOTHING
from recap.data.parsing.table_source import parse_json
from recap.data.parsing.text_table import first_cells, read_head
from recap.data.understanding.columns import Column
from recap.errors import DataError
from recap.printable import shortened

_CALENDARS: Final = (
    (2533, 2642, "of the Thai calendar, 543 years ahead; subtract them"),
    (1369, 1478, "of the Persian calendar; convert them to the Gregorian one"),
)
_MERCATOR_METRES: Final = 20_037_509
_MOST_E7: Final = 1_800_000_000
_MOST_NMEA: Final = 18_060
"""Degrees and minutes in one number."""
_MOST_FILES: Final = 50
_SUFFIXES: Final = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson")
_LIMITS: Final = {"lat": ("latitude", 90), "lon": ("longitude", 180)}


def why_no_time(columns: list[Column]) -> str:
    """What keeps columns called time from being times; empty where there are none."""
    return " ".join(_no_time(column) for column in columns if column.distinct)


def _no_time(column: Column) -> str:
    there, first = f"“{column.name}” is there, but", _example(column)
    if column.is_clock:
        what = f"it holds clocks without a day, such as {first!r}"
        return f"{there} {what}; name the day's column with --map date=COLUMN."
    years = np.array([int(year) for text in column.distinct[:1000] for year in re.findall(r"(?<!\d)\d{4}(?!\d)", text)])
    for low, high, calendar in _CALENDARS:
        if len(years) and ((years >= low) & (years <= high)).mean() > 0.5 and not column.is_number:
            return f"{there} its years, such as in {first!r}, are those {calendar}."
    if column.is_number:
        return f"{there} {first!r} is a bare number; a time needs its day, or seconds since 1970."
    return f"{there} {first!r} is no time that I can read; describe it with --time-format, such as '%d.%m.%Y %H:%M'."


def why_no_degrees(columns: list[Column]) -> str:
    """What keeps columns called latitude or longitude from being some; empty where there are none."""
    named = [(column, field_of(column.name)[0]) for column in columns if column.distinct]
    named = [(column, field) for column, field in named if field in _LIMITS and column.meaning[0] != field]
    numbers = [column.numbers[~np.isnan(column.numbers)] for column, _ in named if column.is_number]
    sizes = [float(np.median(np.abs(part))) for part in numbers]
    names = " and ".join(f"“{column.name}”" for column, _ in named)
    if len(sizes) >= 2 and _MOST_NMEA < max(sizes) <= _MERCATOR_METRES:
        return f"{names} are there, but hold metres, such as of Web Mercator (EPSG:3857); convert them to degrees."
    if len(sizes) >= 2 and _MERCATOR_METRES < max(sizes) <= _MOST_E7 and all((part % 1 == 0).all() for part in numbers):
        return f"{names} are there, but hold whole numbers, such as degrees times 10,000,000 (E7); divide them."
    return " ".join(_no_degrees(column, *_LIMITS[field]) for column, field in named)


def _no_degrees(column: Column, what: str, limit: int) -> str:
    there = f"“{column.name}” is there, but"
    beyond = np.flatnonzero(np.abs(column.numbers) > limit)
    if column.is_number and len(beyond):
        return f"{there} {column.numbers[beyond[0]]:g} is above {limit}, the largest {what}."
    return f"{there} {_example(column, column.is_number)!r} is no {what} that I can read."


def _example(column: Column, no_number: bool = False) -> str:
    """The first value that stands for something, shortened; else the first."""
    given = (text for text in column.distinct[:1000] if text not in NOTHING)
    texts = (text for text in given if not (no_number and re.fullmatch(r"[+-]?\d+([.,]\d+)?", text)))
    return next((shortened(text, 40) for text in texts), column.distinct[0])


def how_to_join(path: Path, names: Collection[str], missing: Collection[str]) -> str:
    """A sentence on the file next to it that has columns for the missing fields, and an id in common; else empty."""
    if "tist2015" in path.name.lower():
        return f"The POIs file of TIST2015 has the coordinates; name the folder of both: {path.parent}."
    others = sorted(item for item in path.parent.iterdir() if item != path and item.suffix.lower() in _SUFFIXES)
    for other in others[:_MOST_FILES]:
        theirs = _column_names(other)
        fields = {field_of(name)[0] for name in theirs}
        keys = next(((name, key) for name in names for key in theirs if _are_one_id(name, key)), None)
        if keys is not None and set(missing) <= fields and not {"user", "time"} <= fields:
            on = f"on={keys[0]!r}" if keys[0] == keys[1] else f"left_on={keys[0]!r}, right_on={keys[1]!r}"
            joined = f"{_read(path)}.merge({_read(other)}, {on}).to_csv('joined.csv', index=False)"
            found = f"{other.name} in the same folder has them, with {keys[1]} in common."
            return f"{found} Join both first, for example with pandas: {joined}"
    if {"review_id", "business_id"} <= set(names):
        return "Yelp's business file has the coordinates; join it by business_id first."
    return ""


def _are_one_id(name: str, other: str) -> bool:
    """Whether two columns are the places' ids: of one name, or ``id`` in the table of places."""
    return field_of(name)[0] == "poi" and (name == other or (words_of(other) == ["id"] and "id" in words_of(name)))


def _read(path: Path) -> str:
    """The call of pandas that reads a file."""
    if "json" not in path.suffix:
        return f"pd.read_csv({path.name!r}{', sep=None, engine=' + repr('python') if path.suffix != '.csv' else ''})"
    is_lines = isinstance(parse_json(read_head(path, 1)[0]), dict)
    return f"pd.read_json({path.name!r}{', lines=True' if is_lines else ''})"


def _column_names(path: Path) -> list[str]:
    try:
        if "json" not in path.suffix:
            return first_cells(path, None, None)[1]
        first = parse_json(read_head(path, 1)[0])
        return [name for _, row in Shape().rows([first]) for name in row or ()]
    except (DataError, OSError, UnicodeError, IndexError):
        return []
