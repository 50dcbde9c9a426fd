"""When the check-ins of a source happened: UTC times, and offsets from UTC in minutes, block by block."""

from collections import Counter
from collections.abc import Mapping
from datetime import tzinfo
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.coordinates import LONGITUDE_ZONE, propose_zone
from recap.data.parsing.clocks import ClockStyle, join_clock
from recap.data.parsing.column_names import says
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import RowBlock, decoded, shorten, to_numbers
from recap.data.parsing.table_source import TableSource
from recap.data.parsing.times import (
    AMBIGUOUS,
    CTIME,
    EPOCH,
    ISO_ZONED,
    LARGEST_MINUTES,
    UNIT_NAMES,
    TimeLayout,
    detect_layout,
    epoch_units,
    find_zone,
    iso_offsets,
    read_times,
)
from recap.errors import DataError

HELP_ZONE = (
    "name the zone of the check-ins with --timezone, for example --timezone America/New_York "
    f"(or --timezone {LONGITUDE_ZONE} for a file that spans the world)"
)
_LARGEST_HOURS: Final = 14


_Zones = tuple[np.ndarray, list[tzinfo]]
"""Each row's zone: an index into distinct ones, -1 where the row names none that exists."""


class Moments:
    """Reads the columns of times and zones; what the first block decides, such as the layout, holds for all. ``zone``:
    of all check-ins; None where each has its own; ``proposed`` by the coordinates. ``is_marked``: times were written as
    UTC, without offsets.
    """

    def __init__(self, source: TableSource, options: ReadOptions, report: RowReport) -> None:
        self.name, self.layout, self.local_by_format = source.name, source.layout, source.is_local
        self.options, self.report = options, report
        self.zone: str | None = None
        self.is_marked = False
        self.proposed: str | None = None
        self._is_first, self._is_local, self._is_local_by_name = True, False, False
        self._zone_unit: int | None = None
        """Minutes of a unit of the column of zones; 0 for names."""
        self._clocks: ClockStyle | None = None
        self._units: Counter[int] = Counter()
        self._repeated = self._skipped = 0

    def read(
        self, rows: RowBlock, fields: Mapping[str, str], latitude: np.ndarray, longitude: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """UTC seconds (datetime64[s], NaT where marked) and offsets in minutes (int16, local minus UTC); `remarks` says
        how many wall-clock times the zone skips or repeats. Raises DataError: no zone is known, or options contradict
        the times.
        """
        offsets: np.ndarray | _Zones | None = None
        if "tz" in fields and self.options.timezone is None:
            offsets = self._read_zones(rows, fields["tz"])
        times, layout = self._read_times(rows, fields["time"], fields.get("date"))
        carried = None
        is_zoned = self.zone is not None or self.options.zone is not None or self._is_local_by_name
        if offsets is None and layout.is_utc and not is_zoned:
            offsets = carried = iso_offsets(rows.columns[fields["time"]])
            if offsets is None and not self._is_first:
                offsets = np.zeros(len(rows), dtype=np.int64)
        if self.options.local_times and layout.is_utc and not (self.local_by_format or layout.zone):
            self.report.note("Times are written in UTC or with an offset; --local-times takes their clocks as local.")
            written = iso_offsets(rows.columns[fields["time"]])
            times = times if written is None else times + written.astype("timedelta64[m]")
        if self._is_first:
            self._decide_zone(offsets is not None, layout, latitude, longitude)
            self.is_marked = layout.is_utc and not self._is_local and carried is None
        return self._in_utc(times, longitude, np.zeros(len(rows), np.int64) if offsets is None else offsets)

    def remarks(self) -> None:
        """Note units that are mixed, and times that changes of the clock made ambiguous."""
        if len(self._units) > 1:
            parts = [f"{count:,} in {UNIT_NAMES[unit]}" for unit, count in self._units.most_common()]
            self.report.note(f"Times since 1970 are in different units: {', '.join(parts)}; each is read in its own.")
        whose = self.zone or "their zone"
        changes = {"repeats; the first is taken": self._repeated, "skips; they are moved to its end": self._skipped}
        for what, count in changes.items():
            if count:
                self.report.note(f"{count} times fall into an hour that {whose} {what}.")

    def _read_zones(self, rows: RowBlock, column: str) -> np.ndarray | _Zones:
        """Minutes (int64, local minus UTC) or zones of a column; whether it holds names, minutes or hours is decided by
        its first rows. What is neither is marked.
        """
        if self._zone_unit is None and _are_names(decoded(rows.columns[column])):
            self._zone_unit = 0
        if self._zone_unit == 0:
            return _read_names(rows, column)
        what = "timezone offset in minutes or hours"
        values = rows.number(column, "tz_offset", what, -LARGEST_MINUTES, LARGEST_MINUTES)
        numbers = np.nan_to_num(np.asarray(values))
        if self._zone_unit is None:
            self._zone_unit = 60 if 0 < np.abs(numbers).max(initial=0) <= _LARGEST_HOURS else 1
        minutes = self._zone_unit * numbers.clip(-LARGEST_MINUTES, LARGEST_MINUTES)
        rows.flag("tz_offset", minutes % 1 != 0, lambda row: f"{what} must be whole minutes, got {numbers[row]:g}")
        return minutes.astype(np.int64)

    def _read_times(self, rows: RowBlock, column: str, date: str | None) -> tuple[np.ndarray, TimeLayout]:
        """Times as written, and their layout; those of two columns are joined first."""
        if date is not None:
            self._clocks = self._clocks or ClockStyle.of(rows.text(column))
            rows.columns[column] = join_clock(rows, column, date, self._clocks, self.options.time_format)
        values = decoded(rows.columns[column])
        is_named = self._is_first and self.options.timezone is None and pa.types.is_string(values.type)
        for name, meanings in AMBIGUOUS.items() if is_named else ():
            if pc.any(pc.match_substring_regex(values, rf"\b{name}\b")).as_py():
                self.report.note(f"{name} is read as {meanings}, name that zone with --timezone and --local-times.")
        layout = self.layout = self.layout or detect_layout(rows.columns[column], self.options.time_format)
        if says(column, "local"):
            self._believe_name(rows, column, layout)
        if layout is EPOCH:
            units, counts = np.unique(epoch_units(to_numbers(values).drop_null()), return_counts=True)
            self._units.update(dict(zip(units.tolist(), counts.tolist(), strict=True)))
        return read_times(rows, column, layout), layout

    def _believe_name(self, rows: RowBlock, column: str, layout: TimeLayout) -> None:
        """Whether times are local because the column's name says so and they have no offset, or all zero."""
        is_typed = layout.is_utc and layout.zone is None and pa.types.is_timestamp(rows.columns[column].type)
        carries_zero = layout in (ISO_ZONED, CTIME) or is_typed
        has_others = layout is ISO_ZONED and iso_offsets(rows.columns[column]) is not None
        if self._is_first:
            self._is_local_by_name = not layout.is_utc or (carries_zero and not has_others)
            if self._is_local_by_name and not self.options.local_times:
                zero = ", though they are written with a zero offset" if layout.is_utc else ""
                self.report.note(f"Times of the column {column} are taken as local, as its name says{zero}.")
        elif self._is_local_by_name and has_others:
            raise DataError(
                f"{self.name}: times of the column {column!r} carry a zero offset first and others later; name their "
                "layout, for example --time-format '%Y-%m-%dT%H:%M:%S%z'"
            )

    def _decide_zone(self, has_offsets: bool, layout: TimeLayout, latitude: np.ndarray, longitude: np.ndarray) -> None:
        self._is_first = False
        if not (has_offsets or self.options.zone or layout.zone):
            self.proposed = propose_zone(latitude, longitude)
            if not self.options.take_proposed_zone:
                raise DataError(f"{self.name} has no time zone; its coordinates suggest --timezone {self.proposed}")
            self.options = self.options.model_copy(update={"timezone": self.proposed})
            self.report.note(f"The file has no time zone; its coordinates suggest --timezone {self.proposed}.")
        self.zone = self.options.timezone if has_offsets else self.options.zone or layout.zone
        if self.zone is not None and self.zone == layout.zone and find_zone(self.zone) is None:
            raise DataError(
                f"{self.name}: its times name the zone {self.zone[:60]!r}, which does not exist; {HELP_ZONE}"
            )
        by_format = self.local_by_format or self._is_local_by_name
        if self.options.local_times and layout.zone is not None and not by_format:
            raise DataError(f"{self.name}: --local-times, but its times are written in UTC; leave the option out")
        self._is_local = by_format or self.options.local_times

    def _in_utc(
        self, times: np.ndarray, longitude: np.ndarray, offsets: np.ndarray | _Zones
    ) -> tuple[np.ndarray, np.ndarray]:
        if not isinstance(offsets, np.ndarray):
            codes, zones = offsets
            utc, minutes = times.copy(), np.zeros(len(times), dtype=np.int16)
            for code, zone in enumerate(zones):
                utc[codes == code], minutes[codes == code] = self._in_zone(times[codes == code], zone)
            return utc, minutes
        whole = offsets
        if self.zone == LONGITUDE_ZONE:  # impossible longitudes are marked elsewhere; here they only must not overflow
            whole = 60 * np.round(np.nan_to_num(longitude).clip(-180, 180) / 15).astype(np.int64)
        elif self.zone is not None:
            return self._in_zone(times, self.zone)
        utc = times - whole.astype("timedelta64[m]") if self._is_local else times
        return utc.astype("datetime64[s]"), whole.astype(np.int16)

    def _in_zone(self, times: np.ndarray, zone: str | tzinfo) -> tuple[np.ndarray, np.ndarray]:
        series = pd.Series(times)
        aware = self._from_wall_clock(series, zone) if self._is_local else series.dt.tz_localize("UTC")
        utc = aware.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy("datetime64[s]")
        local = aware.dt.tz_convert(zone).dt.tz_localize(None).to_numpy("datetime64[s]")
        shift = np.where(np.isnat(utc), np.timedelta64(0, "s"), local - utc)
        return utc, (shift.astype(np.int64) // 60).astype(np.int16)

    def _from_wall_clock(self, wall: pd.Series, zone: str | tzinfo) -> pd.Series:
        first = np.ones(len(wall), dtype=bool)
        earlier = wall.dt.tz_localize(zone, ambiguous=first, nonexistent="shift_forward")
        later = wall.dt.tz_localize(zone, ambiguous=~first, nonexistent="shift_forward")
        known = wall.notna()
        self._repeated += int(((earlier != later) & known).sum())
        self._skipped += int(((earlier.dt.tz_localize(None) != wall) & known).sum())
        return earlier


def _are_names(values: pa.Array) -> bool:
    if not pa.types.is_string(values.type):
        return False
    sample = values.slice(0, 1000).drop_null()
    named = pc.match_substring_regex(sample.filter(pc.not_equal(sample, "")), r"[A-Za-z]|\d:\d")
    return (pc.mean(named).as_py() or 0) > 0.5


def _read_names(rows: RowBlock, column: str) -> _Zones:
    names = pc.dictionary_encode(rows.text(column))
    found = [find_zone(name) for name in names.dictionary.to_pylist()]
    zones = [zone for zone in found if zone is not None]
    place = np.array([-1 if zone is None else zones.index(zone) for zone in found], dtype=np.int64)
    code = place[names.indices.to_numpy(zero_copy_only=False)]
    expected = "time zone must be a name such as America/New_York, or minutes"
    rows.flag("tz_offset", code < 0, lambda row: f"{expected}, got {shorten(names[row])}")
    return code, zones
