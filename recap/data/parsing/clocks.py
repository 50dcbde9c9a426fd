"""Times of day of a column of their own, as people and programs write them, in one spelling."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.row_block import NOTHING, RowBlock, decoded
from recap.data.parsing.times import CLOCK, count_plausible, detect_layout

_MOST: Final = 0.95
"""Share of the values that must read as clocks."""
_FIRST: Final = 300
_DAY: Final = 86_400
_LONGEST: Final = 40
_NUMBER: Final = re.compile(r"\d{1,6}(?:\.0+)?")
_SERIAL: Final = re.compile(r"(3[3-9]|[4-7]\d)\d{3}([.,]0+)?")
"""A day as spreadsheets number it, of 1990 to 2099."""
_FIRST_DAY: Final = np.datetime64("1899-12-30")
_MIDNIGHT: Final = re.compile(r"[ T]0?0:00(:00(\.0+)?)?$")
_SHARE: Final = re.compile(r"0?[.,]\d+(?:[eE]-\d+)?|0|0\.0+")


Clock = Callable[[str], str | None]
"""Reads a clock as 07:13:09, with its fraction and offset; None if it is none."""


def find_clock(text: pa.Array, is_named: bool = True) -> Clock | None:
    """How clocks are written: as text, digits (7, 930, 93005), minutes or seconds of the day, or a share of it; None if
    no way reads nearly all values. ``is_named``: the column's name says that numbers may be clocks.
    """
    distinct = pc.value_counts(text).to_pylist()
    counts = {item["values"]: item["counts"] for item in distinct if item["values"] and item["values"] not in NOTHING}
    if not _most(counts, _NUMBER.fullmatch):
        if is_named and _most(counts, _SHARE.fullmatch):
            return partial(_read_part, unit=_DAY, form=_SHARE)
        return _read_text if _are_no_days(counts) and _most(counts, _read_text) else None
    numbers = [value.partition(".")[0] for value in counts if _NUMBER.fullmatch(value)]
    width, largest = max(map(len, numbers)), max(map(int, numbers))
    clocks = [partial(_read_digits, width=width + width % 2)]
    clocks += [partial(_read_part, unit=unit, form=_NUMBER) for unit in (60, 1) if largest * unit < _DAY]
    return next((clock for clock in clocks if is_named and _most(counts, clock)), None)


def spell_clocks(text: pa.Array, clock: Clock | None = None) -> pa.Array:
    """Clocks in one spelling, 07:13:09, as ``clock`` or else the values say; other text is left alone."""
    values = pc.dictionary_encode(text)
    clock = clock or find_clock(text)
    if clock is None:
        return text
    spelled = pa.array([clock(value.strip()) for value in values.dictionary.to_pylist()], pa.string())
    return pc.coalesce(pc.take(spelled, values.indices), text)  # a long text stays where it is


def _most(counts: Mapping[str, int], reads: Callable[[str], object]) -> bool:
    """Whether nearly all values are read, and most of the first ones, which saves looking at the others."""
    first = [*counts][:_FIRST]
    if 2 * sum(reads(value) is not None for value in first) < len(first) or not first:
        return False
    read = sum(count for value, count in counts.items() if reads(value) is not None)
    return read >= _MOST * sum(counts.values())


def _read_text(text: str) -> str | None:
    match = CLOCK.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None or not (match["minute"] or match["half"] or match["mark"] in ("h", "H", "時", "时", "点")):
        return None
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "p")
    fraction = (match["fraction"] or "").replace(",", ".") if match["second"] else ""
    clock = f"{hour:02}:{int(match['minute'] or 0):02}:{int(match['second'] or 0):02}{fraction}"
    zone = (match["zone"] or "").upper()
    return clock + (zone if zone != "Z" or text[:1] != "1" or "-" not in text else "")


def _read_digits(text: str, width: int) -> str | None:
    """Hours, minutes and seconds without marks; the longest number of the column has ``width`` digits."""
    digits = f"{int(text.partition('.')[0]):0{width}}".ljust(6, "0") if _NUMBER.fullmatch(text) else ""
    return _read_text(":".join(re.findall("..", digits)))


def _read_part(text: str, unit: int, form: re.Pattern[str]) -> str | None:
    """A number of days, minutes or seconds; ``unit``: seconds of one."""
    seconds = round(unit * float(text.replace(",", "."))) if form.fullmatch(text) else -1
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}" if 0 <= seconds < _DAY else None


def _are_no_days(values: Iterable[str]) -> bool:
    """Whether parts between dots or dashes are too large for a day, such as in 12.38.13."""
    parts = [re.split(r"[.-]", value) for value in values if re.fullmatch(r"\d\d?[.-]\d\d?(?:[.-]\d\d?)?", value)]
    return not parts or max(int(part) for groups in parts for part in groups[1:]) > 31


def join_clock(
    rows: RowBlock, time: str, date: str, clock: Clock | None = None, time_format: str | None = None
) -> pa.Array:
    """Days and clocks of two columns as one text, clocks in one spelling unless the format reads them as they are."""
    days, given = _days(rows, date), rows.text(time)
    spelled = spell_clocks(given, clock)
    # What is no clock must not pass for an hour.
    mark = pc.if_else(pc.match_substring_regex(spelled, r"^\d\d:\d\d:\d\d"), " ", " and ")
    joined = pc.binary_join_element_wise(days, mark, spelled, "")
    if time_format is None:
        return joined
    as_given = pc.binary_join_element_wise(days, given, " ")
    layout = detect_layout(as_given, time_format)
    return as_given if count_plausible(layout.parse(as_given)) > count_plausible(layout.parse(joined)) else joined


def _days(rows: RowBlock, date: str) -> pa.Array:
    """The column of days as text, without the midnight that some programs write after a day, or their numbers."""
    values = decoded(rows.columns[date])
    if pa.types.is_timestamp(values.type):
        rows.columns[date] = pc.cast(values, pa.date32(), safe=False)
        return rows.text(date)
    days = pc.dictionary_encode(rows.text(date))
    spelled = [
        str(_FIRST_DAY + int(day[:5])) if _SERIAL.fullmatch(day) else _MIDNIGHT.sub("", day)
        for day in days.dictionary.to_pylist()
    ]
    return pc.take(pa.array(spelled, pa.string()), days.indices)
