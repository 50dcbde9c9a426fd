"""Turn the rows of a block into typed columns; an unusable row gets one reason, with its place and value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.formats import KNOWN_FILES
from recap.data.parsing.read_report import EXAMPLES, RowReport
from recap.machine.printable import shortened

_NUMBER: Final = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$|^[+-]?(?i:nan|inf|infinity)$"
NOTHING: Final = tuple(KNOWN_FILES["nothing"].split())
"""Words that programs write where there is no value."""


def shorten(value: pa.Scalar, limit: int = 40) -> str:
    """Quote a value for a message, cut to ``limit`` characters."""
    return repr(shortened(plain(value), limit))


def plain(value: pa.Scalar) -> str:
    """A value as text, also for dates that Python cannot represent."""
    try:
        return "nothing" if value.as_py() is None else str(value.as_py())
    except (OverflowError, ValueError):
        return str(value.value)


def to_numbers(values: pa.Array) -> pa.Array:
    """float64, null where a value is no number; in text a comma may separate decimals."""
    if pa.types.is_string(values.type):
        values = pc.replace_substring_regex(values, r"^(\s*[+-]?\d+),(\d+\s*)$", r"\1.\2")
    try:
        return pc.cast(values, pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return pc.cast(values, pa.float64(), safe=False)
    if not pa.types.is_string(kind):
        return pa.nulls(len(values), pa.float64())
    text = pc.utf8_trim_whitespace(values)
    return pc.cast(pc.if_else(pc.match_substring_regex(text, _NUMBER), text, None), pa.float64())


@dataclass(eq=False)
class RowBlock:
    """The rows of a block while they are parsed: columns, text or typed, and the place of each row in the file, counted
    in ``noun``. Methods return columns of full length, and mark in ``bad`` what goes to the report; `finish` drops it.
    """

    name: str
    columns: dict[str, pa.Array]
    lines: np.ndarray
    noun: str = "line"
    report: RowReport = field(default_factory=lambda: RowReport(skip_bad_rows=True))

    def __post_init__(self) -> None:
        self.bad = np.zeros(len(self.lines), dtype=bool)
        self.report.rows_in += len(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def flag(self, reason: str, bad: np.ndarray | pa.Array, describe: Callable[[int], str]) -> None:
        """Mark rows; a row that is already marked keeps its first reason."""
        new = np.flatnonzero(np.asarray(bad) & ~self.bad)
        self.bad[new] = True
        places = ((int(self.lines[row]), int(row)) for row in new[:EXAMPLES])
        first = [(line, f"{self.name} {self.noun} {line}: {describe(row)}") for line, row in places]
        self.report.report(reason, len(new), first)

    def identifier(self, column: str, reason: str, what: str) -> pa.Array:
        """Text of an id: surrounding blanks are trimmed, whole numbers become their digits; empty ones are marked."""
        values = self.text(column)
        self.flag(reason, pc.equal(values, ""), lambda _: f"{what} is empty")
        is_word = pc.is_in(values, pa.array(NOTHING))
        self.flag(reason, is_word, lambda row: f"{what} is empty: {shorten(values[row])} stands for nothing")
        return values

    def text(self, column: str) -> pa.Array:
        """Text without the mark for spreadsheets; null and NaN become empty, whole numbers their digits."""
        values = decoded(self.columns[column])
        if pa.types.is_floating(values.type):
            values = _float_text(pc.cast(values, pa.float64()))
        values = pc.utf8_trim_whitespace(pc.fill_null(pc.cast(values, pa.string()), ""))
        if pc.any(pc.starts_with(values, "'")).as_py():  # see `recap.storage.frames.mark_formulas`
            values = pc.replace_substring_regex(values, "^'('*[=+@-])", r"\1")
        return values

    def joined(self, columns: Sequence[str]) -> pa.Array:
        """The texts of columns, such as of a household and a person, joined; empty where one of them is."""
        nothing = pa.array(["", *NOTHING])
        known = [pc.if_else(pc.is_in(part, nothing), None, part) for part in map(self.text, columns)]
        return pc.fill_null(pc.binary_join_element_wise(*known, "-"), "")

    def of_both_ends(self, fields: Mapping[str, str]) -> "RowBlock":
        """Two rows for each good one, of a trip's origin and its destination."""
        good = np.flatnonzero(~self.bad)
        order = np.stack([good, good + len(self)]).T.ravel()
        columns = {}
        for end, column in fields.items():
            if not end.startswith("to_"):
                ends = [decoded(self.columns[name]) for name in (column, fields.get(f"to_{end}", column))]
                if ends[0].type != ends[1].type or end == "poi":  # of one end, missing places made 7 a 7.0
                    texts = (self.text(name) for name in (column, fields.get(f"to_{end}", column)))
                    ends = [pc.replace_substring_regex(text, r"^(\d+)\.0$", r"\1") for text in texts]
                columns[column] = pa.concat_arrays(ends).take(pa.array(order))
        self.report.rows_in -= len(good)  # counted again, each as two
        return RowBlock(self.name, columns, self.lines[good].repeat(2), self.noun, self.report)

    def number(
        self, column: str, reason: str, what: str, limit: float, parse: Callable[[pa.Array], pa.Array] = to_numbers
    ) -> pa.Array:
        """float64 values; those outside ``[-limit, limit]``, NaN and what is no number are marked."""
        given = decoded(self.columns[column])
        values = parse(given)
        numbers = np.asarray(values)  # NaN where null
        self.flag(reason, pc.is_null(values), lambda row: f"{what} must be a number, got {shorten(given[row])}")
        inside = np.abs(numbers) <= limit
        self.flag(reason, ~inside, lambda row: f"{what} {plain(given[row])} is outside [{-limit:g}, {limit:g}]")
        return values

    def finish(self, columns: dict[str, pa.Array]) -> pa.Table:
        """The good rows of ``columns``. Raises DataError: there is a bad row, see `RowReport.refuse`."""
        self.report.refuse()
        table = pa.table(columns)
        return table.filter(pa.array(~self.bad)) if self.bad.any() else table


def decoded(values: pa.Array) -> pa.Array:
    """A dictionary-encoded column as plain values, large strings as strings, durations within a day as clocks."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_large_string(values.type) or pa.types.is_string_view(values.type):
        values = pc.cast(values, pa.string())
    if pa.types.is_duration(values.type):
        seconds = pc.cast(pc.cast(values, pa.duration("s"), safe=False), pa.int64())
        within = pc.and_(pc.greater_equal(seconds, 0), pc.less(seconds, 86_400))
        values = pc.cast(pc.cast(pc.if_else(within, seconds, None), pa.int32()), pa.time32("s"))
    return values


def _float_text(values: pa.Array) -> pa.Array:
    """Convert each number separately, so that a 1.5 or NaN in a block does not turn ``7`` into ``7.0``."""
    values = pc.if_else(pc.is_nan(values), None, values)
    is_whole = pc.and_(pc.equal(pc.round(values), values), pc.less(pc.abs(values), 1e18))
    whole = pc.cast(pc.if_else(is_whole, values, None), pa.int64(), safe=False)
    return pc.coalesce(pc.cast(whole, pa.string()), pc.cast(values, pa.string()))
