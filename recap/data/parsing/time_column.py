"""A source's column of times: its format, chosen from the first rows, and whether times are local."""

import re
from collections import Counter
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.clocks import ClockStyle, spell_clocks
from recap.data.parsing.column_names import says
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import RowBlock, decoded, to_numbers
from recap.data.parsing.times import (
    CTIME,
    EPOCH,
    ISO_ZONED,
    UNIT_NAMES,
    TimeLayout,
    count_plausible,
    detect_layout,
    epoch_units,
    iso_offsets,
    read_times,
)
from recap.errors import DataError

_MIDNIGHT: Final = re.compile(r"[ T]0?0:00(:00(\.0+)?)?$")


class TimeColumn:
    """Reads the times of a source block by block.

    Args:
        name: file name for messages.
        layout: layout of the times; decided by the first block where None.

    Attributes:
        layout: None before the first block.
        is_local_by_name: the column's name says wall-clock times, and they carry no offset but zero.
    """

    def __init__(
        self, name: str, options: ReadOptions, row_report: RowReport, layout: TimeLayout | None = None
    ) -> None:
        self.name, self.options, self.row_report = name, options, row_report
        self.layout = layout
        self.is_local_by_name = False
        self._is_first = True
        self._clocks: ClockStyle | None = None
        self._units: Counter[int] = Counter()

    def read(self, rows: RowBlock, column: str, date: str | None) -> np.ndarray:
        """The rows' times (datetime64[s], NaT where marked), UTC or wall-clock as the layout and the name say. Raises
        DataError: times of a column that calls itself local carry zero offsets first and others later.

        Args:
            date: the column of the day where ``column`` is a clock alone.
        """
        if date is not None:
            self._clocks = self._clocks or ClockStyle.of(rows.text(column))
            rows.columns[column] = join_clock(rows, column, date, self._clocks, self.options.time_format)
        if self.layout is None:
            self.layout = detect_layout(rows.columns[column], self.options.time_format)
        if says(column, "local"):
            self._believe_name(rows, column, self.layout)
        self._is_first = False
        if self.layout is EPOCH:
            self._count_units(decoded(rows.columns[column]))
        return read_times(rows, column, self.layout)

    def _count_units(self, values: pa.Array) -> None:
        """Note units that are mixed."""
        units, counts = np.unique(epoch_units(to_numbers(values).drop_null()), return_counts=True)
        self._units.update(dict(zip(units.tolist(), counts.tolist(), strict=True)))

    def remarks(self) -> None:
        """Note times in different units."""
        if len(self._units) > 1:
            parts = [f"{count:,} in {UNIT_NAMES[unit]}" for unit, count in self._units.most_common()]
            self.row_report.note(
                f"Times since 1970 are in different units: {', '.join(parts)}; each is read in its own."
            )

    def offsets(self, rows: RowBlock, column: str) -> np.ndarray | None:
        """Offsets in minutes that the times contain; None if they contain none."""
        values = decoded(rows.columns[column])
        return iso_offsets(values) if pa.types.is_string(values.type) else None

    def _believe_name(self, rows: RowBlock, column: str, layout: TimeLayout) -> None:
        """Whether times are local because the column's name says so and they have no offset, or all zero."""
        typed_utc = layout.is_utc and layout.zone is None and not pa.types.is_string(decoded(rows.columns[column]).type)
        carries_zero = layout in (ISO_ZONED, CTIME) or (typed_utc and pa.types.is_timestamp(rows.columns[column].type))
        has_others = layout is ISO_ZONED and self.offsets(rows, column) is not None
        if self._is_first:
            self.is_local_by_name = not layout.is_utc or (carries_zero and not has_others)
            if self.is_local_by_name and not self.options.local_times:
                zero = ", though they are written with a zero offset" if layout.is_utc else ""
                self.row_report.note(f"Times of the column {column} are taken as local, as its name says{zero}.")
        elif self.is_local_by_name and has_others:
            raise DataError(
                f"{self.name}: times of the column {column!r} carry a zero offset first and others later; name their "
                "layout, for example --time-format '%Y-%m-%dT%H:%M:%S%z'"
            )


def join_clock(
    rows: RowBlock, time: str, date: str, style: ClockStyle | None = None, time_format: str | None = None
) -> pa.Array:
    """Days and clocks of two columns as one text, clocks in one spelling unless the format reads them as they are.

    Args:
        style: of the clocks; without it the rows decide.
    """
    days, given = _days(rows, date), rows.text(time)
    spelled = spell_clocks(given, style)
    # A clock in none of the style's spellings must not pass for an hour.
    joined = pc.binary_join_element_wise(
        days, pc.if_else(pc.match_substring_regex(spelled, r"^\d\d:\d\d:\d\d"), " ", " and "), spelled, ""
    )
    if time_format is None:
        return joined
    as_given = pc.binary_join_element_wise(days, given, " ")
    layout = detect_layout(as_given, time_format)
    return as_given if count_plausible(layout.parse(as_given)) > count_plausible(layout.parse(joined)) else joined


def _days(rows: RowBlock, date: str) -> pa.Array:
    """The column of days as text, without the midnight that some programs write after a day."""
    values = decoded(rows.columns[date])
    if pa.types.is_timestamp(values.type):
        rows.columns[date] = pc.cast(values, pa.date32(), safe=False)
        return rows.text(date)
    days = pc.dictionary_encode(rows.text(date))
    return pc.take(pa.array([_MIDNIGHT.sub("", day) for day in days.dictionary.to_pylist()], pa.string()), days.indices)
