"""Check-ins of a DataFrame, understood and read as those of a file."""

import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypedDict

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recap.data.parsing.options import FIELDS, ReadOptions, parse_bbox, parse_mapping
from recap.data.parsing.read_report import RawRead
from recap.data.reading import read_checkins, understand
from recap.errors import ConfigError, DataError, RecapError

_OPTION: Final = re.compile(r"--(map|timezone|time-format|bbox) ('[^']*'|[^\s;]*[^\s;.,])|--(local-times|skip-bad-rows)")


class Reading(TypedDict, total=False):
    """How check-ins are read where their columns leave it open, see `ReadOptions`; ``bbox`` is W, S, E, N in degrees."""

    columns: Mapping[str, str]
    timezone: str
    local_times: bool
    time_format: str
    bbox: str | tuple[float, float, float, float]
    encoding: str
    delimiter: str
    multiline: bool
    skip_bad_rows: bool


def read_given(checkins: pd.DataFrame | str | Path, source_format: str, reading: Reading) -> RawRead:
    """Read a DataFrame or a path; errors name the options as `Reading` does.

    Raises:
        DataError: a column or the zone is unsure, a bad row, or neither DataFrame nor path.
        ConfigError: an unknown option, or a value out of range.
    """
    columns, box = dict(reading.get("columns", {})), reading.get("bbox")
    unknown = sorted(columns.keys() - FIELDS)
    if unknown:
        raise ConfigError(f"columns has no field {unknown[0]!r}; choose of {', '.join(FIELDS)}")
    corners = box if box is None or isinstance(box, str) else ",".join(map(str, box))
    options = ReadOptions.parse({**reading, "columns": columns, "bbox": corners and parse_bbox(corners)})
    with _as_file(checkins) as path:
        try:
            is_frame = isinstance(checkins, pd.DataFrame)
            found = understand(path, "parquet" if is_frame else source_format, options)
            if found.question is not None:
                raise DataError(found.refusal())
            return read_checkins(path, found.source_format, found.options)
        except RecapError as error:
            raise type(error)(_OPTION.sub(_as_argument, str(error))) from error.__cause__


@contextmanager
def _as_file(checkins: pd.DataFrame | str | Path) -> Iterator[Path]:
    """Check-ins as a file; those of a DataFrame are Parquet, for as long as they are read."""
    if isinstance(checkins, str | Path):
        yield Path(checkins)
        return
    if not isinstance(checkins, pd.DataFrame):
        raise DataError(f"check-ins must be a pandas DataFrame or a path, got {type(checkins).__name__}")
    named = [name for name in checkins.index.names if name is not None]
    table = checkins.reset_index(named) if named else checkins
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "DataFrame"
        columns = [_as_arrow(table.iloc[:, place]) for place in range(table.shape[1])]
        pq.write_table(pa.Table.from_arrays(columns, [str(name) for name in table.columns]), path)
        yield path


def _as_arrow(column: pd.Series) -> pa.Array:
    """A column as Parquet stores it; shapes, periods and mixed values become text."""
    try:
        values = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        values = None
    if values is None or isinstance(values.type, pa.BaseExtensionType):
        texts = column.astype(object).map(str, na_action="ignore")
        return pa.array(texts, pa.string(), from_pandas=True)
    return values


def _as_argument(found: re.Match[str]) -> str:
    """An option of the command line as an argument.

    >>> _OPTION.sub(_as_argument, "suggest --map 'user=a b,lat=y' --timezone Asia/Tokyo --local-times; or")
    "suggest columns={'user': 'a b', 'lat': 'y'}, timezone='Asia/Tokyo', local_times=True; or"
    """
    option, text, flag = found.groups()
    value = " ".join(shlex.split(text or ""))
    shown = "True" if flag else str(parse_mapping([value])) if option == "map" else repr(value)
    return f"{(flag or option).replace('-', '_').replace('map', 'columns')}={shown}"
