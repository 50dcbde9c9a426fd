"""The first rows of a table, and what the values of each column look like."""

import re
from collections.abc import Iterable
from contextlib import closing
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recap.arithmetic.geodesy import distance_km
from recap.data.parsing.clocks import find_clock
from recap.data.parsing.column_names import field_of, key_of, says, twins_of
from recap.data.parsing.degrees import X_FIRST, split_point, to_degrees, unwrapped, wraps_around
from recap.data.parsing.options import ONE_PERSON, ReadOptions
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import decoded, to_numbers
from recap.data.parsing.table_source import TableSource
from recap.data.parsing.times import EARLIEST, LATEST, SPREADSHEET, detect_layout, read_spelled, written_layouts

MOST_COLUMNS: Final = 300
_SAMPLE_ROWS: Final = 50_000
_SAMPLE_CELLS: Final = 4_000_000
_MOST: Final = 0.95
"""Share of the values that must fit."""
LETTERS_READ: Final = 200
"""Of a text, where a pattern looks at it: the time of some grows with the square of its length."""
_DEGREES: Final = re.compile(r"\d ?[°º˚]|\d['′].*\d[\"″]|^[+-]?\d+[.,]\d+ ?[NSEW]$|^[NSEW] ?\d+[.,]\d+$")
LEAST_OVERLAP: Final = 0.3
"""Share of the values of one end of a trip that are also at the other, for columns whose names say nothing."""
_FIRST_TEXTS: Final = 20
_FIRST_POINTS: Final = 200
_SPOT_KM: Final = 0.2
_SERIALS: Final = (33_000, 73_051)
"""Days of 1990 to 2099 in spreadsheets."""
_SERIALS_SPREAD: Final = 2000
_EPOCHS: Final = np.array(["1995", "2036"], dtype="datetime64[s]")
"""Numbers outside this range are more likely ids than times."""


class Column:
    """A column of the sample; ``name.1`` or ``name.2`` are halves of a point, and then ``x_first`` is not None.

    Attributes:
        text, distinct, codes: values as trimmed text; the distinct ones, without the empty one; a number for each.
        numbers: values as float64, NaN where they are none or infinite; `is_number` where most are some.
        is_angle, is_degrees: most rows are numbers within ±180; nearly all are, and have three decimals or more.
        meaning: the field that the name means, with points; an angle only where the values are some.
        point: the column of which this is a half; empty for others.
        is_x_first: half of a point in a form that has longitude first, such as WKT.
        is_clock: times of day without a day; numbers such as 930 where the name says so.
        layouts: strptime layouts that read the column as times; None for ISO, epochs and what else needs no layout;
            empty where the column holds no times.
    """

    def __init__(
        self, name: str, values: pa.Array, time_format: str | None = None, x_first: bool | None = None
    ) -> None:
        self.name, self.values, self.time_format = name, values, time_format
        self.point = name[:-2] if x_first is not None else ""
        self.is_x_first = x_first or bool(re.search(r"coordinates(\.[12])?$", name))
        self.text = _as_text(values)
        texts = pc.dictionary_encode(self.text)
        self.codes, self.distinct = np.asarray(texts.indices), [text for text in texts.dictionary.to_pylist() if text]
        field, points = field_of(name)
        numbers = np.asarray(self._to_numbers(values, field, x_first is not None).to_numpy(zero_copy_only=False))
        self.numbers = np.where(np.isfinite(numbers), numbers, np.nan)
        self.is_number = bool(np.isnan(self.numbers).mean() < 0.5)
        angles = self.numbers[np.abs(self.numbers) <= 180]
        self.is_angle = bool(self.distinct) and 2 * len(angles) >= len(values)
        is_fine = np.abs(angles - np.round(angles, 2)) > 1e-8
        filled = len(values) - pc.sum(pc.equal(self.text, "")).as_py()
        self.is_degrees = self.is_angle and len(angles) >= _MOST * filled and bool(is_fine.mean() >= 0.5)
        self.meaning = (field, points) if field not in ("lat", "lon") or self.is_angle else ("", 0.0)
        is_named = field == "time" and (says(name, "hour") or max(map(len, self.distinct), default=0) > 2)
        may_be_clock = field in ("", "time") and not self._numbers_days()
        is_written = may_be_clock and find_clock(self.text, is_named) is not None
        self.is_clock = pa.types.is_time(values.type) or is_written
        self.layouts = self._layouts() if self.meaning[0] in ("", "time") else []

    def _to_numbers(self, values: pa.Array, field: str, is_half: bool) -> pa.Array:
        looks_so = any(_DEGREES.search(text[:LETTERS_READ]) for text in self.distinct[:_FIRST_TEXTS])
        if not (field in ("lat", "lon") or is_half or looks_so):
            return to_numbers(values)
        degrees = to_degrees(values)
        return unwrapped(degrees) if field == "lon" and wraps_around(degrees) else degrees

    def _numbers_days(self) -> bool:
        """Whether most values number the days of a few years as spreadsheets do; seconds of the day spread further."""
        serials = self.numbers[(self.numbers >= _SERIALS[0]) & (self.numbers < _SERIALS[1]) & (self.numbers % 1 == 0)]
        is_near = np.abs(serials - np.median(serials)) < _SERIALS_SPREAD if len(serials) else serials
        return bool(is_near.sum() > _MOST * (len(self.numbers) - np.isnan(self.numbers).sum()))

    def _layouts(self) -> list[str | None]:
        kind = self.values.type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return [None]
        digits = max((sum(map(str.isdigit, text)) for text in self.distinct[:20]), default=0)
        is_named = self.meaning[0] == "time"
        if digits < (8 - 3 * is_named if self.is_number else 4) or self.is_clock:
            return []
        sample = self.distinct[:1000]
        text = pa.array(sample, pa.string())
        layout = detect_layout(text, self.time_format)
        if layout is SPREADSHEET and not is_named:
            return []
        times = read_spelled(layout, text)[0].to_numpy(zero_copy_only=False)
        least = 0.5 if is_named and layout is not SPREADSHEET else _MOST
        low, high = _EPOCHS if self.is_number and not self.time_format else (EARLIEST, LATEST)
        if ((times >= low) & (times < high)).mean() >= least:
            return [self.time_format]
        return [*([] if self.time_format else written_layouts(sample, least))]

    @cached_property
    def seconds(self) -> np.ndarray:
        """Times (datetime64[s]) as the first of the layouts reads them, NaT where it does not."""
        layout = next(iter(self.layouts), None)
        form = detect_layout(self.values, layout)
        return np.asarray(read_spelled(form, self.values)[0].to_numpy(zero_copy_only=False)).astype("datetime64[s]")

    @cached_property
    def has_clocks(self) -> bool:
        """Whether some times are not midnight."""
        known = self.seconds[~np.isnat(self.seconds)]
        return bool((known.astype("datetime64[D]") != known).any())


def _as_text(values: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(values.type):  # its zone may be none that exists
        values = values.view(pa.timestamp(values.type.unit))
    try:
        return pc.utf8_trim_whitespace(pc.fill_null(pc.cast(values, pa.string()), ""))
    except pa.ArrowException:  # bytes, times that no calendar holds
        return pa.array([""] * len(values))


def read_sample(source: TableSource, options: ReadOptions) -> dict[str, Column]:
    """Up to 50,000 rows of the first 300 columns; the two numbers of a column of points are columns in its place.
    Raises DataError: there is no row.
    """
    given = options.columns.values()
    names = [name for place, name in enumerate(source.names) if place < MOST_COLUMNS or name in given]
    made = {name for name in given if name == ONE_PERSON or {*name.split("+")} <= {*source.names}}
    names += sorted(made - {*names})
    most = min(_SAMPLE_ROWS, _SAMPLE_CELLS // max(len(names), 1))
    blocks: list[dict[str, pa.Array]] = []
    report, usable = RowReport(skip_bad_rows=True), 0
    with closing(source.rows(names, report)) as all_rows:
        while usable < most and (rows := next(all_rows, None)) is not None:
            blocks.append({name: values.filter(pa.array(~rows.bad)) for name, values in rows.columns.items()})
            usable += int((~rows.bad).sum())
    if not usable:
        report.account([source.name], 0)
    sample = {}
    for name in names:
        parts = [decoded(block[name]) for block in blocks]
        parts = parts if len({part.type for part in parts}) == 1 else [_as_text(part) for part in parts]
        values = pa.concat_arrays(parts).slice(0, most)
        is_text = pa.types.is_string(values.type)
        may_be_point = is_text or pa.types.is_binary(values.type)
        first = split_point(values.slice(0, _FIRST_POINTS))[0] if may_be_point else pa.nulls(1)
        is_point = 2 * first.null_count <= len(first)  # most columns are none, and need not be looked at further
        halves = split_point(values) if is_point else (first, first)
        is_point = is_point and halves[0].null_count <= (1 - _MOST) * len(halves[0])
        if not is_point or name in given:
            sample[name] = Column(name, values, options.time_format)
        for half, part in enumerate(halves if is_point else [], 1):
            x_first = not is_text or pc.any(pc.match_substring_regex(values, X_FIRST)).as_py()
            sample[f"{name}.{half}"] = Column(f"{name}.{half}", part, x_first=x_first)
    return sample


def find_twins(columns: Iterable[Column]) -> list[tuple[Column, Column, str]]:
    """Columns of a trip's two ends, and the words that their names share."""
    by_key = {key_of(column.name): column for column in columns if not re.fullmatch(r"column\d+", column.name)}
    twins: dict[str, tuple[Column, Column, str]] = {}
    for column in by_key.values():
        for name, rest in twins_of(column.name):
            twin = by_key.get(name)
            if twin is None or (twin.point or twin.name) == (column.point or column.name):
                continue
            is_alike = not rest or field_of(rest)[1] > 0 or overlap(column, twin) >= LEAST_OVERLAP
            if is_alike and not {column.name, twin.name} & twins.keys():
                twins[column.name] = twins[twin.name] = (column, twin, rest)
    return list(dict.fromkeys(twins.values()))


def overlap(a: Column, b: Column) -> float:
    """Share of the values of one column that are in the other too."""
    one, other = ({text.removesuffix(".0") for text in column.distinct} for column in (a, b))
    return len(one & other) / max(min(len(one), len(other)), 1)


def _count(*codes: np.ndarray) -> int:
    """How many different combinations of values there are."""
    joined = np.zeros(len(codes[0]), np.int64)
    for values in codes:
        joined = joined * (int(values.max(initial=0)) + 1) + values
    return len(pd.unique(joined))


def determines(a: np.ndarray, b: np.ndarray) -> float:
    """How far the value of one column fixes that of another: 1 where it always does; NaN where it never repeats."""
    distinct = _count(a)
    return 1 - (_count(a, b) - distinct) / (len(a) - distinct) if distinct < len(a) else float("nan")


def keeps_spot(codes: np.ndarray, where: pd.DataFrame) -> float:
    """Share of the rows whose value repeats that lie within 200 m of the middle of all rows with it."""
    table = where.assign(code=codes).dropna()
    table = table[table["code"].duplicated(keep=False)]
    middle = table.groupby("code")[["lat", "lon"]].transform("median")
    km = distance_km(*(frame[name].to_numpy() for frame in (table, middle) for name in ("lat", "lon")))
    return float((km <= _SPOT_KM).mean()) if len(km) else float("nan")


def comes_back(codes: np.ndarray, spots: np.ndarray) -> float:
    """How many times more often than by chance two rows of one value share a spot."""
    shuffled = np.random.default_rng(0).permutation(codes)
    return (len(codes) - _count(codes, spots)) / max(len(codes) - _count(shuffled, spots), 1)
