"""Coordinates as people and programs write them: degrees with signs, letters, minutes and seconds, and points."""

import re
import struct
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.formats import read_words
from recap.data.parsing.row_block import decoded, to_numbers

_KNOWN: Final = read_words("degrees")
_ANGLE, _POINTS, _ORDER = (
    {name: pattern % _KNOWN["parts"] for name, pattern in _KNOWN[group].items()}
    for group in ("angle", "point", "order")
)
X_FIRST: Final = _ORDER["x_first"]
_FEW: Final = 0.05
_WKB_POINT: Final = re.compile(r"(0[01])[\dA-Fa-f]{8}(?:[\dA-Fa-f]{8})?([\dA-Fa-f]{32})", re.ASCII)


def to_degrees(values: pa.Array) -> pa.Array:
    """float64 degrees of numbers, or of text such as 48°06'35.5"N, 11.6W or 48,1°; null where it is neither."""
    numbers = to_numbers(values)
    if not numbers.null_count or not pa.types.is_string(values.type):
        return numbers
    unread = pc.is_null(numbers)
    text = pc.if_else(unread, values, None)
    text = pc.replace_substring_regex(text, r"[\s\x{a0}]+", " ")
    text = pc.utf8_trim_whitespace(pc.replace_substring_regex(text, r"[\x{2212}\x{2013}]", "-"))
    text = pc.if_else(pc.match_substring_regex(text, _ANGLE["shows"] + r"|^-\d|^[+-]?\d{1,3}[ :]\d{1,2}"), text, None)
    if text.null_count == len(text):
        return numbers
    parts = pc.extract_regex(text, _ANGLE["whole"])

    def number(name: str) -> np.ndarray:
        plain = pc.replace_substring(pc.fill_null(pc.struct_field(parts, name), ""), ",", ".")
        return np.asarray(pc.fill_null(to_numbers(plain), 0.0).to_numpy(zero_copy_only=False))

    letters = (pc.fill_null(pc.struct_field(parts, name), "") for name in ("first", "last"))
    way = pc.utf8_lower(pc.binary_join_element_wise(*letters, ""))
    is_negative = pc.or_(pc.match_substring_regex(way, "^[sw]"), pc.equal(pc.struct_field(parts, "sign"), "-"))
    size = number("degrees") + number("minutes") / 60 + number("seconds") / 3600
    signed = np.where(np.asarray(pc.fill_null(is_negative, False)), -size, size)
    fits = pc.and_(pc.is_valid(parts), pc.less_equal(pc.utf8_length(way), 5))
    return pc.if_else(unread, pc.if_else(fits, pa.array(signed), None), numbers)


def split_point(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The two coordinates of ``40.7,-74.0``, ``(40.7°, -74.0°)``, ``POINT(-74.0 40.7)``, GeoJSON or WKB, else null."""
    values = decoded(values)
    if pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type):
        values = pa.array([None if item is None else item.hex() for item in values.to_pylist()], pa.string())
    text = pc.cast(values, pa.string())
    halves: list[tuple[pa.Array, pa.Array]] = []
    for form, pattern in _POINTS.items():
        parts = pc.extract_regex(text, pattern)
        pair = pc.struct_field(parts, "a"), pc.struct_field(parts, "b")
        fits = pc.is_valid(pair[0])
        if form == "angles":  # neither a house number and its postcode, nor degrees and minutes of one angle
            for half in pair:
                fits = pc.and_(fits, pc.is_valid(to_degrees(half)))
            fits = pc.and_(fits, pc.and_(pc.match_substring_regex(text, _ANGLE["shows"]), pc.is_null(to_degrees(text))))
        halves.append((pc.if_else(fits, pair[0], None), pc.if_else(fits, pair[1], None)))
        if not halves[-1][0].null_count:
            return halves[-1]
    halves.append(_of_wkb(text))
    a, b = (pc.coalesce(*parts) for parts in zip(*halves, strict=True))
    return a, b


def _of_wkb(text: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Longitude and latitude of well-known binary in hexadecimal digits."""
    points = []
    for value in text.to_pylist():
        match = _WKB_POINT.fullmatch(value or "")
        points.append(struct.unpack("<2d" if match[1] == "01" else ">2d", bytes.fromhex(match[2])) if match else None)
    x, y = (pa.array([point and repr(point[axis]) for point in points], pa.string()) for axis in (0, 1))
    return x, y


def wraps_around(longitudes: pa.Array) -> bool:
    """Whether longitudes run from 0 to 360 degrees: none is negative, and too many for errors are above 180."""
    numbers = longitudes.drop_null().to_numpy(zero_copy_only=False)
    return bool(len(numbers) and numbers.min() >= 0 and ((numbers > 180) & (numbers <= 360)).mean() >= _FEW)


def unwrapped(longitudes: pa.Array) -> pa.Array:
    """Longitudes from 0 to 360 degrees as -180 to 180."""
    is_west = pc.and_(pc.greater(longitudes, 180), pc.less_equal(longitudes, 360))
    return pc.if_else(is_west, pc.subtract(longitudes, 360), longitudes)
