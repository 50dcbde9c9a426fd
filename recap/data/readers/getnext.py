"""GETNext CSV files: train, validation and test of one city in three files, with the split and trajectories kept."""

import re
from pathlib import Path
from typing import Final

import pyarrow as pa

from recap import columns as c
from recap.data.parsing.moments import HELP_ZONE
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead
from recap.data.parsing.table_builder import SPLIT_WORDS, CheckinTableBuilder
from recap.data.parsing.text_table import TextTable
from recap.errors import DataError

HEADER: Final = (
    "user_id,POI_id,POI_catid,POI_catid_code,POI_catname,latitude,longitude,timezone,UTC_time,local_time,day_of_week,"
    "norm_in_day_time,trajectory_id,norm_day_shift,norm_relative_time"
)
"""As published. Columns after `timezone` follow from the others and are not read, but for the trajectory."""

NEEDED: Final = {"user": "user_id", "poi": "POI_id", "lat": "latitude", "lon": "longitude", "time": "UTC_time"}
_OPTIONAL: Final = {
    "category": "POI_catname",
    "category_id": "POI_catid",
    "tz": "timezone",
    "trajectory": "trajectory_id",
}
_LOCAL_ONLY: Final = "read its local times with --format csv --map time=local_time"

_PART: Final = re.compile(r"(?:^|[_\-.])(train|val|valid|test)(?:[_\-.]|$)", re.IGNORECASE)


def find_parts(folder: Path) -> dict[int, Path]:
    """Split code -> CSV file of a folder, by the words train, val and test in the file names. Raises DataError: one is
    missing, or two files claim the same part.
    """
    parts: dict[int, Path] = {}
    for path in sorted([*folder.glob("*.csv"), *folder.glob("*.csv.gz")]):
        found = _PART.search(path.stem)
        if found:
            code = SPLIT_WORDS[found.group(1).lower()]
            if code in parts:
                raise DataError(
                    f"{folder.name}: {parts[code].name} and {path.name} both look like the {c.SPLIT_NAMES[code]} part; "
                    "leave one of them in the folder"
                )
            parts[code] = path
    missing = [name for code, name in enumerate(c.SPLIT_NAMES) if code not in parts]
    if missing:
        raise DataError(
            f"{folder} has no CSV file with {' and '.join(missing)} in its name; "
            "a GETNext folder has three, such as NYC_train.csv, NYC_val.csv, NYC_test.csv"
        )
    return dict(sorted(parts.items()))


def read_getnext(path: Path, options: ReadOptions | None = None) -> RawRead:
    """Read a folder of GETNext CSV files as one table with `split` and `trajectory_id`, or one of them, without split
    (Yang, Liu, Zhao; SIGIR 2022). A file without the column `timezone` (minutes) needs the option. Raises DataError: a
    file is missing, lacks a column, or holds a bad row; the message names file and line.
    """
    options = options or ReadOptions()
    parts: dict[int | None, Path] = dict(find_parts(path).items()) if path.is_dir() else {None: path}
    builder = CheckinTableBuilder(path.name, options)
    first: dict[str, str] = {}
    rows_in = 0
    for code, file in parts.items():
        table = TextTable(file, delimiter=",", quoted=True, multiline=options.multiline, encoding=options.encoding)
        fields = _fields(table)
        # One layout of times and one clock for all parts of a dataset.
        first = first or fields
        for field in (fields.keys() ^ first.keys()) - ({"tz"} if options.timezone else set()):
            raise DataError(
                f"{path.name}: some of its files have a column {_OPTIONAL[field]}, {file.name} differs; "
                f"expected the same columns in all of them{f', or {HELP_ZONE}' if field == 'tz' else ''}"
            )
        for rows in table.rows(builder.report, list(fields.values())):
            if code is not None:
                rows.columns[c.SPLIT] = pa.array([c.SPLIT_NAMES[code]] * len(rows))
            builder.add(rows, fields | ({"split": c.SPLIT} if code is not None else {}))
        rows_in += table.rows_in
    return builder.read("getnext", [file.name for file in parts.values()], rows_in)


def _fields(table: TextTable) -> dict[str, str]:
    missing = [name for name in NEEDED.values() if name not in table.names]
    if missing:
        local_only = missing == ["UTC_time"] and "local_time" in table.names
        expected = _LOCAL_ONLY if local_only else f"a GETNext file begins with {HEADER}"
        raise DataError(f"{table.name} line 1: no column {', '.join(missing)}; {expected}")
    return NEEDED | {field: name for field, name in _OPTIONAL.items() if name in table.names}
