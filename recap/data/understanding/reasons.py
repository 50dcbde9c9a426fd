"""Why a column whose name fits was not taken, in words."""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from recap.data.parsing.column_names import field_of
from recap.data.parsing.row_block import NOTHING
from recap.data.understanding.columns import Column
from recap.printable import shortened

_CALENDARS: Final = (
    (2533, 2642, "of the Thai calendar, 543 years ahead; subtract them"),
    (1369, 1478, "of the Persian calendar; convert them to the Gregorian one"),
)
_MERCATOR_METRES: Final = 20_037_509
_LIMITS: Final = {"lat": ("latitude", 90), "lon": ("longitude", 180)}


def why_no_time(columns: list[Column]) -> str:
    """What keeps columns called time from being times; empty where there are none."""
    return " ".join(_no_time(column) for column in columns if column.distinct)


def _no_time(column: Column) -> str:
    there, first = f"“{column.name}” is there, but", next(_values(column), column.distinct[0])
    if column.is_clock:
        return (
            f"{there} it holds clocks without a day, such as {first!r}; name the day's column with --map date=COLUMN."
        )
    years = np.array([int(year) for text in column.distinct[:1000] for year in re.findall(r"(?<!\d)\d{4}(?!\d)", text)])
    for low, high, calendar in _CALENDARS:
        if len(years) and ((years >= low) & (years <= high)).mean() > 0.5 and not column.is_number:
            return f"{there} its years, such as in {first!r}, are those {calendar}."
    if column.is_number:
        return f"{there} {first!r} is a bare number; a time needs its day, or seconds since 1970."
    return f"{there} {first!r} is no time that I can read; describe it with --time-format, such as '%d.%m.%Y %H:%M'."


def why_no_degrees(columns: list[Column]) -> str:
    """What keeps columns called latitude or longitude from being some; empty where there are none."""
    named = [(column, field_of(column.name)[0]) for column in columns]
    named = [
        (column, field)
        for column, field in named
        if field in _LIMITS and column.distinct and column.meaning[0] != field
    ]
    numbers = [column.numbers[~np.isnan(column.numbers)] for column, _ in named if column.is_number]
    if len(numbers) >= 2 and all(1000 < np.median(np.abs(n)) <= _MERCATOR_METRES for n in numbers):
        names = " and ".join(f"“{column.name}”" for column, _ in named)
        return f"{names} are there, but hold metres, such as of Web Mercator (EPSG:3857); convert them to degrees."
    return " ".join(_no_degrees(column, *_LIMITS[field]) for column, field in named)


def _no_degrees(column: Column, what: str, limit: int) -> str:
    there = f"“{column.name}” is there, but"
    beyond = np.flatnonzero(np.abs(column.numbers) > limit)
    if column.is_number and len(beyond):
        return f"{there} {column.numbers[beyond[0]]:g} is above {limit}, the largest {what}."
    return f"{there} {next(_values(column, column.is_number), column.distinct[0])!r} is no {what} that I can read."


def _values(column: Column, no_number: bool = False) -> Iterator[str]:
    """Values that stand for something, shortened."""
    for text in column.distinct[:1000]:
        if text not in NOTHING and not (no_number and re.fullmatch(r"[+-]?\d+([.,]\d+)?", text)):
            yield shortened(text, 40)
