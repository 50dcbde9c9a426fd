"""Parse times in the formats of check-in files, one column at a time; unreadable ones become null."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta, timezone, tzinfo
from functools import lru_cache, partial
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.formats import read_words
from recap.data.parsing.row_block import decoded, to_numbers
from recap.errors import DataError

_WORDS: Final = read_words("times")
AMBIGUOUS: Final = _WORDS["ambiguous"]
_MINUTES: Final = {name: int(minutes) for minutes, names in _WORDS["zones"].items() for name in names.split()}
MONTHS: Final = tuple(_WORDS["months"])
LARGEST_MINUTES: Final = 900
CLOCK: Final = re.compile(_WORDS["patterns"]["clock"], re.IGNORECASE)
_FIXED: Final = re.compile(r"^(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?$")
_NAMED_ZONE: Final[str] = _WORDS["patterns"]["named_zone"]
_UTC_NAMES: Final = (None, "UTC", "Etc/UTC", "Z", "+00:00", "GMT")
_SECONDS: Final = pa.timestamp("s")
EARLIEST, LATEST = np.datetime64("1990-01-01", "s"), np.datetime64("2100-01-01", "s")
_ZONED_ISO: Final = r"\d[T ]\d{2}:?\d{2}.*(?:[Zz]|[+-]\d{2}(?::?\d{2})?)$"
_OFFSET: Final[str] = _WORDS["patterns"]["offset"]
_UNITS: Final = {1: 1e11, 10**3: 1e14, 10**6: 1e17, 10**9: np.inf}
"""Numbers of a second -> values from which on the next unit is meant; 1990 to 2099 is different in each."""
UNIT_NAMES: Final = dict(zip(_UNITS, ("seconds", "milliseconds", "microseconds", "nanoseconds"), strict=True))
_FIRST_DAY: Final = -25_569
"""Day 0 of spreadsheets, 30 December 1899, in days since 1970."""


@lru_cache(maxsize=1000)
def find_zone(name: str) -> tzinfo | None:
    """An IANA zone (``Asia/Tokyo``) or a fixed offset (``+09:00``, ``UTC-3:30``); None where it is neither."""
    if fixed := _FIXED.match(name):
        minutes = 60 * int(fixed[2]) + int(fixed[3] or 0)
        way = -1 if fixed[1] == "-" else 1
        return timezone(timedelta(minutes=way * minutes)) if minutes <= LARGEST_MINUTES else None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def tidy_times(text: pa.Array) -> pa.Array:
    """Times with one blank, padded clocks and offsets such as +01:00, also for CET, GMT+1 or [Europe/Berlin]."""
    for pattern, spelling in _WORDS["tidy"].items():
        text = pc.replace_substring_regex(text, pattern, spelling)
    parts = pc.extract_regex(text, _NAMED_ZONE)
    names = pc.dictionary_encode(pc.struct_field(parts, "zone"))
    if not len(names.dictionary):
        return text
    known = [_MINUTES.get(name.upper()) for name in names.dictionary.to_pylist()]
    minutes = pc.take(pa.array(known, pa.int64()), names.indices)
    before = pc.struct_field(parts, "before")
    for code, name in enumerate(names.dictionary.to_pylist()):
        if known[code] is None and "/" in name:
            of_zone = pc.equal(names.indices, code)
            minutes = pc.if_else(of_zone, _offsets_in(pc.if_else(of_zone, before, None), name), minutes)
    distinct = pc.dictionary_encode(minutes)
    spelled = [f" {'-' if m < 0 else '+'}{abs(m) // 60:02}:{abs(m) % 60:02}" for m in distinct.dictionary.to_pylist()]
    offsets = pc.take(pa.array(spelled, pa.string()), distinct.indices)
    after = pc.fill_null(pc.struct_field(parts, "after"), "")
    return pc.coalesce(pc.binary_join_element_wise(before, offsets, after, ""), text)


def _offsets_in(wall: pa.Array, name: str) -> pa.Array:
    """Minutes of a named zone at ISO wall-clock times; null where it is no zone or the time is none."""
    zone = find_zone(name)
    if zone is None:
        return pa.nulls(len(wall), pa.int64())
    times = pd.to_datetime(pd.Series(wall.to_pandas(), dtype=object), format="ISO8601", errors="coerce")
    first = np.ones(len(times), dtype=bool)
    utc = times.dt.tz_localize(zone, ambiguous=first, nonexistent="shift_forward").dt.tz_convert("UTC")
    return pa.array((times - utc.dt.tz_localize(None)).dt.total_seconds() // 60, pa.int64(), from_pandas=True)


@dataclass(frozen=True)
class TimeLayout:
    """One way to write a time; ``example`` is shown where a value does not fit."""

    example: str
    is_utc: bool
    """The text itself tells UTC; otherwise it is a wall-clock time or a naive UTC time."""
    parse: Callable[[pa.Array], pa.Array]
    """Text or typed column -> ``timestamp[s]`` without zone, null where unreadable; UTC where ``is_utc``."""
    zone: str | None = None
    """The zone that a typed column names, if not UTC, such as America/New_York or +02:00."""


def _parse_ctime(text: pa.Array) -> pa.Array:
    """``Tue Apr 03 18:00:09 +0000 2012``, whatever its weekday."""
    fits = pc.match_substring_regex(text, r"^.{4}[A-Z][a-z]{2} \d\d \d\d:\d\d:[0-5]\d \+0000 \d{4}$")
    text = pc.utf8_slice_codeunits(pc.if_else(fits, text, None), 4)
    times = pc.strptime(text, format="%b %d %H:%M:%S +0000 %Y", unit="s", error_is_null=True)
    day = pc.cast(pc.utf8_slice_codeunits(text, 4, 6), pa.int64())
    return pc.if_else(pc.equal(pc.day(times), day), times, None)  # 31 April would be 1 May


def _parse_iso(text: pa.Array, *, zoned: bool = False) -> pa.Array:
    """ISO 8601 to whole seconds (fractions are cut off), with ``Z`` or an offset as UTC, or without."""
    try:
        times = pc.cast(text, pa.timestamp("us", "UTC" if zoned else None))
    except pa.ArrowInvalid:
        trimmed = pc.utf8_trim_whitespace(text)
        is_zoned = pc.match_substring_regex(trimmed, _ZONED_ISO)
        fits = is_zoned if zoned else pc.invert(pc.or_(is_zoned, pc.match_substring_regex(trimmed, r":\d\d ?[+-]\d$")))
        fits = pc.and_(fits, pc.match_substring_regex(trimmed, r"^\d{4}-\d{2}-\d{2}|^\d{8}T\d{4}"))
        series = pd.Series(pc.if_else(fits, trimmed, None).to_pandas(), dtype=object)
        parsed = pd.to_datetime(series, format="ISO8601", errors="coerce", utc=True).dt.tz_localize(None)
        times = pa.array(parsed.astype("datetime64[us]"))
    return pc.cast(pc.floor_temporal(times, unit="second"), _SECONDS, safe=False)


def _parse_epochs(values: pa.Array) -> pa.Array:
    """Seconds, milliseconds, microseconds or nanoseconds since 1970, each value by its size."""
    numbers = to_numbers(values)
    units = pc.fill_null(epoch_units(numbers), 1.0)
    seconds = pc.floor(pc.divide(numbers, units))
    fits = pc.less(pc.abs(seconds), 1e11)  # NaN and what no calendar holds become null
    return pc.cast(pc.cast(pc.if_else(fits, seconds, None), pa.int64()), _SECONDS)


def epoch_units(numbers: pa.Array) -> pa.Array:
    """How many of its units a second has, by the size of each number: 1, 1,000, a million or a billion."""
    size = np.abs(numbers.to_numpy(zero_copy_only=False))
    limits = np.array([*_UNITS.values()])
    return pa.array(np.array([*_UNITS], float)[np.searchsorted(limits, np.nan_to_num(size), side="right").clip(max=3)])


def _parse_spreadsheet(values: pa.Array) -> pa.Array:
    """Days since the end of 1899, with the time of day as their fraction."""
    days = pc.add(to_numbers(values), float(_FIRST_DAY))
    fits = pc.less(pc.abs(days), 1e5)
    seconds = pc.round(pc.multiply(pc.if_else(fits, days, None), 86_400.0))
    return pc.cast(pc.cast(seconds, pa.int64()), _SECONDS)


def in_english(text: pa.Array) -> pa.Array:
    """Months as Jan, Feb, …, and `p. m.` as pm."""
    for month, abroad in _WORDS["months"].items():
        text = pc.replace_substring_regex(text, rf"(?i)\b(?:{abroad})\pL*", month)
    return pc.replace_substring_regex(text, r"(?i)\b([ap])\.? ?m\b\.?", r"\1m")


def strptime_layout(time_format: str, example: str = "") -> TimeLayout:
    """A format in strptime's letters; UTC if it has an offset."""

    def parse(text: pa.Array) -> pa.Array:
        text = pc.cast(text, pa.string())
        text = in_english(text) if any(letter in time_format for letter in ("%b", "%B", "%p")) else text
        series, form = pd.Series(text.to_pandas(), dtype=object), time_format.replace("%B", "%b")
        times = pd.to_datetime(series, format=form, errors="coerce", utc=True).dt.tz_localize(None)
        return pa.array(times.astype("datetime64[s]"))

    return TimeLayout(example, "%z" in time_format or "%Z" in time_format, parse)


CTIME: Final = TimeLayout("Tue Apr 03 18:00:09 +0000 2012", True, _parse_ctime)
ISO_ZONED: Final = TimeLayout("2012-04-03T18:00:09Z", True, partial(_parse_iso, zoned=True))
ISO_NAIVE: Final = TimeLayout("2012-04-03 18:00:09", False, _parse_iso)
EPOCH: Final = TimeLayout("1333476009", True, _parse_epochs)
SPREADSHEET: Final = TimeLayout("41002.750104", False, _parse_spreadsheet)
LAYOUTS: Final = (ISO_ZONED, ISO_NAIVE, CTIME, EPOCH, SPREADSHEET)
NAMED_LAYOUTS: Final = {"iso": (ISO_ZONED, ISO_NAIVE), "epoch": (EPOCH,), "spreadsheet": (SPREADSHEET,)}
"""What `--time-format` names next to strptime's letters."""


def detect_layout(values: pa.Array, time_format: str | None = None) -> TimeLayout:
    """The layout that reads most of the first values as plausible times. Raises DataError: ``time_format`` is none."""
    layouts: tuple[TimeLayout, ...] = NAMED_LAYOUTS.get(time_format or "", LAYOUTS)
    if time_format is not None and time_format not in NAMED_LAYOUTS:
        try:
            example = pd.Timestamp("2012-04-03 18:00:09", tz="UTC").strftime(time_format)
            pd.to_datetime([example], format=time_format, utc=True)
        except ValueError as error:
            raise DataError(
                f"--time-format {time_format!r} is not a strptime format ({error}), nor one of "
                f"{', '.join(NAMED_LAYOUTS)}"
            ) from error
        return strptime_layout(time_format, example)
    values = decoded(values)
    if pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
        zone = getattr(values.type, "tz", None)
        return TimeLayout("2012-04-03 18:00:09", zone is not None, _typed, None if zone in _UTC_NAMES else zone)
    sample = values.slice(0, 1000)
    if pa.types.is_string(sample.type):
        sample = pc.utf8_trim_whitespace(sample.filter(pc.greater(pc.binary_length(sample), 0)))
    else:
        layouts = tuple(layout for layout in layouts if layout in (EPOCH, SPREADSHEET)) or (EPOCH,)
    counts = [count_plausible(layout.parse(sample)) for layout in layouts]
    if max(counts) < len(sample) and pa.types.is_string(sample.type):
        tidy = tidy_times(sample)
        counts = [max(count, count_plausible(one.parse(tidy))) for count, one in zip(counts, layouts, strict=True)]
    return layouts[counts.index(max(counts))]


def _typed(values: pa.Array) -> pa.Array:
    if pa.types.is_date(values.type):
        return pc.cast(values, _SECONDS)
    utc = values.view(pa.timestamp(values.type.unit))  # the stored number counts from 1970 in UTC whatever the zone
    return pc.cast(pc.floor_temporal(utc, unit="second"), _SECONDS, safe=False)


def read_spelled(layout: TimeLayout, values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Times as a layout reads them, as they are or else in its spelling; also the values in that spelling."""
    times = layout.parse(values)
    if times.null_count and pa.types.is_string(values.type) and layout not in (EPOCH, SPREADSHEET):
        values = pc.utf8_trim_whitespace(values)
        times = layout.parse(values)
        unread = pc.is_null(times)
        tidy = tidy_times(values.filter(unread))
        values = pc.replace_with_mask(values, unread, tidy)
        times = pc.replace_with_mask(times, unread, layout.parse(tidy))
    return times, values


def is_plausible(seconds: np.ndarray) -> np.ndarray:
    """Which times are between 1990 and 2099; NaT is not."""
    return np.asarray((seconds >= EARLIEST) & (seconds < LATEST))


def count_plausible(times: pa.Array) -> int:
    """How many times are between 1990 and 2099."""
    return int(is_plausible(times.to_numpy(zero_copy_only=False)).sum())


def iso_offsets(times: pa.Array) -> np.ndarray | None:
    """Minutes of the offsets that times carry (``-04:00`` -> -240); None where all are UTC or none is text."""
    times = decoded(times)
    if not pa.types.is_string(times.type):
        return None
    parts = pc.extract_regex(times, _OFFSET)
    if parts.null_count == len(parts):
        return None
    sign, hours, beyond = parts.flatten()
    beyond = pc.if_else(pc.equal(beyond, ""), "0", beyond)
    minutes = pc.add(pc.multiply(pc.cast(hours, pa.int64()), 60), pc.cast(beyond, pa.int64()))
    signed = pc.if_else(pc.equal(sign, "-"), pc.negate(minutes), minutes)
    offsets = np.asarray(pc.fill_null(signed, 0).to_numpy(zero_copy_only=False)).astype(np.int64)
    return offsets if offsets.any() else None


_SAMPLE: Final = 300
_FORMS: Final = 8
"""Values whose forms are compared; some have an hour or a weekday more."""
_WRITTEN_CLOCK: Final = re.compile(_WORDS["patterns"]["written_clock"], re.IGNORECASE)
_LETTERS: Final = {"minute": "%M", "second": "%S", "fraction": "%f", "half": "%p", "offset": "%z", "zone": "%Z"}
_TOGETHER: Final = {14: ["%Y%m%d%H%M%S"], 12: ["%Y%m%d%H%M"], 8: ["%Y%m%d", "%d%m%Y", "%m%d%Y"]}
_WEEK: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_LITERAL: Final = " T at on um Uhr den le à a las del de 年 月 日 "
"""Words next to days and clocks that mean nothing more; others, such as an afternoon in Korean, may."""


def written_layouts(values: Sequence[str], least: float) -> list[str]:
    """strptime layouts of the first values, best first, if it reads the share ``least`` as plausible times."""
    text = in_english(tidy_times(pa.array(values[:_SAMPLE], pa.string())))
    forms = dict.fromkeys(form for value in text.to_pylist()[:_FORMS] for form in _layouts_of(value))
    read = {form: count_plausible(strptime_layout(form).parse(text)) / len(text) for form in forms}
    is_read = max(read.values(), default=0) >= least
    return sorted((form for form in read if is_read and read[form] > 0.5), key=lambda form: -read[form])


def _layouts_of(text: str) -> list[str]:
    text = " ".join(text[:60].replace("%", "?").split())
    clock = _WRITTEN_CLOCK.search(text)
    if clock is None:
        return _days(text)
    letters = _LETTERS | {"hour": "%I" if clock["half"] else "%H"}
    form = "".join(letters.get(name, part) for name, part in clock.groupdict().items() if part)
    return [day.replace("\0", form) for day in _days(f"{text[: clock.start()]}\0{text[clock.end() :]}")]


def _days(text: str) -> list[str]:
    """Layouts of the days in a text: weekdays and months by name, years by their four digits, numbers in each order."""
    pieces = re.split(r"(\d+|[^\W\d_]+)", text)
    numbers = [place for place, piece in enumerate(pieces) if piece.isdigit()]
    if len(numbers) == 1:
        return [text.replace(pieces[numbers[0]], form) for form in _TOGETHER.get(len(pieces[numbers[0]]), [])]
    orders = ["dmy", "mdy", "ymd"]
    for place, piece in enumerate(pieces):
        if piece in MONTHS and len(orders) == 3:
            pieces[place], orders = "%b", ["dy", "yd"]
        elif piece[:3].title() in _WEEK:
            pieces[place] = "%a" if len(piece) == 3 else "%A"
        elif piece.isalpha() and f" {piece} " not in _LITERAL:
            return []
    years = [number for number, place in enumerate(numbers) if len(pieces[place]) == 4]
    days = []
    for order in orders:
        if len(numbers) == len(order) and (not years or order.index("y") == years[0]):
            for place, letter in zip(numbers, order, strict=True):
                pieces[place] = "%Y" if years and letter == "y" else f"%{letter}"
            days.append("".join(pieces))
    return days
