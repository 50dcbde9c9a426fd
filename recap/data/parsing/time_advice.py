"""What to do about times that no known layout reads: the options that would read this file, found on its first rows."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa

from recap.data.parsing.times import LAYOUTS, count_plausible, strptime_layout
from recap.errors import DataError

_CLOCK: Final = re.compile(r"^\s*\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*([AaPp]\.?[Mm]\.?)?\s*$")
_DAY: Final = (
    "%Y-%m-%d",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%Y/%m/%d",
    "%Y%m%d",
    "%d %b %Y",
    "%b %d, %Y",
)
_HOUR: Final = ("%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
_FORMATS: Final = (
    *(f"{day} {hour}" for day in _DAY for hour in _HOUR),
    "%d.%m.%Y, %H:%M",
    "%m/%d/%Y, %I:%M:%S %p",
    "%Y%m%d%H%M%S",
    "%Y%m%dT%H%M%S",
    "%a %b %d %H:%M:%S %Y",
    "%a, %d %b %Y %H:%M:%S %z",
    *_DAY,
)
_ORDER: Final = {"%d/%m": "day first", "%m/%d": "month first"}
_MOST_COLUMNS: Final = 4


class UnreadableTimesError(DataError):
    """Times of a file whose layout has to be told, which most of its first rows do not fit.

    Attributes:
        column: the column taken for times.
        samples: its first values.
    """

    def __init__(
        self, name: str, column: str, samples: Sequence[str], others: Mapping[str, Sequence[str]] | None = None
    ):
        super().__init__(describe(name, column, samples, others or {}))
        self.name, self.column, self.samples = name, column, samples


def propose_formats(samples: Sequence[str]) -> list[str]:
    """strptime layouts that read most samples as times from 1990 to 2099, those that read the most first."""
    values = pa.array([text for text in samples if text.strip()], pa.string())
    if not len(values):
        return []
    counts = {form: count_plausible(strptime_layout(form).parse(values)) for form in _FORMATS}
    best = max(counts.values())
    return [form for form, count in counts.items() if count == best and 2 * count >= len(values)]


def describe(name: str, column: str, samples: Sequence[str], others: Mapping[str, Sequence[str]]) -> str:
    """One line: the column and why it cannot be read, which others look like times, and the options that read them.

    Args:
        others: the file's other columns with their first values.
    """
    shown = next((text for text in samples if text.strip()), "")[:40]
    text = f"{name}: the column {column!r} was taken for the times"
    rest = {other: values for other, values in others.items() if other != column}
    days = [other for other, values in rest.items() if _looks_like_days(values)]
    times = [other for other, values in rest.items() if other not in days and _looks_like_times(values)]
    if any(_CLOCK.match(value) for value in samples):
        text += f", but it holds clock times without a day, such as {shown!r}"
        if days:
            form = next(iter(propose_formats([f"{_first(rest[days[0]])} {shown}"])), None)
            layout = "" if form is None or form == "%Y-%m-%d %H:%M:%S" else f" --time-format '{form}'"
            return f"{text}; read day and clock together with --map date={days[0]},time={column}{layout}"
    else:
        forms = propose_formats(samples)
        text += f", but no layout is known for {shown!r}"
        if forms:
            usual = [form for form in forms if form.partition(" ")[2] == forms[0].partition(" ")[2]][:2]
            ways = [f"--time-format '{form}'" + _order(form, len(usual) > 1) for form in usual]
            return f"{text}; read it with {' or '.join(ways)}"
        if all(re.fullmatch(r"\s*\d{1,8}\s*", value) for value in samples):
            text += " (a count is no time: a file without a clock cannot be used)"
    if days or times:
        looks = ", ".join(f"{other} ({_first(rest[other])[:30]!r})" for other in [*times, *days][:_MOST_COLUMNS])
        return f"{text}; columns that look like times: {looks}; name one with --map time={[*times, *days][0]}"
    return f"{text}; name the column with --map time=COLUMN, or its layout with --time-format '%d.%m.%Y %H:%M'"


def _order(form: str, is_unclear: bool) -> str:
    return next((f" ({name})" for start, name in _ORDER.items() if is_unclear and form.startswith(start)), "")


def _first(values: Sequence[str]) -> str:
    return next((value.strip() for value in values if value.strip()), "")


def _looks_like_days(values: Sequence[str]) -> bool:
    return any(form in _DAY for form in propose_formats(values)) and not _looks_like_numbers(values)


def _looks_like_times(values: Sequence[str]) -> bool:
    present = pa.array([value for value in values if value.strip()], pa.string())
    if not len(present):
        return False
    if any(count_plausible(layout.parse(present)) == len(present) for layout in LAYOUTS):
        return True
    return bool(propose_formats(values)) or all(_CLOCK.match(value) for value in present.to_pylist())


def _looks_like_numbers(values: Sequence[str]) -> bool:
    return all(re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", value) for value in values if value.strip())
