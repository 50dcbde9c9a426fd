"""Time zones: those of a column (minutes, hours or names), and from them UTC times and offsets of check-ins."""

import re
from dataclasses import dataclass
from datetime import timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.coordinates import LONGITUDE_ZONE
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import RowBlock, decoded, shorten
from recap.errors import DataError

HELP_ZONE = (
    "name the zone of the check-ins with --timezone, for example --timezone America/New_York "
    f"(or --timezone {LONGITUDE_ZONE} for a file that spans the world)"
)
_FIXED: Final = re.compile(r"^(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?$")
_LARGEST_MINUTES: Final = 900
_LARGEST_HOURS: Final = 14


@dataclass(frozen=True, eq=False)
class ZoneNames:
    """Each row's zone.

    Attributes:
        code: index into ``zones``, -1 where the row names none that exists.
        zones: the distinct zones.
    """

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
    rows.flag(
        "tz_offset",
        code < 0,
        lambda row: f"time zone must be a name such as America/New_York, or minutes, got {shorten(names[row])}",
    )
    return ZoneNames(code, zones)


class TimeZoneResolver:
    """Turns the times of one file into UTC times and offsets. Raises DataError: the type's zone is none, or
    `local_times` contradicts the layout; the message names the option.

    Args:
        options: `timezone`, `bbox` (a named box has a zone) and `local_times` count here.
        has_offsets: the file has a column of offsets or zones, which `timezone` overrides.
        layout_is_utc: the times' type tells their zone, so that `local_times` would contradict it.
        zone_of_type: a zone that the times' type names (Parquet); the options override it.
        local_by_format: the format writes wall-clock times whatever the layout says.
    """

    def __init__(
        self,
        name: str,
        options: ReadOptions,
        *,
        has_offsets: bool,
        layout_is_utc: bool,
        local_by_format: bool = False,
        zone_of_type: str | None = None,
    ) -> None:
        self.zone = options.timezone if has_offsets else options.zone or zone_of_type
        if self.zone is not None and self.zone == zone_of_type and find_zone(self.zone) is None:
            raise DataError(f"{name}: its times name the zone {self.zone[:60]!r}, which does not exist; {HELP_ZONE}")
        if options.local_times and layout_is_utc and not local_by_format:
            raise DataError(f"{name}: --local-times, but its times are written in UTC; leave the option out")
        self.is_local = local_by_format or options.local_times
        self.repeated = self.skipped = 0

    def read(
        self, times: np.ndarray, longitudes: np.ndarray, offsets: np.ndarray | ZoneNames | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return UTC seconds (datetime64[s], NaT stays NaT) and offsets in minutes (int16, local minus UTC).

        A wall-clock time that the zone skips is moved to the end of the gap; of one that it repeats, the first is
        taken; `remarks` says how many there were.
        """
        if self.zone is not None and self.zone != LONGITUDE_ZONE:
            return self._in_zone(times, self.zone)
        if self.zone is None and isinstance(offsets, ZoneNames):
            utc, minutes = times.copy(), np.zeros(len(times), dtype=np.int16)
            for code, zone in enumerate(offsets.zones):
                rows = offsets.code == code
                utc[rows], minutes[rows] = self._in_zone(times[rows], zone)
            return utc, minutes
        if self.zone is None:
            assert isinstance(offsets, np.ndarray)
            whole = offsets.astype(np.int64)
        else:
            # Impossible longitudes are marked elsewhere; here they only must not overflow.
            whole = 60 * np.round(np.nan_to_num(longitudes).clip(-180, 180) / 15).astype(np.int64)
        utc = times - whole.astype("timedelta64[m]") if self.is_local else times
        return utc.astype("datetime64[s]"), whole.astype(np.int16)

    def remarks(self, row_report: RowReport) -> None:
        """Note times that changes of the clock made ambiguous."""
        whose = self.zone or "their zone"
        if self.repeated:
            row_report.note(f"{self.repeated} times fall into an hour that {whose} repeats; the first is taken.")
        if self.skipped:
            row_report.note(f"{self.skipped} times fall into an hour that {whose} skips; they are moved to its end.")

    def _in_zone(self, times: np.ndarray, zone: str | tzinfo) -> tuple[np.ndarray, np.ndarray]:
        aware = (
            self._from_wall_clock(pd.Series(times), zone) if self.is_local else pd.Series(times).dt.tz_localize("UTC")
        )
        utc = aware.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy("datetime64[s]")
        local = aware.dt.tz_convert(zone).dt.tz_localize(None).to_numpy("datetime64[s]")
        shift = np.where(np.isnat(utc), np.timedelta64(0, "s"), local - utc)
        return utc, (shift.astype(np.int64) // 60).astype(np.int16)

    def _from_wall_clock(self, wall: pd.Series, zone: str | tzinfo) -> pd.Series:
        first = np.ones(len(wall), dtype=bool)
        earlier = wall.dt.tz_localize(zone, ambiguous=first, nonexistent="shift_forward")
        later = wall.dt.tz_localize(zone, ambiguous=~first, nonexistent="shift_forward")
        known = wall.notna()
        self.repeated += int(((earlier != later) & known).sum())
        self.skipped += int(((earlier.dt.tz_localize(None) != wall) & known).sum())
        return earlier
