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

_KINDS: Final = {
    "true or false": pa.types.is_boolean,
    "whole numbers": pa.types.is_integer,
    "numbers": pa.types.is_floating,
    "times with a zone": lambda kind: pa.types.is_timestamp(kind) and kind.tz is not None,
    "text": lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind),
}
_FLAG, _WHOLE, _REAL, _MOMENT, _TEXT = _KINDS
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
OPTIONAL: Final = {c.HISTORY_ONLY: _FLAG}


def read_table(folder: Path, name: str) -> pd.DataFrame:
    """Read a table and check its columns. Raises DatasetError: a column is missing, repeated, of another type or has
    gaps, or there are no or too many rows; pyarrow.ArrowException, OSError: no Parquet file.
    """
    path, known = folder / f"{name}.parquet", COLUMNS[name] | OPTIONAL
    with pq.ParquetFile(path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
        if not 0 < rows <= MOST_ROWS:
            raise DatasetError(f"{path} must have 1 to {MOST_ROWS:,} rows, got {rows:,}{_AGAIN}")
        if len(set(schema.names)) < len(schema.names):
            raise DatasetError(f"{path} has a column twice{_AGAIN}")
        for missing in (column for column in COLUMNS[name] if column not in schema.names):
            raise DatasetError(f"{path} has no column {missing!r}{_AGAIN}")
        for field in schema:
            stored = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            kind = next((kind for kind, fits in _KINDS.items() if fits(stored)), "")
            expected = known.get(field.name, kind or " or ".join(_KINDS))
            if kind != expected:
                raise DatasetError(f"{path}: column {field.name!r} must hold {expected}, got {field.type}{_AGAIN}")
        table = file.read()
        table.validate(full=True)  # an index beyond its dictionary would read foreign memory
    for column in table.column_names:
        if table[column].null_count:
            raise DatasetError(f"{path}: column {column!r} has gaps{_AGAIN}")
    # Each column is freed once converted: half the peak of a large table.
    frame: pd.DataFrame = table.to_pandas(split_blocks=True, self_destruct=True)
    del table
    if c.TIME in frame:
        frame[c.TIME] = frame[c.TIME].astype("datetime64[s, UTC]")
    return frame


def check_tables(where: str, **tables: pd.DataFrame) -> None:
    """Refuse indices out of range, impossible values and rows out of order. Raises DatasetError: names table, column,
    row and value of the first error.
    """

    def refuse(table: str, column: str, bad: Any, expected: str) -> None:
        rows = np.flatnonzero(bad)
        if len(rows):
            value = tables[table][column].iloc[rows[0]]
            row_name = f"{where}: {table}.parquet row {rows[0]:,}"
            raise DatasetError(f"{row_name}: {column} must be {expected}, got {str(value)[:60]!r}{_AGAIN}")

    checkins, pois, users = (tables[name] for name in ("checkins", "pois", "users"))
    limits = {c.USER: (0, len(users) - 1), c.POI: (0, len(pois) - 1), c.SPLIT: (c.TRAIN, c.TEST), **_RANGES}
    limits[c.CATEGORY_INDEX] = 0, pois[c.CATEGORY_INDEX].nunique() - 1  # without gaps
    for name, table in tables.items():
        for column in [column for column in limits if column in COLUMNS[name]]:
            low, high = (c.VAL, c.TEST) if (name, column) == ("unseen", c.SPLIT) else limits[column]
            values = table[column].to_numpy()
            refuse(name, column, ~((values >= low) & (values <= high)), f"{low:,} to {high:,}")  # NaN is outside
        if c.TIME in table:
            second = seconds_of(table)
            refuse(name, c.TIME, (second < 0) | (second >= _LATEST), "in 1970 to 2099")
    if c.HISTORY_ONLY in checkins:
        aside = checkins[c.HISTORY_ONLY].to_numpy(bool) & (checkins[c.SPLIT].to_numpy() == c.TRAIN)
        refuse("checkins", c.HISTORY_ONLY, aside, "false for training check-ins")
    user, second = checkins[c.USER].to_numpy(), seconds_of(checkins)
    same_user = np.append(False, user[1:] == user[:-1])
    refuse("checkins", c.USER, np.append(False, user[1:] < user[:-1]), "no smaller than the row before")
    earlier = np.append(False, second[1:] < second[:-1])
    refuse("checkins", c.TIME, earlier & same_user, "no earlier than the same user's row before")
    step = np.diff(checkins[c.TRAJECTORY].to_numpy(np.int64), prepend=-1)  # of unsigned numbers it would wrap around
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
