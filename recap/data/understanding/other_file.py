"""A second file in the folder that has the columns which a table lacks, and how to join both."""

from collections.abc import Collection
from pathlib import Path
from typing import Final

from recap.data.parsing.column_names import field_of, words_of
from recap.data.parsing.nested_records import Shape
from recap.data.parsing.table_source import parse_json
from recap.data.parsing.text_table import first_cells, read_head
from recap.errors import DataError

_MOST_FILES: Final = 50
_SUFFIXES: Final = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson")


def how_to_join(path: Path, names: Collection[str], missing: Collection[str]) -> str:
    """A sentence on the file next to it that has columns for the missing fields, and an id in common; else empty."""
    if "tist2015" in path.name.lower():
        return f"The POIs file of TIST2015 has the coordinates; name the folder of both: {path.parent}."
    others = sorted(item for item in path.parent.iterdir() if item != path and item.suffix.lower() in _SUFFIXES)
    for other in others[:_MOST_FILES]:
        theirs = _column_names(other)
        fields = {field_of(name)[0] for name in theirs}
        keys = next(((name, key) for name in names for key in theirs if _are_one_id(name, key)), None)
        if keys is not None and set(missing) <= fields and not {"user", "time"} <= fields:
            on = f"on={keys[0]!r}" if keys[0] == keys[1] else f"left_on={keys[0]!r}, right_on={keys[1]!r}"
            joined = f"{_read(path)}.merge({_read(other)}, {on}).to_csv('joined.csv', index=False)"
            found = f"{other.name} in the same folder has them, with {keys[1]} in common."
            return f"{found} Join both first, for example with pandas: {joined}"
    if {"review_id", "business_id"} <= set(names):
        return "Yelp's business file has the coordinates; join it by business_id first."
    return ""


def _are_one_id(name: str, other: str) -> bool:
    """Whether two columns are the places' ids: of one name, or ``id`` in the table of places."""
    return field_of(name)[0] == "poi" and (name == other or (words_of(other) == ["id"] and "id" in words_of(name)))


def _read(path: Path) -> str:
    """The call of pandas that reads a file."""
    if "json" not in path.suffix:
        return f"pd.read_csv({path.name!r}{', sep=None, engine=' + repr('python') if path.suffix != '.csv' else ''})"
    is_lines = isinstance(parse_json(read_head(path, 1)[0]), dict)
    return f"pd.read_json({path.name!r}{', lines=True' if is_lines else ''})"


def _column_names(path: Path) -> list[str]:
    try:
        if "json" not in path.suffix:
            return first_cells(path, None, None)[1]
        first = parse_json(read_head(path, 1)[0])
        rows = [row for _, row in Shape().rows([first]) if row is not None]
        return [name for row in rows for name in row]
    except (DataError, OSError, UnicodeError, IndexError):
        return []
