"""Check-ins of a DataFrame, understood and read as those of a file."""

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypedDict

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recap.data.parsing.options import ReadOptions, parse_mapping
from recap.data.parsing.read_report import RawRead
from recap.data.reading import read_understood
from recap.errors import DataError, RecapError

_OPTION: Final = re.compile(r"--([a-z]+(?:-[a-z]+)*)")
_ARGUMENTS: Final = {"map": "columns", "user": "users", "format": "source_format"}


class Reading(TypedDict, total=False):
    """How to read check-ins that leave something open, see `ReadOptions`."""

    source_format: str
    columns: Mapping[str, str]
    timezone: str
    local_times: bool
    time_format: str
    skip_bad_rows: bool


def read_given(checkins: pd.DataFrame | str | Path, reading: Reading) -> RawRead:
    """Read a DataFrame or a path. Raises DataError: a column or the zone is unsure, a bad row, or neither DataFrame nor
    path; ConfigError: an unknown option, or a value out of range.
    """
    if not isinstance(checkins, pd.DataFrame | str | Path):
        raise DataError(f"check-ins must be a pandas DataFrame or a path, got {type(checkins).__name__}")
    given: dict[str, Any] = {**reading}
    with arguments_for_options(), tempfile.TemporaryDirectory() as folder:
        if isinstance(checkins, pd.DataFrame):  # as a file, for as long as it is read
            path, source_format = Path(folder) / "DataFrame", "parquet"
            table = checkins.reset_index([name for name in checkins.index.names if name is not None])
            columns = [_as_arrow(table.iloc[:, place]) for place in range(table.shape[1])]
            pq.write_table(pa.Table.from_arrays(columns, [str(name) for name in table.columns]), path)
        else:
            path, source_format = Path(checkins), given.pop("source_format", "auto")
        given["columns"] = parse_mapping([f"{field}={name}" for field, name in given.get("columns", {}).items()])
        return read_understood(path, source_format, ReadOptions.parse(given))


def _as_arrow(column: pd.Series) -> pa.Array:
    """A column as Parquet stores it; shapes, periods and mixed values become text."""
    with suppress(pa.ArrowException, TypeError, ValueError):
        values = pa.array(column, from_pandas=True)
        if not isinstance(values.type, pa.BaseExtensionType):
            return values
    return pa.array(column.astype(object).map(str, na_action="ignore"), pa.string(), from_pandas=True)


@contextmanager
def arguments_for_options() -> Iterator[None]:
    """Name Python's arguments in errors, not the options of the command line."""
    try:
        yield
    except RecapError as error:
        text = _OPTION.sub(lambda option: _ARGUMENTS.get(option[1], option[1].replace("-", "_")), str(error))
        raise type(error)(text) from error.__cause__
