"""What to say where no column fits: why the one of that name was not taken, or which other file has it."""

import re
from collections.abc import Collection, Mapping
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from recap.data.parsing.column_names import field_of, key_of, words_of
from recap.data.parsing.formats import KNOWN_FILES
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.row_block import NOTHING
from recap.data.parsing.table_source import json_or_none, open_table
from recap.data.parsing.text_table import read_head
from recap.data.understanding.columns import Column, determines, find_twins, read_sample
from recap.data.understanding.proposal import WORDS, say
from recap.errors import DataError
from recap.machine.printable import shortened

_Columns = Mapping[str, Column]
_MERCATOR_METRES: Final = 20_037_509
_MOST_E7: Final = 1_800_000_000
_MOST_NMEA: Final = 18_060
"""Degrees and minutes in one number."""
_WEB_MERCATOR: Final = "such as Web Mercator (EPSG:3857)"
_METRES_AS_TEXT: Final = r"(?i)(?:SRID=(\d+);)?\s*POINT ?Z?M? ?\(\s*-?\d{4,}"
_S2: Final = {"S2": (r"[0-9a-f]{2,16}|\d{17,20}", "s2sphere.CellId")}
_MOST_FILES: Final = 50
_LIMITS: Final = {"lat": ("latitude", 90), "lon": ("longitude", 180)}


def why_no_time(column: Column) -> str:
    """What keeps a column called time from being times."""
    about = {"column": column.name, "first": _example(column)}
    if column.is_clock:
        return say("clocks", **about)
    if column.layouts and len(column.distinct) == 1:
        return say("equal", **about)
    if column.is_number:
        return say("number", **about)
    years = np.array([int(year) for text in column.distinct[:1000] for year in re.findall(r"(?<!\d)\d{4}(?!\d)", text)])
    for calendar, (low, high) in WORDS["calendars"].items():
        if len(years) and ((years >= low) & (years <= high)).mean() > 0.5:
            return say("calendar", **about, calendar=calendar)
    return say("no_time", **about)


def are_cells(*columns: Column) -> bool:
    """Whether columns hold whole numbers alone, of several rows and columns of a grid."""
    known = [column.numbers[~np.isnan(column.numbers)] for column in columns]
    return all(len(np.unique(part)) > 2 and (part % 1 == 0).all() for part in known)


def _cells(columns: list[Column]) -> str:
    """The kind of cells that one column holds in place of coordinates."""
    for column in columns:
        is_s2 = key_of(column.name).startswith("s 2")
        for kind, (pattern, tool) in ((_S2 if is_s2 else {}) | KNOWN_FILES["cells"]).items():
            fits = sum(bool(re.fullmatch(pattern, text)) for text in column.distinct[:200])
            if len(column.distinct) > 1 and fits >= 0.95 * len(column.distinct[:200]):
                return say("cells", column=column.name, kind=kind, tool=tool)
    return ""


def why_no_degrees(columns: list[Column], crs: str = "") -> str:
    """What keeps columns called latitude or longitude from being some; empty where there are none. ``crs``: of the
    file, if it names one that is not in degrees.
    """
    if cells := _cells(columns):
        return cells
    crs = crs or _WEB_MERCATOR
    points = [column for column in columns if column.point and column.is_number and not column.is_angle]
    if len(points) > 1:
        return say("is_metres", column=points[0].point, crs=crs)
    for column in columns:
        if match := re.match(_METRES_AS_TEXT, next(iter(column.distinct), "")):
            return say("is_metres", column=column.name, crs=f"EPSG:{match[1]}" if match[1] else crs)
    named = [(column, field_of(column.name)[0]) for column in columns if column.distinct]
    named = [(column, field) for column, field in named if field in _LIMITS and column.meaning[0] != field]
    names = " and ".join(f"“{column.name}”" for column, _ in named)
    numbers = [column.numbers[~np.isnan(column.numbers)] for column, _ in named if column.is_number]
    if len(numbers) > 1:
        largest = max(float(np.median(np.abs(part))) for part in numbers)
        if largest <= _MOST_NMEA and are_cells(*(column for column, _ in named)):
            return say("are_cells", columns=names)
        if _MOST_NMEA < largest <= _MERCATOR_METRES:
            return say("are_metres", columns=names, crs=crs)
        if _MERCATOR_METRES < largest <= _MOST_E7 and all((part % 1 == 0).all() for part in numbers):
            return say("e7", columns=names)
    return " ".join(_no_degrees(column, *_LIMITS[field]) for column, field in named)


def _no_degrees(column: Column, what: str, limit: int) -> str:
    beyond = column.numbers[np.abs(column.numbers) > limit]
    if column.is_number and len(beyond):
        return say("too_large", column=column.name, value=beyond[0], limit=limit, what=what)
    return say("no_degrees", column=column.name, first=_example(column, column.is_number), what=what)


def _example(column: Column, no_number: bool = False) -> str:
    """The first value that stands for something, shortened; else the first."""
    given = (text for text in column.distinct[:1000] if text not in NOTHING)
    texts = (text for text in given if not (no_number and re.fullmatch(r"[+-]?\d+([.,]\d+)?", text)))
    return next((shortened(text, 40) for text in texts), column.distinct[0])


def how_to_join(path: Path, sample: _Columns, missing: Collection[str]) -> str:
    """A sentence on the file next to it that has columns for the missing fields, and an id in common; else empty."""
    if path.is_dir():
        return ""
    if "tist2015" in path.name.lower():
        return say("tist2015", folder=path.parent)
    others = sorted(item for item in path.parent.iterdir() if item != path and item.suffix.lower() in WORDS["calls"])
    for other in others[:_MOST_FILES]:
        try:
            source_format, _ = WORDS["calls"][other.suffix.lower()]
            theirs = read_sample(open_table(other, source_format, ReadOptions()), ReadOptions())
        except (DataError, OSError, UnicodeError):
            continue  # no table
        fields = {column.meaning[0] for column in theirs.values()}
        fields |= {"lat", "lon"} if any(column.point for column in theirs.values()) else set()
        keys = [] if {"user", "time"} <= fields or not fields >= {*missing} else _keys(sample, theirs)
        if keys:
            return _joining(path, other, sample, theirs, keys)
    return say("yelp") if {"review_id", "business_id"} <= set(sample) else ""


def _keys(sample: _Columns, theirs: _Columns) -> list[tuple[Column, Column]]:
    """Columns of ids that both have: one that fixes the coordinates, else all of the same name."""
    pairs = []
    for mine, other in product(sample.values(), theirs.values()):
        if not (mine.layouts or other.layouts or mine.is_degrees or other.is_degrees) and mine.distinct:
            shared = len({*mine.distinct[:1000]} & {*other.distinct}) / len(mine.distinct[:1000])
            if shared >= 0.5 and (mine.name == other.name or _are_one_id(mine, other)):
                pairs.append((mine, other))
    same = [pair for pair in pairs if pair[0].name == pair[1].name]
    spot = next((item.codes for item in theirs.values() if item.meaning[0] == "lat" or item.point), np.zeros(1))
    fixing = [pair for pair in [*same, *pairs] if not determines(pair[1].codes, spot) < 0.9]
    fixing.sort(key=lambda pair: (pair[0].meaning[0] != "poi", pair[0].name != pair[1].name))
    return fixing[:1] or same


def _are_one_id(mine: Column, other: Column) -> bool:
    """Whether two names mean a place, or say the same with or without a word for an id."""
    may_be_place = other.meaning[0] == "poi" or words_of(other.name)[-1:] in (["id"], ["code"])
    is_place = mine.meaning[0] == "poi" and may_be_place
    return is_place or bool({*words_of(mine.name)} & {*words_of(other.name)} - {"id", "name", "code", "no", "number"})


def _joining(path: Path, other: Path, sample: _Columns, theirs: _Columns, keys: list[tuple[Column, Column]]) -> str:
    """How to join a table of places: every row stays, and each place counts once."""
    mine, names = ([pair[side].name for pair in keys] for side in (0, 1))
    rows = len(keys[0][0].values)
    known = pd.DataFrame({name: theirs[name].text.to_pylist() for name in names}).drop_duplicates()
    wanted = pd.DataFrame({name: sample[column].text.to_pylist() for column, name in zip(mine, names, strict=True)})
    lost = int((wanted.merge(known, how="left", indicator=True)["_merge"] == "left_only").sum())
    table = _read(other) + f".drop_duplicates({_listed(names)})" * (len(known) < len(theirs[names[0]].values))
    twin = next((pair for *pair, _ in find_twins(sample.values()) if keys[0][0] in pair), None)
    code = _read(path)
    for prefix, column in zip(("origin_", "destination_"), twin, strict=True) if twin and len(keys) == 1 else ():
        on = f"left_on={column.name!r}, right_on={prefix + names[0]!r}"
        code += f".merge({table}.add_prefix({prefix!r}), how='left', {on})"
    if not twin or len(keys) > 1:
        on = f"on={_listed(mine)}" if mine == names else f"left_on={_listed(mine)}, right_on={_listed(names)}"
        code += f".merge({table}, how='left', {on})"
    missed = say("lost", lost=lost, rows=rows) if lost else ""
    return say("join", other=other.name, names=" and ".join(names), lost=missed, code=code)


def _listed(names: list[str]) -> str:
    return repr(names[0] if len(names) == 1 else names)


def _read(path: Path) -> str:
    source_format, call = WORDS["calls"][path.suffix.lower()]
    if source_format == "json" and not isinstance(json_or_none(read_head(path, 1)[0]), dict):
        call = call.replace(", lines=True", "")
    return f"pd.{call.format(path.name)}"
