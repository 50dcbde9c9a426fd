"""What to do about times that cannot be read: the options that would read this file, found on its first rows."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from recap.data.parsing.options import ReadOptions
from recap.data.parsing.times import LAYOUTS, count_plausible, strptime_layout
from recap.errors import DataError

_CLOCK: Final = re.compile(r"^\s*\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*([AaPp]\.?[Mm]\.?)?\s*$")
_MIDNIGHT: Final = re.compile(r"[ T]0?0:00(:00(\.0+)?)?$")
_DAY: Final = (
    *("%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y%m%d"),
    *("%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y"),
)
_HOUR: Final = (
    *("%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p", "%I:%M%p"),
    *("%H:%M:%S.%f", "%H:%M:%S %z", "%H:%M:%S %Z"),
)
_FORMATS: Final = (
    *(f"{day}{between}{hour}" for between in (" ", ", ") for day in _DAY for hour in _HOUR),
    *("%Y%m%d%H%M%S", "%Y%m%dT%H%M%S", "%a %b %d %H:%M:%S %Y", "%a, %d %b %Y %H:%M:%S %z"),
    *_DAY,
)
_ORDER: Final = {"%d": "day first", "%m": "month first"}
_MOST_COLUMNS: Final = 4


_SHAPES: Final = 50
"""Values whose shapes say which layouts are tried at all."""


def _shape(text: str) -> str:
    """Runs of digits and of letters as one sign each: ``04/13/2012 6:18 PM`` -> ``0/0/0 0:0 A``."""
    text = re.sub(r"[+-](\d{2}):?(\d{2})$", "+0", text.strip()) if ":" in text else text.strip()
    return re.sub(r"[^\W\d_]+", "A", re.sub(r"\d+", "0", text))


_FORMAT_SHAPES: Final = [
    (form, _shape(re.sub("%[abBpZ]", "A", re.sub("%[YymdHIMSf]", "0", form.replace("%z", "+0"))))) for form in _FORMATS
]


@dataclass(frozen=True)
class Remedy:
    """Options that read the file's times.

    Attributes:
        time_format: strptime layout, where one has to be told.
        columns: field -> column of `--map`, where other columns hold the times.
        order: which of two possible orders of day and month this is; empty where the rows tell it.
    """

    time_format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    order: str = ""

    def spoken(self) -> str:
        """As typed in a shell."""
        pairs = ",".join(f"{name}={column}" for name, column in self.columns.items())
        words = [f"--map {shlex.quote(pairs)}"] if pairs else []
        words += [f"--time-format '{self.time_format}'"] if self.time_format else []
        return " ".join(words) + (f" ({self.order})" if self.order else "")

    def applied(self, options: ReadOptions) -> ReadOptions:
        """The options with these among them."""
        changes = {"columns": {**options.columns, **self.columns}, "time_format": self.time_format}
        return options.model_copy(update=changes)


class UnreadableTimesError(DataError):
    """Times of a file that cannot be read without being told how.

    Attributes:
        column: the column taken for times.
        samples: its first values.
        remedies: options that would read the file; several where its rows do not tell day and month apart.
    """

    def __init__(
        self,
        name: str,
        column: str,
        samples: Sequence[str],
        others: Mapping[str, Sequence[str]] | None = None,
        *,
        is_named: bool = False,
    ):
        message, self.remedies = advise(column, samples, others or {})
        why = "as --map says" if is_named else "by its name"
        super().__init__(f"{name}: the column {column!r} was taken for the times, {why}, {message}")
        self.column, self.samples, self.is_named = column, samples, is_named


class DaysWithoutClockError(UnreadableTimesError):
    """The column whose name looks like that of the times holds days alone; a clock may stand in another one."""


def propose_formats(samples: Sequence[str]) -> list[str]:
    """strptime layouts that read most samples as times from 1990 to 2099, those that read the most first."""
    values = pa.array([text for text in samples if text.strip()], pa.string())
    if not len(values):
        return []
    shapes = {_shape(text) for text in values.slice(0, _SHAPES).to_pylist()}
    counts = {
        form: count_plausible(strptime_layout(form).parse(values)) for form, shape in _FORMAT_SHAPES if shape in shapes
    }
    best = max(counts.values(), default=0)
    return [form for form, count in counts.items() if count == best and 2 * count >= len(values)]


def advise(column: str, samples: Sequence[str], others: Mapping[str, Sequence[str]]) -> tuple[str, tuple[Remedy, ...]]:
    """Why the column cannot be read, which others look like times, and the options that read them.

    Args:
        others: all columns of the file with their first values, row by row.

    Returns:
        The rest of a sentence that names the column, and the options in it.
    """
    shown = _first(samples)[:40]
    rest = {other: values for other, values in others.items() if other != column and "," not in other}
    days = [other for other, values in rest.items() if looks_like_days(values)]
    clocks = [other for other, values in rest.items() if _looks_like_clocks(values)]
    times = [other for other, values in rest.items() if other not in (*days, *clocks) and _looks_like_times(values)]
    if _looks_like_clocks(samples):
        text = f"but it holds clock times without a day, such as {shown!r}"
        if days:
            return _together(text, others, days[0], column)
        if not times:
            return f"{text}, and no other column holds the day; add one and name it with --map date=COLUMN", ()
    elif looks_like_days(samples) and (clocks or times):
        text = f"but it holds days without a clock, such as {shown!r}"
        if clocks:
            return _together(text, others, column, clocks[0])
    else:
        text = f"but no layout is known for {shown!r}"
        if forms := _forms(samples):
            remedies = tuple(Remedy(form, order=order) for form, order in forms)
            return f"{text}; read it with {_either(remedies)}", remedies
        if all(re.fullmatch(r"\s*\d{1,8}\s*", value) for value in samples):
            text += " (a count is no time, and a file without times cannot be used)"
    if times or days:
        looks = ", ".join(f"{other} ({_first(rest[other])[:30]!r})" for other in [*times, *days][:_MOST_COLUMNS])
        best = [*times, *days][0]
        remedies = tuple(Remedy(form, {"time": best}, order) for form, order in _forms(rest[best], known=True))
        return f"{text}; columns that look like times: {looks}; read it with {_either(remedies)}", remedies
    return f"{text}; name the column with --map time=COLUMN, or its layout with --time-format '%d.%m.%Y %H:%M'", ()


def _together(text: str, columns: Mapping[str, Sequence[str]], day: str, clock: str) -> tuple[str, tuple[Remedy, ...]]:
    """Advice to read two columns as one time; their values are those of the same rows."""
    pairs = [f"{without_midnight(one)} {two.strip()}" for one, two in zip(columns[day], columns[clock], strict=False)]
    both = {"date": day, "time": clock}
    remedies = tuple(Remedy(form, both, order) for form, order in _forms(pairs, known=True))
    return f"{text}; read day and clock together with {_either(remedies)}", remedies


def _forms(samples: Sequence[str], *, known: bool = False) -> list[tuple[str | None, str]]:
    """Layouts to propose, each with its order of day and month where both orders read the samples.

    Args:
        known: None instead of a layout where times of this look are read without being told.
    """
    present = pa.array([value.strip() for value in samples if value.strip()], pa.string())
    if known and len(present) and any(count_plausible(way.parse(present)) == len(present) for way in LAYOUTS):
        return [(None, "")]
    forms = propose_formats(samples)
    if not forms:
        return [(None, "")] if known else []
    shape = forms[0].replace("%m", "%d")
    turned = [form for form in forms if form.replace("%m", "%d") == shape and form[:2] in _ORDER]
    if len(turned) > 1:
        return [(form, _ORDER[form[:2]]) for form in turned]
    return [(forms[0], "")]


def without_midnight(day: str) -> str:
    """A day as some programs write it, with midnight beside it, alone."""
    return _MIDNIGHT.sub("", day.strip())


def _either(remedies: Sequence[Remedy]) -> str:
    return " or ".join(remedy.spoken() for remedy in remedies)


def _first(values: Sequence[str]) -> str:
    return next((value.strip() for value in values if value.strip()), "")


def looks_like_days(values: Sequence[str]) -> bool:
    """Whether most values are days without a clock, or with midnight beside them."""
    return any(form in _DAY for form in propose_formats([without_midnight(value) for value in values]))


def _looks_like_clocks(values: Sequence[str]) -> bool:
    present = [value for value in values if value.strip()]
    return bool(present) and 2 * sum(1 for value in present if _CLOCK.match(value)) > len(present)


def _looks_like_times(values: Sequence[str]) -> bool:
    present = pa.array([value for value in values if value.strip()], pa.string())
    if not len(present):
        return False
    if any(count_plausible(layout.parse(present)) == len(present) for layout in LAYOUTS):
        return True
    return bool(propose_formats(values))
