"""Check the tables of a dataset folder when they are loaded, in linear time.

A folder may come from anyone: its hashes do not say who wrote it.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recap import columns as c
from recap.errors import DatasetError

MOST_ROWS: Final = 200_000_000
_LATEST: Final = int(np.datetime64("2100-01-01", "s").astype(np.int64))
_RANGES: Final = {c.LATITUDE: (-90, 90), c.LONGITUDE: (-180, 180), c.TZ_OFFSET_MINUTES: (-900, 900)}
_AGAIN: Final = "; run `recap prepare` again"

_WHOLE, _REAL, _TEXT, _MOMENT, _FLAG = "whole numbers", "numbers", "text", "times with a zone", "true or false"
_PLACE: Final = {
    **dict.fromkeys((c.POI_ID, c.POI_NAME, c.CATEGORY_ID, c.CATEGORY), _TEXT),
    **dict.fromkeys((c.LATITUDE, c.LONGITUDE), _REAL),
}
_VISIT: Final = {**dict.fromkeys((c.TZ_OFFSET_MINUTES, c.SPLIT, c.SOURCE_ROW), _WHOLE), c.TIME: _MOMENT}
COLUMNS: Final[dict[str, dict[str, str]]] = {
    "checkins": {**dict.fromkeys((c.USER, c.POI, c.TRAJECTORY), _WHOLE), **_VISIT},
    "pois": {**_PLACE, **dict.fromkeys((c.CATEGORY_INDEX, c.TRAIN_CHECKINS), _WHOLE)},
    "users": {c.USER_ID: _TEXT},
    "unseen": {c.USER_ID: _TEXT, **_PLACE, **_VISIT},
}
"""Table -> column -> content; further columns of these kinds may be added."""
OPTIONAL: Final[dict[str, dict[str, str]]] = {"checkins": {c.HISTORY_ONLY: _FLAG}}


def read_table(folder: Path, name: str) -> pd.DataFrame:
    """Read a table and check its columns. Raises DatasetError: a column is missing, repeated, of another type or has
    gaps, or there are no or too many rows; pyarrow.ArrowException, OSError: no Parquet file.
    """
    path = folder / f"{name}.parquet"
    with pq.ParquetFile(path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
        if not 0 < rows <= MOST_ROWS:
            raise DatasetError(f"{path} must have 1 to {MOST_ROWS:,} rows, got {rows:,}{_AGAIN}")
        if len(set(schema.names)) < len(schema.names):
            raise DatasetError(f"{path} has a column twice{_AGAIN}")
        optional = OPTIONAL.get(name, {})
        for column, kind in (COLUMNS[name] | optional).items():
            if column not in schema.names and column not in optional:
                raise DatasetError(f"{path} has no column {column!r}{_AGAIN}")
            if column in schema.names and _kind(found := schema.field(column).type) != kind:
                raise DatasetError(f"{path}: column {column!r} must hold {kind}, got {found}{_AGAIN}")
        strange = next((field for field in schema if _kind(field.type) is None), None)
        if strange is not None:
            raise DatasetError(f"{path}: column {strange.name!r} is of type {strange.type}{_AGAIN}")
        table = file.read()
        table.validate(full=True)  # an index beyond its dictionary would read foreign memory
    gaps = next((column for column in table.column_names if table[column].null_count), None)
    if gaps is not None:
        raise DatasetError(f"{path}: column {gaps!r} has gaps{_AGAIN}")
    # Each column is freed once converted: half the peak of a large table.
    frame: pd.DataFrame = table.to_pandas(split_blocks=True, self_destruct=True)
    del table
    if c.TIME in frame:
        frame[c.TIME] = frame[c.TIME].astype("datetime64[s, UTC]")
    return frame


def _kind(kind: pa.DataType) -> str | None:
    is_kind = {
        _FLAG: pa.types.is_boolean,
        _WHOLE: pa.types.is_integer,
        _REAL: pa.types.is_floating,
        _MOMENT: lambda kind: pa.types.is_timestamp(kind) and kind.tz is not None,
        _TEXT: lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind),
    }
    stored = kind.value_type if pa.types.is_dictionary(kind) else kind
    return next((name for name, fits in is_kind.items() if fits(stored)), None)


def check_tables(where: str, **tables: pd.DataFrame) -> None:
    """Refuse indices out of range, impossible values and rows out of order. Raises DatasetError: names table, column,
    row and value of the first error.
    """

    def refuse(table: str, column: str, bad: Any, expected: str) -> None:
        rows = np.flatnonzero(bad)
        if len(rows):
            value = tables[table][column].iloc[rows[0]]
            at = f"{where}: {table}.parquet row {rows[0]:,}"
            raise DatasetError(f"{at}: {column} must be {expected}, got {str(value)[:60]!r}{_AGAIN}")

    checkins, pois, users = (tables[name] for name in ("checkins", "pois", "users"))
    limits = {c.USER: (0, len(users) - 1), c.POI: (0, len(pois) - 1), c.SPLIT: (c.TRAIN, c.TEST), **_RANGES}
    limits[c.CATEGORY_INDEX] = 0, pois[c.CATEGORY_INDEX].nunique() - 1  # without gaps
    for name, table in tables.items():
        for column in [column for column in limits if column in COLUMNS[name]]:
            low, high = (c.VAL, c.TEST) if (name, column) == ("unseen", c.SPLIT) else limits[column]
            values = table[column].to_numpy()
            refuse(name, column, ~((values >= low) & (values <= high)), f"{low:,} to {high:,}")  # NaN is outside
    if c.HISTORY_ONLY in checkins:
        aside = checkins[c.HISTORY_ONLY].to_numpy(bool) & (checkins[c.SPLIT].to_numpy() == c.TRAIN)
        refuse("checkins", c.HISTORY_ONLY, aside, "false for training check-ins")
    for name in {"checkins", "unseen"} & tables.keys():
        second = seconds_of(tables[name])
        refuse(name, c.TIME, (second < 0) | (second >= _LATEST), "in 1970 to 2099")
    second = seconds_of(checkins)
    user, trajectory = (checkins[name].to_numpy() for name in (c.USER, c.TRAJECTORY))
    if trajectory.dtype not in (np.int32, np.int64):  # differences of small or unsigned numbers wrap around
        trajectory = trajectory.astype(np.int64)
    same_user = np.append(False, user[1:] == user[:-1])
    refuse("checkins", c.USER, np.append(False, user[1:] < user[:-1]), "no smaller than the row before")
    earlier = np.append(False, second[1:] < second[:-1])
    refuse("checkins", c.TIME, earlier & same_user, "no earlier than the same user's row before")
    step = np.diff(trajectory, prepend=-1)
    starts = (step == 1) | ((step == 0) & same_user)
    refuse("checkins", c.TRAJECTORY, ~starts, "0, 1, … in the order of the rows, each of one user")
    train = np.bincount(checkins[c.POI].to_numpy()[checkins[c.SPLIT].to_numpy() == c.TRAIN], minlength=len(pois))
    refuse("pois", c.TRAIN_CHECKINS, pois[c.TRAIN_CHECKINS].to_numpy() != train, "the count of training check-ins")
    refuse("pois", c.POI_ID, pois[c.POI_ID].duplicated(), "a new id")
    refuse("users", c.USER_ID, users[c.USER_ID].duplicated(), "a new id")


def seconds_of(table: pd.DataFrame) -> np.ndarray:
    """Seconds from 1970 in UTC (int64) of each check-in."""
    seconds: np.ndarray = table[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
    return seconds
