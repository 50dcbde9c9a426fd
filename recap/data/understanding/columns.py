"""What the values of a column look like in a sample of rows: ids by how they repeat, coordinates by their range."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.column_names import field_of
from recap.data.parsing.row_block import decoded, to_numbers
from recap.data.parsing.table_source import split_point
from recap.data.parsing.times import count_plausible, detect_layout, strptime_layout
from recap.data.parsing.written_times import is_clock, written_layouts
from recap.geodesy import distance_km

_MOST: Final = 0.95
"""Share of the values that must fit."""
SPOT_KM: Final = 0.2
_EPOCH_YEARS: Final = np.array(["1995", "2036"], dtype="datetime64[s]")


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
        values = decoded(self.values)
        if pa.types.is_timestamp(values.type):  # its zone may be none that exists
            values = values.view(pa.timestamp(values.type.unit))
        try:
            return pc.utf8_trim_whitespace(pc.fill_null(pc.cast(values, pa.string()), ""))
        except pa.ArrowException:  # bytes, lists, times that no calendar holds
            return pa.array([""]).take(pa.array(np.zeros(len(values), np.int8)))

    @cached_property
    def codes(self) -> np.ndarray:
        """A number for each distinct value."""
        return np.asarray(pc.dictionary_encode(self.text).indices.to_numpy(zero_copy_only=False)).astype(np.int64)

    @cached_property
    def distinct(self) -> list[str]:
        """The distinct values, without the empty one, in order of appearance."""
        return [text for text in pc.unique(self.text).to_pylist() if text]

    @cached_property
    def numbers(self) -> np.ndarray:
        """Values as float64, NaN where they are none."""
        return np.asarray(to_numbers(decoded(self.values)).to_numpy(zero_copy_only=False))

    @cached_property
    def is_number(self) -> bool:
        """Numbers on most rows."""
        return bool(self.distinct) and bool(np.isfinite(self.numbers[self.is_filled]).mean() >= 0.5)

    @cached_property
    def is_filled(self) -> np.ndarray:
        return np.asarray(pc.not_equal(self.text, "").to_numpy(zero_copy_only=False))

    @cached_property
    def is_angle(self) -> bool:
        """Numbers, most of them within ±180."""
        return self.is_number and bool((np.abs(self.numbers[np.isfinite(self.numbers)]) <= 180).mean() >= 0.5)

    @cached_property
    def is_degrees(self) -> bool:
        """Numbers with three decimals or more within ±180."""
        if not self.is_angle:
            return False
        numbers = self.numbers[self.is_filled]
        fine = np.abs(100 * numbers - np.round(100 * numbers)) > 1e-6
        return bool((np.abs(numbers) <= 180).mean() >= _MOST and fine.mean() >= 0.5)

    @cached_property
    def numbers_of_points(self) -> tuple[pa.Array, pa.Array] | None:
        """The two numbers of a column of points."""
        if not (pa.types.is_string(self.values.type) or pa.types.is_nested(self.values.type)):
            return None
        first, second = split_point(self.values)
        if len(first) == 0 or first.is_valid().sum().as_py() < _MOST * max(self.is_filled.sum(), 1):
            return None
        return first, second

    @cached_property
    def layouts(self) -> dict[str | None, int]:
        """strptime layouts that read the column as times, with the rows of a part of it that they do not.

        None stands for ISO, epochs and what else is read without a layout; empty where the column holds no times.
        """
        values = decoded(self.values)
        if pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
            return {None: 0}
        if not self.distinct or pa.types.is_boolean(values.type) or pa.types.is_time(values.type):
            return {}
        least = 0.5 if field_of(self.name)[0] == "time" else _MOST
        sample = pa.array(self.distinct[:1000], pa.string())
        if self.time_format is not None:
            read = detect_layout(sample, self.time_format).parse(sample)
            return {self.time_format: 0} if count_plausible(read) >= 0.5 * len(sample) else {}
        times = detect_layout(sample).parse(sample)
        if count_plausible(times) >= least * len(sample):
            seconds = times.drop_null().to_numpy(zero_copy_only=False)
            inside = ((seconds >= _EPOCH_YEARS[0]) & (seconds < _EPOCH_YEARS[1])).mean() >= least
            return {None: 0} if inside or not self.is_number else {}
        found: dict[str | None, int] = dict(written_layouts(self.distinct).items())
        return found if min(found.values(), default=300) <= (1 - least) * min(len(sample), 300) else {}

    @cached_property
    def seconds(self) -> np.ndarray:
        """Times (datetime64[s]) as the first of the layouts reads them, NaT where it does not."""
        layout = next(iter(self.layouts), None)
        found = detect_layout(self.values) if layout is None else strptime_layout(layout)
        return np.asarray(found.parse(decoded(self.values)).to_numpy(zero_copy_only=False)).astype("datetime64[s]")

    @cached_property
    def is_clock(self) -> bool:
        """Times of day without a day."""
        return pa.types.is_time(self.values.type) or (
            bool(self.distinct) and float(np.mean([is_clock(text) for text in self.distinct[:300]])) >= _MOST
        )


def count_pairs(*codes: np.ndarray) -> int:
    """How many different combinations of values there are."""
    return len(pd.DataFrame(dict(enumerate(codes))).drop_duplicates())


def determines(a: np.ndarray, b: np.ndarray) -> float:
    """How far the value of one column fixes that of another: 1 where it always does; NaN where it never repeats."""
    distinct = count_pairs(a)
    return 1 - (count_pairs(a, b) - distinct) / (len(a) - distinct) if distinct < len(a) else float("nan")


def keeps_spot(codes: np.ndarray, latitude: np.ndarray, longitude: np.ndarray) -> float:
    """Share of the rows whose value repeats that lie within 200 m of the middle of all rows with it."""
    table = pd.DataFrame({"code": codes, "lat": latitude, "lon": longitude})
    table = table[table["code"].duplicated(keep=False) & np.isfinite(latitude) & np.isfinite(longitude)]
    if table.empty:
        return float("nan")
    middle = table.groupby("code")[["lat", "lon"]].transform("median")
    km = distance_km(*(frame[name].to_numpy() for frame in (table, middle) for name in ("lat", "lon")))
    return float((km <= SPOT_KM).mean())


def comes_back(codes: np.ndarray, spots: np.ndarray) -> float:
    """How many times more often than by chance two rows of one value share a spot."""
    shuffled = np.random.default_rng(0).permutation(codes)
    return (len(codes) - count_pairs(codes, spots)) / max(len(codes) - count_pairs(shuffled, spots), 1)
