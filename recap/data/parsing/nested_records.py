"""Records within records as flat rows: a list of visits inside a record gives one row for each visit."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from recap.data.parsing.column_names import field_of
from recap.errors import DataError

_DEEPEST: Final = 6
_MOST_NUMBERED: Final = 9
"""Items of a list that describes one thing, such as its categories, that become columns; longer lists are text."""

Record = dict[str, Any]
Flat = dict[str, str]


def visit_lists(records: Iterable[Any], name: str) -> tuple[str, ...]:
    """How visits are written inside records: the path of a list that has a record with a time or coordinates for each,
    or of lists of one length, one of times, that have an item for each; none where the records are visits. Raises
    DataError: several lists of visits in a record, one inside another, or such lists of several lengths.
    """
    known = [record for record in records if isinstance(record, dict)]
    visits = dict(_lists_of_visits(known))
    own = {path for record in known for path in _leaves(record)} if visits else set()
    if all(any(_means(path, field) for path in own) for field in ("time", "lat", "lon")):
        visits = {}
    if len(visits) > 1 or any(visits.values()):
        _refuse(name, [*visits])
    return tuple(visits or _parallel_lists(known, name))


def flat_visits(records: Iterable[Any], lists: Sequence[str], first: int = 1) -> Iterator[tuple[int, Flat | None]]:
    """The number of its record, and the flat values of each visit in `visit_lists`; None where a record is none."""
    for number, record in enumerate(records, first):
        if isinstance(record, dict):
            own = flat(record, leave=lists)
            lists_of = {path: value for path, value in walk(record) if isinstance(value, list)}
            missing = [None] if len(lists) == 1 else []
            for item in zip_longest(*(lists_of.get(path, missing) for path in lists)) if lists else [()]:
                yield number, own | flat(dict(zip(lists, item, strict=True)))
        else:
            yield number, None


def records_of(document: Any, name: str) -> list[Any] | None:
    """The records of a whole JSON document: its items, those of its one list, or itself; None if it holds none. Lists
    or records by users' ids become a column of users. Raises DataError: it has several lists of visits.
    """
    if not isinstance(document, dict):
        return document if isinstance(document, list) else None
    if "columns" in document and _is_table(document["columns"], document.get("data")):
        return [dict(zip(document["columns"], row, strict=True)) for row in document["data"]]
    by_user = next((part for part in (document, *document.values()) if _is_by_user(part)), None)
    if by_user is not None:
        records = {key: value if isinstance(value, dict) else {"visits": value} for key, value in by_user.items()}
        return [{"user": key, **record} for key, record in records.items()]
    lists = {key: items for key, items in document.items() if _has_records(items)}
    visits = {key: items for key, items in lists.items() if _is_of_visits(items)}
    if len(visits) > 1:
        _refuse(name, [*visits])
    if len(lists) > 1 and not visits:
        return [document]
    for key, items in (visits or lists).items():
        own = {key: value for key, value in document.items() if not isinstance(value, list | dict)}
        return [item | own | item if isinstance(item, dict) else item for item in items]
    columns = [column for column in document.values() if isinstance(column, dict) and column]
    are_columns = len(columns) == len(document) > 1 and all(column.keys() == columns[0].keys() for column in columns)
    if are_columns and not any(isinstance(value, list | dict) for column in columns for value in column.values()):
        return [{key: column[row] for key, column in document.items()} for row in columns[0]]
    return [document]


def _is_table(columns: Any, rows: Any) -> bool:
    """Whether rows have a value for each column, as pandas splits a table."""
    are_lists = isinstance(columns, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows)
    return are_lists and all(isinstance(name, str) for name in columns) and {*map(len, rows)} == {len(columns)}


def _is_by_user(document: Any) -> bool:
    """Whether all values are visits of one form, without users of their own, under keys that mean no column."""
    if not isinstance(document, dict):
        return False
    visits = [value if _has_records(value) else _only_list(value) for value in document.values()]
    if len(visits) < 2 or not all(map(_is_of_visits, visits)) or any(field_of(key)[1] for key in document):
        return False
    forms = {frozenset(_leaves(next(item for item in items if isinstance(item, dict)))) for items in visits}
    return len(forms) == 1 and not any(_means(path, "user") for path in next(iter(forms)))


def _only_list(value: Any) -> list[Any]:
    lists = [items for items in value.values() if _has_records(items)] if isinstance(value, dict) else []
    return lists[0] if len(lists) == 1 else []


def _refuse(name: str, lists: Sequence[str]) -> None:
    shown = " and ".join(lists[:4]) if len(lists) > 1 else f"{lists[0]}, inside another list"
    raise DataError(
        f"{name}: its records hold more than one list of visits ({shown}{', …' if len(lists) > 4 else ''}); expected "
        "one list, or one visit per record; write the visits you mean as a table"
    )


def _has_records(items: Any) -> bool:
    return isinstance(items, list) and any(isinstance(item, dict) for item in items[:10])


def _is_of_visits(items: Iterable[Any]) -> bool:
    """Whether records have times or coordinates of their own."""
    return any(_means(path, "time", "lat", "lon") for item in items if isinstance(item, dict) for path in _leaves(item))


def _means(path: str, *fields: str) -> bool:
    return field_of(path.rpartition(".")[2])[0] in fields


def _leaves(record: Mapping[str, Any]) -> Iterator[str]:
    """Paths of values, lists of records left out."""
    return (path for path, value in walk(record) if not _has_records(value))


def walk(record: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Values by their path."""
    for key, value in record.items():
        if not isinstance(value, dict):
            yield prefix + key, value
        elif depth < _DEEPEST:
            yield from walk(value, f"{prefix}{key}.", depth + 1)


def _lists_of_visits(records: Iterable[Any], prefix: str = "", inside: int = 0) -> Iterator[tuple[str, int]]:
    """Lists of visits by path, and inside how many lists they are."""
    for record in records:
        for path, items in walk(record, prefix) if isinstance(record, dict) else ():
            if _has_records(items):
                yield from [(path, inside)] if _is_of_visits(items) else []
                yield from _lists_of_visits(items, f"{path}.", inside + 1) if inside < _DEEPEST else []


def _parallel_lists(records: Sequence[Record], name: str) -> list[str]:
    """Lists that have as many items as the one of times."""
    sizes = [{path: len(value) for path, value in walk(record) if isinstance(value, list)} for record in records]
    paths = dict.fromkeys(path for size in sizes for path in size)
    lengths = {path: [size.get(path, 0) for size in sizes] for path in paths}
    times = next((path for path in lengths if _means(path, "time")), None)
    if times is None:
        return []
    together = [path for path, length in lengths.items() if length == lengths[times]]
    named = [path for path in lengths if _means(path, "time", "poi", "lat", "lon", "user")]
    if len(named) == 1 and set(lengths[times]) <= {0, 2}:
        return []  # a beginning and an end
    points = [path for path in lengths if _means(path, "lat", "lon") and set(lengths[path]) <= {0, 2, 3}]
    others = [path for path in named if path not in (*together, *points)]
    if others:
        raise DataError(
            f"{name}: the lists {times} and {others[0]} have different lengths; expected one item of each per visit"
        )
    return together


def flat(record: Mapping[str, Any], leave: Collection[str] = (), depth: int = 0) -> Flat:
    """Values as text by their path; items of short lists by their number, from 1."""
    values: Flat = {}
    for path, value in walk(record):
        if path in leave:
            continue
        if isinstance(value, list) and len(value) <= _MOST_NUMBERED:
            items = {f"{path}.{place}": item for place, item in enumerate(value, 1)}
            values |= flat(items, depth=depth + 1) if depth < _DEEPEST else {}
        else:
            is_plain = isinstance(value, bool | int | float | list)
            text = "" if value is None else json.dumps(value, default=str) if is_plain else str(value)
            values[path] = text.encode("utf-8", "replace").decode()  # JSON can name halves of letters
    return values
