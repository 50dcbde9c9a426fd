"""Time zones by name, and those of a column: minutes, hours or names."""

import re
from dataclasses import dataclass
from datetime import timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.coordinates import LONGITUDE_ZONE
from recap.data.parsing.row_block import RowBlock, decoded, shorten

HELP_ZONE = (
    "name the zone of the check-ins with --timezone, for example --timezone America/New_York "
    f"(or --timezone {LONGITUDE_ZONE} for a file that spans the world)"
)
_FIXED: Final = re.compile(r"^(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?$")
_LARGEST_MINUTES: Final = 900
_LARGEST_HOURS: Final = 14


@dataclass(frozen=True, eq=False)
class ZoneNames:
    """Each row's zone: an index into the distinct ``zones``, -1 where the row names none that exists."""

    code: np.ndarray
    zones: tuple[tzinfo, ...]


@lru_cache(maxsize=1000)
def find_zone(name: str) -> tzinfo | None:
    """An IANA zone (``Asia/Tokyo``) or a fixed offset (``+09:00``, ``UTC-3:30``); None where it is neither."""
    if fixed := _FIXED.match(name):
        minutes = 60 * int(fixed[2]) + int(fixed[3] or 0)
        way = -1 if fixed[1] == "-" else 1
        return timezone(timedelta(minutes=way * minutes)) if minutes <= _LARGEST_MINUTES else None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


class ZoneColumn:
    """The column of one file; whether it holds names, minutes or hours is decided by its first rows."""

    def __init__(self, column: str) -> None:
        self.column = column
        self._minutes: int | None = None
        """Minutes of a unit; 0 for names."""

    def read(self, rows: RowBlock) -> np.ndarray | ZoneNames:
        """Minutes (int64, local minus UTC) or zones of the rows; what is neither is marked."""
        if self._minutes is None and _are_names(decoded(rows.columns[self.column])):
            self._minutes = 0
        if self._minutes == 0:
            return _read_names(rows, self.column)
        what = "timezone offset in minutes or hours"
        values = rows.number(self.column, "tz_offset", what, -_LARGEST_MINUTES, _LARGEST_MINUTES)
        numbers = np.nan_to_num(np.asarray(values.to_numpy(zero_copy_only=False)))
        if self._minutes is None:
            self._minutes = 60 if 0 < np.abs(numbers).max(initial=0) <= _LARGEST_HOURS else 1
        minutes = self._minutes * numbers.clip(-_LARGEST_MINUTES, _LARGEST_MINUTES)
        rows.flag("tz_offset", minutes % 1 != 0, lambda row: f"{what} must be whole minutes, got {numbers[row]:g}")
        return minutes.astype(np.int64)


def _are_names(values: pa.Array) -> bool:
    if not pa.types.is_string(values.type):
        return False
    sample = values.slice(0, 1000)
    sample = sample.filter(pc.greater(pc.binary_length(sample), 0))
    named = pc.match_substring_regex(sample, r"[A-Za-z]|\d:\d")
    return len(sample) > 0 and 2 * (pc.sum(named).as_py() or 0) > len(sample)


def _read_names(rows: RowBlock, column: str) -> ZoneNames:
    names = pc.dictionary_encode(rows.text(column))
    found = [find_zone(name) for name in names.dictionary.to_pylist()]
    zones = tuple(zone for zone in found if zone is not None)
    place = np.array([-1 if zone is None else zones.index(zone) for zone in found], dtype=np.int64)
    code = place[names.indices.to_numpy(zero_copy_only=False)] if len(found) else np.empty(0, np.int64)
    expected = "time zone must be a name such as America/New_York, or minutes"
    rows.flag("tz_offset", code < 0, lambda row: f"{expected}, got {shorten(names[row])}")
    return ZoneNames(code, zones)
