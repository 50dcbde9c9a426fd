"""The meaning of a column's name in a dozen languages; the words are in `column_names.toml`."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from recap.data.parsing.formats import read_words

_KNOWN: Final = {field: frozenset(words.split()) for field, words in read_words("column_names").items()}
_ENDS: Final = [pair.replace("_", " ").split("/") for pair in sorted(_KNOWN.pop("ends"), key=len, reverse=True)]
_FIELDS: Final = tuple(_KNOWN)[: tuple(_KNOWN).index("noise")]
VALUE: Final = re.compile(r"[+-]?\d+([.,]\d+)?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|\d{1,2}:\d\d.*|.*\(-?\d.*")
"""Values that are no column name: a number, a date, a clock, a point."""
_LETTERS: Final = str.maketrans("łıøßđ", "liosd")

EXACT: Final = 3.0
"""Points of a name that is a field's word; .5 less if one of its words is, 1 less if one starts with it."""


def words_of(column: str) -> list[str]:
    """The words of a name in lower case without accents.

    >>> words_of("Venue.GeoBreite"), words_of("customerID")
    (['venue', 'geo', 'breite'], ['customer', 'id'])
    """
    column = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", column)
    plain = unicodedata.normalize("NFKD", column.lower().translate(_LETTERS))
    plain = "".join(letter for letter in plain if not "\u0300" <= letter <= "\u036f")
    return re.findall(r"[^\W\d_]+", unicodedata.normalize("NFC", plain))


def says(column: str, mark: str) -> bool:
    """Whether a name has a word for an id, local or utc times, or the end of a stay."""
    return _points(words_of(column), _KNOWN[mark]) > EXACT - 1


def twins_of(column: str) -> Iterator[tuple[str, str]]:
    """What a name at the origin of a trip may be called at its destination, and the words that both have.

    >>> ("end station", "station") in twins_of("Start station"), ("dlat", "lat") in twins_of("olat")
    (True, True)
    """
    words = key_of(column)
    for origin, destination in _ENDS:
        for match in re.finditer(rf"\b{origin}|{origin}\b" if origin.isascii() else origin, words):
            before, after = words[: match.start()], words[match.end() :]
            if len(origin) > 1 or (before + after).strip():
                yield f"{before}{destination}{after}", " ".join(f"{before} {after}".split())


def key_of(column: str) -> str:
    """A name as twins are compared: its words and numbers."""
    pieces = re.findall(r"\d+|\D+", column)
    return " ".join(part for piece in pieces for part in ([piece] if piece.isdigit() else words_of(piece)))


@lru_cache(maxsize=10_000)
def field_of(column: str) -> tuple[str, float]:
    """The field of `--map` that a name means, with points: ``("", 0)`` means nothing, ``("", -1)`` something else.

    >>> field_of("KundenNr"), field_of("venue_lat"), field_of("store_zip"), field_of("checkin_id")
    (('user', 2.0), ('lat', 2.5), ('', -1.0), ('', -1.0))
    """
    words = words_of(column)
    points_of = {field: points for field in _FIELDS if (points := _points(words, _KNOWN[field]))}
    noise = _points(words_of(column.rstrip(".").rpartition(".")[2]), _KNOWN["noise"])
    field = max(points_of, key=lambda field: points_of[field], default="")
    if noise and "tz" not in points_of and points_of.get(field, 0) < EXACT:
        return "", -1.0
    if field == "name" and "user" in points_of:  # tells who it is, if worse than a number
        return "user", 1.5
    if field == "time" and _points(words, _KNOWN["id"]):
        field = "user" if "user" in points_of else "poi" if "poi" in points_of else ""
        return field, points_of.get(field, -1.0)
    return field + "_id" * (field == "category" and says(column, "id")), points_of.get(field, 0.0)


def _points(words: list[str], known: frozenset[str]) -> float:
    if "".join(words) in known or (len(words) == 2 and words[1] in _KNOWN["id"] and words[0] in known):
        return EXACT
    if known & set(words) or any(word.removesuffix(end) in known for word in words for end in _KNOWN["id"] - {word}):
        return EXACT - 0.5
    long = tuple(word for word in known - _KNOWN["whole"] if len(word) > 3 or not word.isascii())
    return (EXACT - 1) * any(word.startswith(long) or word.endswith(long) for word in words)
