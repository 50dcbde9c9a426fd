"""Check-ins of a DataFrame, understood and read as those of a file."""

import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypedDict

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recap.data.coordinates import LONGITUDE_ZONE
from recap.data.parsing.options import ReadOptions, parse_bbox, parse_mapping, split_pairs
from recap.data.reading import SOURCE_FORMATS
from recap.errors import DataError, RecapError

_OPTION: Final = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?: ((?!--)(?:'[^']*'|[^\s;]*[^\s;.,:)])))?")
_COMMAND: Final = re.compile("`recap (prepare|train)`")
_MARK: Final = "\0"
_ARGUMENTS: Final = {
    "map": ("columns", ".*=.*"),
    "set": ("settings", ".*=.*"),
    "text": ("", ".*=.*"),
    "format": ("source_format", "|".join(SOURCE_FORMATS)),
    "timezone": ("timezone", f"[A-Z].*|{LONGITUDE_ZONE}"),
    "time-format": ("time_format", ".*%.*|iso|epoch|spreadsheet"),
    "bbox": ("bbox", r"-?\d.*|california"),
    "preset": ("preset", "default|every_place|nyc_paper"),
    "local-times": ("local_times", ""),
    "skip-bad-rows": ("skip_bad_rows", ""),
    "user": ("users", None),
}
"""Option -> argument, and the values that it may have: none for a flag, None where the text never gives one."""


class Reading(TypedDict, total=False):
    """How to read check-ins that leave something open, see `ReadOptions`."""

    source_format: str
    columns: Mapping[str, str]
    timezone: str
    local_times: bool
    time_format: str
    bbox: str
    encoding: str
    delimiter: str
    multiline: bool
    sheet: str
    ids: str
    skip_bad_rows: bool


@contextmanager
def as_file(checkins: Any, reading: Reading) -> Iterator[tuple[Path, str, ReadOptions]]:
    """The file, which a table is for as long as it is read, the format and the options. Errors name Python's arguments.
    Raises DataError: neither a table nor a path; ConfigError: an unknown option, or a value out of range.
    """
    given: dict[str, Any] = {**reading}
    with arguments_for_options(), tempfile.TemporaryDirectory() as folder:
        given["columns"] = parse_mapping([f"{field}={name}" for field, name in given.get("columns", {}).items()])
        if isinstance(given.get("bbox"), str):
            given["bbox"] = parse_bbox(given["bbox"])
        source_format = given.pop("source_format", "auto")
        options = ReadOptions.parse(given)
        if isinstance(checkins, str | Path):
            yield Path(checkins), source_format, options
        else:
            path = Path(folder) / "DataFrame"
            try:
                pq.write_table(_as_table(checkins), path)
            except pa.ArrowException as error:
                raise DataError(f"the {_kind(checkins)} cannot be read ({error})") from error
            yield path, "parquet", options


def _kind(checkins: Any) -> str:
    """A class with its package.

    >>> _kind([1]), _kind(pd.DataFrame())
    ('list', 'pandas.DataFrame')
    """
    return f"{type(checkins).__module__.partition('.')[0]}.{type(checkins).__name__}".removeprefix("builtins.")


def _as_table(checkins: Any) -> pa.Table:
    """A table of pandas, or any that Arrow's interface gives, as polars' do."""
    if isinstance(checkins, pd.DataFrame):
        levels = [name for name in checkins.index.names if name is not None]
        twice = next((name for name in levels if name in checkins.columns), None)
        if twice is not None:
            raise DataError(
                f"the DataFrame has a column and an index named {twice!r}: drop one, as reset_index(drop=True) does"
            )
        table = checkins.reset_index(levels)
        columns = [_as_arrow(table.iloc[:, place]) for place in range(table.shape[1])]
        return pa.Table.from_arrays(columns, [str(name) for name in table.columns])
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(checkins, polars.DataFrame):
        return checkins.to_arrow(compat_level=polars.CompatLevel.oldest())
    if not hasattr(checkins, "__arrow_c_stream__"):
        raise DataError(f"check-ins must be a DataFrame of pandas or polars, or a path, got {_kind(checkins)}")
    return pa.table(checkins)


def _as_arrow(column: pd.Series) -> pa.Array:
    """A column as Parquet stores it; shapes, periods, mixed values and times of several zones become text."""
    zones = {str(value.tzinfo) for value in column if isinstance(value, datetime)} if column.dtype == object else set()
    with suppress(pa.ArrowException, TypeError, ValueError):
        values = pa.array(column, from_pandas=True)
        if len(zones) < 2 and not isinstance(values.type, pa.BaseExtensionType):
            return values
    return pa.array(column.astype(object).map(str, na_action="ignore"), pa.string(), from_pandas=True)


@contextmanager
def arguments_for_options() -> Iterator[None]:
    """Write errors as Python, not as the command line."""
    try:
        yield
    except RecapError as error:
        raise type(error)(as_python(str(error))) from error.__cause__


def as_python(text: str) -> str:
    """Arguments in place of options of the command line.

    >>> as_python("Name it: --map 'user=card id,poi=b' --local-times; or leave out --as-of.")
    "Name it: columns={'user': 'card id', 'poi': 'b'}, local_times=True; or leave out as_of."
    """
    python = _OPTION.sub(_argument, text).replace(f"{_MARK} {_MARK}", ", ").replace(_MARK, "")
    return _COMMAND.sub(r"`recap.\1`", python)


def _argument(match: re.Match[str]) -> str:
    """One option; between marks if it is complete with its value."""
    option, value = match[1], match[2] or ""
    name, values = _ARGUMENTS.get(option, (option.replace("-", "_"), None))
    plain = value.strip("'")
    if values == "":
        return f"{_MARK}{name}=True{_MARK}" + f" {value}" * bool(value)
    if values is None or not re.fullmatch(values, plain):
        return name + f" {value}" * bool(value)
    if option in ("map", "set", "text"):
        pairs = {field: _literal(given) for field, given in (pair.split("=", 1) for pair in split_pairs(plain))}
        if option == "text":
            return _MARK + ", ".join(f"{field}={given!r}" for field, given in pairs.items()) + _MARK
        return f"{_MARK}{name}={pairs}{_MARK}"
    return f"{_MARK}{name}={plain!r}{_MARK}"


def _literal(text: str) -> bool | int | float | str:
    if text in ("true", "false"):
        return text == "true"
    number = float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else None
    return text if number is None else int(number) if number.is_integer() else number
