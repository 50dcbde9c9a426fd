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
from recap.data.parsing.clocks import Clock, find_clock, join_clock
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
    is_plausible,
    iso_offsets,
    read_spelled,
)
from recap.errors import DataError

HELP_ZONE = (
    "name the zone of the check-ins with --timezone, for example --timezone America/New_York "
    f"(or --timezone {LONGITUDE_ZONE} for a file that spans the world)"
)
_LARGEST_HOURS: Final = 14


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
        self._clock: Clock | None = None
        self._units: Counter[int] = Counter()
        self._repeated = self._skipped = 0

    def read(
        self, rows: RowBlock, fields: Mapping[str, str], latitude: np.ndarray, longitude: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """UTC seconds (datetime64[s], NaT where marked) and offsets in minutes (int16, local minus UTC). Raises
        DataError: no zone is known, or options contradict the times.
        """
        is_given = "tz" in fields and self.options.timezone is None
        zones = self._read_zones(rows, fields["tz"]) if is_given else None
        layout, times, written = self._read_times(rows, fields["time"], fields.get("date"))
        is_zoned = self.zone is not None or self.options.zone is not None or self._is_local_by_name
        offsets = zones if is_given or is_zoned else written
        if self.options.local_times and layout.is_utc and not (self.local_by_format or layout.zone):
            self.report.note("Times are written in UTC or with an offset; --local-times takes their clocks as local.")
            times = times if written is None else times + written.astype("timedelta64[m]")
        if self._is_first:
            self._is_first = False
            if offsets is None:
                self.zone = self._choose_zone(layout, latitude, longitude)
            by_format = self.local_by_format or self._is_local_by_name
            if self.options.local_times and layout.zone is not None and not by_format:
                raise DataError(f"{self.name}: --local-times, but its times are written in UTC; leave the option out")
            self._is_local = by_format or self.options.local_times
            self.is_marked = layout.is_utc and not self._is_local and (is_given or offsets is None)
        return self._in_utc(times, longitude, offsets)

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

    def _read_zones(self, rows: RowBlock, column: str) -> np.ndarray:
        """Minutes (int64, local minus UTC) or zones (tzinfo), as the first rows decide; others are marked."""
        values = decoded(rows.columns[column])
        if self._zone_unit is None and pa.types.is_string(values.type):
            sample = values.slice(0, 1000).drop_null()
            named = pc.match_substring_regex(sample.filter(pc.not_equal(sample, "")), r"[A-Za-z]|\d:\d")
            self._zone_unit = 0 if (pc.mean(named).as_py() or 0) > 0.5 else None
        if self._zone_unit == 0:
            return _read_names(rows, column)
        what = "timezone offset in minutes or hours"
        numbers = np.nan_to_num(np.asarray(rows.number(column, "tz_offset", what, LARGEST_MINUTES)))
        if self._zone_unit is None:
            self._zone_unit = 60 if 0 < np.abs(numbers).max(initial=0) <= _LARGEST_HOURS else 1
        minutes = self._zone_unit * numbers.clip(-LARGEST_MINUTES, LARGEST_MINUTES)
        rows.flag("tz_offset", minutes % 1 != 0, lambda row: f"{what} must be whole minutes, got {numbers[row]:g}")
        return minutes.astype(np.int64)

    def _read_times(
        self, rows: RowBlock, column: str, date: str | None
    ) -> tuple[TimeLayout, np.ndarray, np.ndarray | None]:
        """The layout of times, these as written, and the offsets that they carry; days and clocks are joined first.
        What the layout cannot read, and times outside 1990 to 2099, are marked and become NaT.
        """
        if date is not None:
            self._clock = self._clock or find_clock(rows.text(column))
            rows.columns[column] = join_clock(rows, column, date, self._clock, self.options.time_format)
        values = decoded(rows.columns[column])
        is_named = self._is_first and self.options.timezone is None and pa.types.is_string(values.type)
        for name, meanings in AMBIGUOUS.items() if is_named else ():
            if pc.any(pc.match_substring_regex(values, rf"\b{name}\b")).as_py():
                self.report.note(f"{name} is read as {meanings}, name that zone with --timezone and --local-times.")
        layout = self.layout = self.layout or detect_layout(rows.columns[column], self.options.time_format)
        if layout is EPOCH:
            units, counts = np.unique(epoch_units(to_numbers(values).drop_null()), return_counts=True)
            self._units.update(dict(zip(units.tolist(), counts.tolist(), strict=True)))
        read, spelled = read_spelled(layout, values)
        written = iso_offsets(spelled) if layout.is_utc else None
        if says(column, "local"):
            self._believe_name(column, layout, pa.types.is_timestamp(values.type), written is not None)
        times, wanted = (
            read.to_numpy(zero_copy_only=False).astype("datetime64[s]"),
            f"time must look like '{layout.example}'",
        )
        rows.flag("time", np.isnat(times), lambda row: f"{wanted}, got {shorten(values[row])}")
        outside = ~is_plausible(times)
        rows.flag("time", outside, lambda row: f"time {shorten(values[row])} is outside 1990 to 2099")
        return layout, np.where(outside, np.datetime64("NaT", "s"), times), written

    def _believe_name(self, column: str, layout: TimeLayout, is_typed: bool, has_offsets: bool) -> None:
        """Whether times are local because the column's name says so and they have no offset, or all zero."""
        carries_zero = layout in (ISO_ZONED, CTIME) or (is_typed and layout.is_utc and layout.zone is None)
        has_others = layout is ISO_ZONED and has_offsets
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

    def _choose_zone(self, layout: TimeLayout, latitude: np.ndarray, longitude: np.ndarray) -> str:
        """The zone that an option, the times or, if the options allow it, the coordinates name."""
        zone = self.options.zone or layout.zone
        if zone is None:
            zone = self.proposed = propose_zone(latitude, longitude)
            if not self.options.take_proposed_zone:
                raise DataError(f"{self.name} has no time zone; its coordinates suggest --timezone {zone}")
            self.report.note(f"The file has no time zone; its coordinates suggest --timezone {zone}.")
        elif zone == layout.zone and find_zone(zone) is None:
            raise DataError(f"{self.name}: its times name the zone {zone[:60]!r}, which does not exist; {HELP_ZONE}")
        return zone

    def _in_utc(
        self, times: np.ndarray, longitude: np.ndarray, offsets: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        utc, minutes = times.copy(), np.zeros(len(times), dtype=np.int16)
        if offsets is not None and offsets.dtype == object:
            for zone in filter(None, pd.unique(offsets)):
                in_zone = offsets == zone
                utc[in_zone], minutes[in_zone] = self._in_zone(times[in_zone], zone)
            return utc, minutes
        if self.zone == LONGITUDE_ZONE:  # impossible longitudes are marked elsewhere; here they only must not overflow
            offsets = 60 * np.round(np.nan_to_num(longitude).clip(-180, 180) / 15).astype(np.int64)
        elif self.zone is not None:
            return self._in_zone(times, self.zone)
        if offsets is not None:
            minutes = offsets.astype(np.int16)
            utc = times - offsets.astype("timedelta64[m]") if self._is_local else times
        return utc, minutes

    def _in_zone(self, times: np.ndarray, zone: str | tzinfo) -> tuple[np.ndarray, np.ndarray]:
        given = pd.Series(times)
        if self._is_local:
            first = np.ones(len(given), dtype=bool)
            aware = given.dt.tz_localize(zone, ambiguous=first, nonexistent="shift_forward")
            later = given.dt.tz_localize(zone, ambiguous=~first, nonexistent="shift_forward")
            self._repeated += int((aware != later)[given.notna()].sum())
            self._skipped += int((aware.dt.tz_localize(None) != given)[given.notna()].sum())
        else:
            aware = given.dt.tz_localize("UTC").dt.tz_convert(zone)
        utc = aware.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy("datetime64[s]")
        local = aware.dt.tz_localize(None).to_numpy("datetime64[s]")
        shift = np.where(np.isnat(utc), np.timedelta64(0, "s"), local - utc)
        return utc, (shift.astype(np.int64) // 60).astype(np.int16)


def _read_names(rows: RowBlock, column: str) -> np.ndarray:
    names = pc.dictionary_encode(rows.text(column))
    zone_of = np.array([find_zone(name) for name in names.dictionary.to_pylist()], dtype=object)
    zones = zone_of[names.indices.to_numpy(zero_copy_only=False)]
    expected = "time zone must be a name such as America/New_York, or minutes"
    rows.flag("tz_offset", pd.isna(zones), lambda row: f"{expected}, got {shorten(names[row])}")
    return zones
