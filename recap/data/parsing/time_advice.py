"""What to do about times that cannot be read: the layout that reads the first of them."""

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from recap.data.parsing.times import count_plausible, strptime_layout
from recap.errors import DataError

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
_SAMPLE: Final = 200


class UnreadableTimesError(DataError):
    """Times of a file that cannot be read without being told how.

    Attributes:
        formats: strptime layouts that would read them; two where the rows do not tell day and month apart.
    """

    def __init__(self, name: str, column: str, samples: Sequence[str]) -> None:
        self.formats = propose_formats(samples)[:2]
        remedy = " or ".join(f"--time-format '{form}'" for form in self.formats)
        remedy = (
            f"read it with {remedy}"
            if remedy
            else (
                "name the column with --map time=COLUMN, a day in a column of its own with --map date=COLUMN, or the "
                "layout with --time-format '%d.%m.%Y %H:%M'"
            )
        )
        super().__init__(
            f"{name}: the column {column!r} was taken for the times, but no layout is known for "
            f"{samples[0].strip()[:40]!r}; {remedy}"
        )


def propose_formats(samples: Sequence[str]) -> list[str]:
    """strptime layouts that read most samples as times from 1990 to 2099, those that read the most first."""
    values = pa.array([text for text in samples if text.strip()][:_SAMPLE], pa.string())
    if not len(values):
        return []
    counts = {form: count_plausible(strptime_layout(form).parse(values)) for form in _FORMATS}
    best = max(counts.values())
    return [form for form, count in counts.items() if count == best and 2 * count >= len(values)]
