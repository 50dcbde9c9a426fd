"""Times in other spellings as the layouts know them: one blank, padded clocks, offsets in digits."""

import re
import tomllib
from datetime import timedelta, timezone, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

_ZONES: Final = tomllib.loads(Path(__file__).with_name("short_zones.toml").read_text(encoding="utf-8"))
AMBIGUOUS: Final[dict[str, str]] = _ZONES.pop("ambiguous")
_MINUTES: Final = {name: int(minutes) for minutes, names in _ZONES.items() for name in names.split()}
_TIME: Final = r"(\d:\d\d(?:[.,]\d+)?(?: ?[AaPp]\.? ?[Mm]\.?)?|T\d{4}(?:\d\d)?(?:[.,]\d+)?)"
_STEPS: Final = (
    (r"[\s\x{a0}\x{2009}\x{202f}]+", " "),
    (r"^ | $", ""),
    (r"(\d:\d\d(?:[.,]\d+)?) ?\(([A-Z]{1,5}|(?:UTC|GMT)?[+-]\d[\d:]*|[A-Z]\w+/[\w/+-]+)\)$", r"\1 \2"),
    (r" ?\([^()]*\)$", ""),
    (r"\x{2212}", "-"),
    (r"(^|[T ])(\d):(\d)", r"\g10\2:\3"),
    (r":(\d)(:|[ Z+.,-]|$)", r":0\1\2"),
    (r":(\d)([ Z+.,-]|$)", r":0\1\2"),
    (r"(Z|[+-]\d\d?:?\d*) ?\[[^\]]*\]$", r"\1"),
    (r" ?\[([^\]]*)\]$", r" \1"),
    (_TIME + r" ?(?:GMT|UTC)? ?([+-])(\d)(:\d\d)?( \d{4})?$", r"\1\g20\3\4\5"),
    (_TIME + r" ?(?:GMT|UTC)? ?([+-]\d\d):?(\d\d)( \d{4})?$", r"\1 \2:\3\4"),
    (_TIME + r" ?(?:GMT|UTC)? ?([+-]\d\d)( \d{4})?$", r"\1 \2:00\3"),
)
_NAMED: Final = (
    r"^(?P<before>.*" + _TIME[:-1].replace("(", "(?:", 1) + r")) ?(?P<zone>[A-Za-z][\w/+-]*)(?P<after> \d{4})?$"
)
_FIXED: Final = re.compile(r"^(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?$")
LARGEST_MINUTES: Final = 900


@lru_cache(maxsize=1000)
def find_zone(name: str) -> tzinfo | None:
    """An IANA zone (``Asia/Tokyo``) or a fixed offset (``+09:00``, ``UTC-3:30``); None where it is neither."""
    if fixed := _FIXED.match(name):
        minutes = 60 * int(fixed[2]) + int(fixed[3] or 0)
        way = -1 if fixed[1] == "-" else 1
        return timezone(timedelta(minutes=way * minutes)) if minutes <= LARGEST_MINUTES else None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def tidy_times(text: pa.Array) -> pa.Array:
    """Times with one blank, padded clocks and offsets such as +01:00, also for CET, GMT+1 or [Europe/Berlin]."""
    for pattern, spelling in _STEPS:
        text = pc.replace_substring_regex(text, pattern, spelling.replace(r"\g", "\\"))
    parts = pc.extract_regex(text, _NAMED)
    names = pc.dictionary_encode(pc.struct_field(parts, "zone"))
    if not len(names.dictionary):
        return text
    known = [_MINUTES.get(name.upper()) for name in names.dictionary.to_pylist()]
    minutes = pc.take(pa.array(known, pa.int64()), names.indices)
    before = pc.struct_field(parts, "before")
    for code, name in enumerate(names.dictionary.to_pylist()):
        if known[code] is None and "/" in name:
            of_zone = pc.equal(names.indices, code)
            minutes = pc.if_else(of_zone, _offsets_in(pc.if_else(of_zone, before, None), name), minutes)
    spelled = pc.binary_join_element_wise(
        before, _spell_offsets(minutes), pc.fill_null(pc.struct_field(parts, "after"), ""), ""
    )
    return pc.coalesce(spelled, text)


def _offsets_in(wall: pa.Array, name: str) -> pa.Array:
    """Minutes of a named zone at ISO wall-clock times; null where it is no zone or the time is none."""
    zone = find_zone(name)
    if zone is None:
        return pa.nulls(len(wall), pa.int64())
    times = pd.to_datetime(pd.Series(wall.to_pandas(), dtype=object), format="ISO8601", errors="coerce")
    first = np.ones(len(times), dtype=bool)
    utc = times.dt.tz_localize(zone, ambiguous=first, nonexistent="shift_forward").dt.tz_convert("UTC")
    return pa.array((times - utc.dt.tz_localize(None)).dt.total_seconds() // 60, pa.int64(), from_pandas=True)


def _spell_offsets(minutes: pa.Array) -> pa.Array:
    distinct = pc.dictionary_encode(minutes)
    spelled = [f" {'-' if m < 0 else '+'}{abs(m) // 60:02}:{abs(m) % 60:02}" for m in distinct.dictionary.to_pylist()]
    return pc.take(pa.array(spelled, pa.string()), distinct.indices)
