"""Formats of times that people write, as strptime formats."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

import pyarrow as pa

from recap.data.parsing.times import MONTHS, count_plausible, in_english, strptime_layout

_SAMPLE: Final = 300
_FORMS: Final = 8
"""Values whose forms are compared; some have an hour or a weekday more."""
_CLOCK: Final = re.compile(
    r"(?<!\d)\d{1,2}(?:(?P<a> ?[:h时時] ?|(?<= \d\d)\.(?=[\d.]+$))\d\d"
    r"(?:(?P<b>[:m分.] ?)\d\d(?P<f>[.,]\d+)?)?(?P<end>[m分秒]?)|(?= ?[AP]M))"
    r"(?P<gap> ?)(?P<half>[AP]M\b)?(?P<zone> ?(?:[+-]\d\d:?\d\d|Z|UTC|GMT)\b)?",
    re.IGNORECASE,
)
_TOGETHER: Final = {14: ["%Y%m%d%H%M%S"], 12: ["%Y%m%d%H%M"], 8: ["%Y%m%d", "%d%m%Y", "%m%d%Y"]}
_WEEK: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_LITERAL: Final = " T at on um Uhr den le à a las del de 年 月 日 "
"""Words next to days and clocks that mean nothing more; others, such as an afternoon in Korean, may."""


def is_clock(text: str) -> bool:
    """Whether a text is a time of day without a day."""
    return _CLOCK.fullmatch(text.strip()) is not None


def written_layouts(values: Iterable[str]) -> dict[str, int]:
    """strptime layouts that read most values as times from 1990 to 2099, with how many of the first 300 they do not."""
    sample = in_english(pa.array(islice(filter(None, map(str.strip, values)), _SAMPLE), pa.string())).to_pylist()
    forms = dict.fromkeys(form for text in list(dict.fromkeys(sample))[:_FORMS] for form in _layouts(text))
    text = pa.array(sample, pa.string())
    unread = {form: len(sample) - count_plausible(strptime_layout(form).parse(text)) for form in forms}
    return {form: count for form, count in sorted(unread.items(), key=lambda item: item[1]) if 2 * count < len(sample)}


def _layouts(text: str) -> list[str]:
    text = " ".join(text[:60].replace("%", "?").split())
    clock = _CLOCK.search(text)
    if clock is None:
        return _days(text)
    days = _days(f"{text[: clock.start()]}\0{text[clock.end() :]}")
    return [day.replace("\0", _clock(clock)) for day in days]


def _clock(found: re.Match[str]) -> str:
    a, b, fraction, end, gap, half, zone = (found[name] or "" for name in ("a", "b", "f", "end", "gap", "half", "zone"))
    form = ("%I" if half else "%H") + (f"{a}%M" if a else "") + (f"{b}%S" if b else "")
    form += (f"{fraction[0]}%f" if fraction else "") + end + gap + ("%p" if half else "")
    return form + zone[: len(zone) - len(zone.strip())] + ("%Z" if zone.strip().isalpha() else "%z") * bool(zone)


def _days(text: str) -> list[str]:
    """Layouts of the days in a text: weekdays and months by name, years by their four digits, numbers in each order."""
    pieces = re.split(r"(\d+|[^\W\d_]+)", text)
    numbers = [place for place, piece in enumerate(pieces) if piece.isdigit()]
    by_name = False
    for place, piece in enumerate(pieces):
        if piece in MONTHS and not by_name:
            pieces[place], by_name = "%b", True
        elif piece[:3].title() in _WEEK:
            pieces[place] = "%a" if len(piece) == 3 else "%A"
        elif piece.isalpha() and f" {piece} " not in _LITERAL:
            return []
    years = [number for number, place in enumerate(numbers) if len(pieces[place]) == 4]
    orders = ["dy", "yd"] if by_name else ["dmy", "mdy", "ymd"]
    if len(numbers) == 1 and not by_name:
        return [text.replace(pieces[numbers[0]], form) for form in _TOGETHER.get(len(pieces[numbers[0]]), [])]
    found = []
    for order in orders:
        if len(numbers) == len(order) and (not years or order.index("y") == years[0]):
            for place, letter in zip(numbers, order, strict=True):
                pieces[place] = "%Y" if years and letter == "y" else f"%{letter}"
            found.append("".join(pieces))
    return found
