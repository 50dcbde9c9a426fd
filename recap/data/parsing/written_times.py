"""Times as people write them: the strptime layouts that a text may have, by its form."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

import pyarrow as pa

from recap.data.parsing.times import MONTHS, count_plausible, strptime_layout

_SAMPLE: Final = 300
_FORMS: Final = 8
"""Values whose forms are looked at: May is short and long, 3 and 13 have one digit and two."""
_CLOCK: Final = re.compile(
    r"(?<!\d)\d{1,2}(?P<a> ?[:hH时時] ?)\d\d(?:(?P<b>[:m分] ?)\d\d(?P<f>[.,]\d+)?)?(?P<end>m|分|秒)?"
    r"(?P<gap> ?)(?P<half>[AaPp]\.? ?[Mm]\b\.?)?(?P<zone> ?(?:[+-]\d\d:?\d\d|Z|UTC|GMT)\b)?"
)
_ALONE: Final = re.compile(r"(?<!\d)\d{1,2}(?P<gap> ?)[AaPp][Mm]\b")
_TOGETHER: Final = {14: ["%Y%m%d%H%M%S"], 12: ["%Y%m%d%H%M"], 8: ["%Y%m%d", "%d%m%Y", "%m%d%Y"], 6: ["%H%M%S"]}
_LITERAL: Final = (
    "",
    "T",
    "Z",
    "at",
    "on",
    "um",
    "Uhr",
    "den",
    "le",
    "à",
    "a",
    "las",
    "del",
    "de",
    "年",
    "月",
    "日",
    "h",
)
"""Words beside days and clocks that mean nothing more; others, such as an afternoon in Korean, may."""


def is_clock(text: str) -> bool:
    """Whether a text is a time of day without a day."""
    return any(form.fullmatch(text.strip()) for form in (_CLOCK, _ALONE))


def written_layouts(values: Iterable[str]) -> dict[str, int]:
    """strptime layouts that read most values as times from 1990 to 2099, with how many of the first 300 they do not."""
    sample = list(islice((text for text in (value.strip() for value in values) if text), _SAMPLE))
    forms = dict.fromkeys(form for text in list(dict.fromkeys(sample))[:_FORMS] for form in _layouts(text))
    text = pa.array(sample, pa.string())
    unread = {form: len(sample) - count_plausible(strptime_layout(form).parse(text)) for form in forms}
    return {form: count for form, count in sorted(unread.items(), key=lambda item: item[1]) if 2 * count < len(sample)}


def _layouts(text: str) -> list[str]:
    if len(text) > 60:
        return []
    clock = _CLOCK.search(text) or _ALONE.search(text)
    if clock is None:
        return _days(text)
    before, after = text[: clock.start()], text[clock.end() :]
    if after.strip() in _LITERAL:
        return [day + _clock(clock) + after for day in _days(before)]
    return [before + _clock(clock) + day for day in _days(after)] if not before.strip() else []


def _clock(found: re.Match[str]) -> str:
    if found.re is _ALONE:
        return f"%I{found['gap']}%p"
    hour = "%I" if found["half"] else "%H"
    form = f"{hour}{found['a']}%M" + (f"{found['b']}%S" if found["b"] else "")
    if found["f"]:
        form += f"{found['f'][0]}%f"
    form += (found["end"] or "") + found["gap"] + ("%p" if found["half"] else "")
    if zone := found["zone"]:
        form += " " * zone.startswith(" ") + ("%Z" if zone.strip() in ("UTC", "GMT") else "%z")
    return form


def _days(text: str) -> list[str]:
    """Layouts of the days in a text: weekdays and months by name, years by their four digits, numbers in each order."""
    pieces = re.split(r"(\d+|[^\W\d_]+)", text)
    months = weekdays = 0
    numbers = []
    for place, piece in enumerate(pieces):
        if piece.isdigit():
            numbers.append(place)
        elif piece[:3].title() in MONTHS and not months:
            pieces[place], months = "%b" if len(piece) == 3 else "%B", 1
        elif piece[:3].title() in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun") and not weekdays:
            pieces[place], weekdays = "%a" if len(piece) == 3 else "%A", 1
        elif piece.isalpha() and piece not in _LITERAL:
            return []
        else:
            pieces[place] = piece.replace("%", "%%")
    orders: list[list[str]]
    if len(numbers) == 1 and not months:
        orders = [[form] for form in _TOGETHER.get(len(pieces[numbers[0]]), [])]
    elif len(numbers) == 3 - months:
        years = [number for number, place in enumerate(numbers) if len(pieces[place]) == 4]
        orders = [
            [f"%{'Y' if years and letter == 'y' else letter}" for letter in order]
            for order in (["dy", "yd"] if months else ["dmy", "mdy", "ymd"])
            if not years or order.index("y") == years[0]
        ]
    else:
        return []
    found = []
    for order in orders:
        for place, letter in zip(numbers, order, strict=True):
            pieces[place] = letter
        found.append("".join(pieces))
    return [form.replace("%b", "%B") for form in found if "%b" in form] + found if months else found
