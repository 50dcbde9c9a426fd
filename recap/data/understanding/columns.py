"""Properties of a column's values in a sample: how ids repeat, the range of coordinates."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.column_names import field_of
from recap.data.parsing.row_block import to_numbers
from recap.data.parsing.table_source import split_point
from recap.data.parsing.times import count_plausible, detect_layout, strptime_layout
from recap.data.parsing.written_times import is_clock, written_layouts
from recap.geodesy import distance_km

_MOST: Final = 0.95
"""Share of the values that must fit."""
_SPOT_KM: Final = 0.2
_EPOCHS: Final = np.array(["1995", "2036"], dtype="datetime64[s]")
"""Numbers outside this range are more likely ids than times."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column of the sample.

    Attributes:
        name: as in the file, or ``point.1`` and ``point.2`` of a point.
        values: as stored.
        time_format: the layout of the file's times, where it is named.
    """

    name: str
    values: pa.Array
    time_format: str | None = None

    @cached_property
    def text(self) -> pa.Array:
        """Values as trimmed text, empty where there are none."""
        values = self.values
        if pa.types.is_timestamp(values.type):  # its zone may be none that exists
            values = values.view(pa.timestamp(values.type.unit))
        try:
            return pc.utf8_trim_whitespace(pc.fill_null(pc.cast(values, pa.string()), ""))
        except pa.ArrowException:  # bytes, times that no calendar holds
            return pa.array([""] * len(values))

    @cached_property
    def codes(self) -> np.ndarray:
        """A number for each distinct value."""
        return np.asarray(pc.dictionary_encode(self.text).indices)

    @cached_property
    def distinct(self) -> list[str]:
        """The distinct values, without the empty one, in order of appearance."""
        return [text for text in pc.unique(self.text).to_pylist() if text]

    @cached_property
    def numbers(self) -> np.ndarray:
        """Values as float64, NaN where they are none."""
        return np.asarray(to_numbers(self.values).to_numpy(zero_copy_only=False))

    @cached_property
    def is_angle(self) -> bool:
        """Numbers within ±180 on most rows."""
        return bool(self.distinct) and bool((np.abs(self.numbers) <= 180).mean() >= 0.5)

    @cached_property
    def is_degrees(self) -> bool:
        """Angles of three decimals or more, on nearly all rows."""
        numbers = self.numbers[np.asarray(pc.not_equal(self.text, ""))] if self.is_angle else np.zeros(1)
        is_small = np.abs(numbers) <= 180
        hundredths = 100 * np.where(is_small, numbers, 0)
        fine = np.abs(hundredths - np.round(hundredths)) > 1e-6
        return bool(is_small.mean() >= _MOST and fine.mean() >= 0.5)

    @cached_property
    def point(self) -> tuple[pa.Array, pa.Array] | None:
        """The two numbers of a column of points."""
        found = split_point(self.values) if pa.types.is_string(self.values.type) else None
        return found if found and len(found[0]) - found[0].null_count >= _MOST * len(self.values) else None

    @cached_property
    def layouts(self) -> dict[str | None, int]:
        """strptime layouts that read the column as times, with how many of its first values they do not read.

        None stands for ISO, epochs and what else is read without a layout; empty where the column holds no times.
        """
        kind, least = self.values.type, 0.5 if field_of(self.name)[0] == "time" else _MOST
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return {None: 0}
        digits = max((sum(map(str.isdigit, text)) for text in self.distinct[:20]), default=0)
        is_number = np.isfinite(self.numbers).mean() > 0.5
        if digits < (8 if is_number else 4) or pa.types.is_boolean(kind) or pa.types.is_time(kind):
            return {}
        sample = pa.array(self.distinct[:1000], pa.string())
        times = detect_layout(sample, self.time_format).parse(sample).to_numpy(zero_copy_only=False)
        if count_plausible(pa.array(times)) >= least * len(sample):
            is_likely = (
                self.time_format or not is_number or ((times >= _EPOCHS[0]) & (times < _EPOCHS[1])).mean() >= least
            )
            return {self.time_format: 0} if is_likely else {}
        found = {} if self.time_format else written_layouts(self.distinct)
        is_read = min(found.values(), default=300) <= (1 - least) * min(len(sample), 300)
        return dict(found.items()) if is_read else {}

    @cached_property
    def seconds(self) -> np.ndarray:
        """Times (datetime64[s]) as the first of the layouts reads them, NaT where it does not."""
        layout = next(iter(self.layouts), None)
        found = detect_layout(self.values) if layout is None else strptime_layout(layout)
        return np.asarray(found.parse(self.values).to_numpy(zero_copy_only=False)).astype("datetime64[s]")

    @cached_property
    def is_clock(self) -> bool:
        """Times of day without a day."""
        return pa.types.is_time(self.values.type) or bool(self.distinct and all(map(is_clock, self.distinct[:300])))


def _count(*codes: np.ndarray) -> int:
    """How many different combinations of values there are."""
    return len(pd.DataFrame(dict(enumerate(codes))).drop_duplicates())


def determines(a: np.ndarray, b: np.ndarray) -> float:
    """How far the value of one column fixes that of another: 1 where it always does; NaN where it never repeats."""
    distinct = _count(a)
    return 1 - (_count(a, b) - distinct) / (len(a) - distinct) if distinct < len(a) else float("nan")


def keeps_spot(codes: np.ndarray, latitude: np.ndarray, longitude: np.ndarray) -> float:
    """Share of the rows whose value repeats that lie within 200 m of the middle of all rows with it."""
    table = pd.DataFrame({"code": codes, "lat": latitude, "lon": longitude}).dropna()
    table = table[table["code"].duplicated(keep=False)]
    middle = table.groupby("code")[["lat", "lon"]].transform("median")
    km = distance_km(*(frame[name].to_numpy() for frame in (table, middle) for name in ("lat", "lon")))
    return float((km <= _SPOT_KM).mean()) if len(km) else float("nan")


def comes_back(codes: np.ndarray, spots: np.ndarray) -> float:
    """How many times more often than by chance two rows of one value share a spot."""
    shuffled = np.random.default_rng(0).permutation(codes)
    return (len(codes) - _count(codes, spots)) / max(len(codes) - _count(shuffled, spots), 1)
