"""Formats of times that people write, as strptime formats."""

import re
from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from recap.data.parsing.time_spelling import tidy_times
from recap.data.parsing.times import MONTHS, count_plausible, in_english, strptime_layout

SAMPLE: Final = 300
_FORMS: Final = 8
"""Values whose forms are compared; some have an hour or a weekday more."""
_CLOCK: Final = re.compile(
    r"(?<!\d)(?P<hour>[01]?\d|2[0-4])"
    r"(?:(?P<a> ?[:h時时] ?|(?<= \d\d)\.(?=[\d.]+$))(?P<minute>[0-5]\d)"
    r"(?:(?P<b>[:m分.] ?)(?P<second>[0-6]\d)(?:(?P<c>[.,])(?P<fraction>\d+))?)?(?P<end>[m分秒]?)|(?= ?[AP]M))"
    r"(?P<gap> ?)(?P<half>[AP]M\b)?(?P<space> ?)(?:(?P<offset>[+-]\d\d(?::?\d\d)?\b|Z\b)|(?P<zone>(?:UTC|GMT)\b))?",
    re.IGNORECASE,
)
_LETTERS: Final = {"minute": "%M", "second": "%S", "fraction": "%f", "half": "%p", "offset": "%z", "zone": "%Z"}
_TOGETHER: Final = {14: ["%Y%m%d%H%M%S"], 12: ["%Y%m%d%H%M"], 8: ["%Y%m%d", "%d%m%Y", "%m%d%Y"]}
_WEEK: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_LITERAL: Final = " T at on um Uhr den le à a las del de 年 月 日 "
"""Words next to days and clocks that mean nothing more; others, such as an afternoon in Korean, may."""


def written_layouts(values: Sequence[str], least: float) -> list[str]:
    """strptime layouts that read most of the first values as times from 1990 to 2099, the best one first. ``least``:
    share that the best must read.
    """
    text = in_english(tidy_times(pa.array(values[:SAMPLE], pa.string())))
    forms = dict.fromkeys(form for value in text.to_pylist()[:_FORMS] for form in _layouts(value))
    read = {form: count_plausible(strptime_layout(form).parse(text)) / len(text) for form in forms}
    is_read = max(read.values(), default=0) >= least
    return sorted((form for form in read if is_read and read[form] > 0.5), key=lambda form: -read[form])


def _layouts(text: str) -> list[str]:
    text = " ".join(text[:60].replace("%", "?").split())
    clock = _CLOCK.search(text)
    if clock is None:
        return _days(text)
    letters = _LETTERS | {"hour": "%I" if clock["half"] else "%H"}
    form = "".join(letters.get(name, part) for name, part in clock.groupdict().items() if part)
    return [day.replace("\0", form) for day in _days(f"{text[: clock.start()]}\0{text[clock.end() :]}")]


def _days(text: str) -> list[str]:
    """Layouts of the days in a text: weekdays and months by name, years by their four digits, numbers in each order."""
    pieces = re.split(r"(\d+|[^\W\d_]+)", text)
    numbers = [place for place, piece in enumerate(pieces) if piece.isdigit()]
    if len(numbers) == 1:
        return [text.replace(pieces[numbers[0]], form) for form in _TOGETHER.get(len(pieces[numbers[0]]), [])]
    orders = ["dmy", "mdy", "ymd"]
    for place, piece in enumerate(pieces):
        if piece in MONTHS and len(orders) == 3:
            pieces[place], orders = "%b", ["dy", "yd"]
        elif piece[:3].title() in _WEEK:
            pieces[place] = "%a" if len(piece) == 3 else "%A"
        elif piece.isalpha() and f" {piece} " not in _LITERAL:
            return []
    years = [number for number, place in enumerate(numbers) if len(pieces[place]) == 4]
    found = []
    for order in orders:
        if len(numbers) == len(order) and (not years or order.index("y") == years[0]):
            for place, letter in zip(numbers, order, strict=True):
                pieces[place] = "%Y" if years and letter == "y" else f"%{letter}"
            found.append("".join(pieces))
    return found
