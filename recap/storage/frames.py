"""Data frames written one after another into a CSV, Excel, Parquet or JSON-lines file; Parquet files that may be
anything.
"""

import json
from collections.abc import Iterable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recap.errors import ConfigError
from recap.storage.atomic import new_file
from recap.storage.json_text import finite_json

SUFFIXES: Final = (".csv", ".parquet", ".jsonl", ".xlsx")
_EXCEL_ROWS: Final = 1_048_576
_RUNS: Final = r"^(?:'+[=+@-]|[=@]|[+-](?!\d+(?:[.,]\d+)?$))"
"""Text that a spreadsheet takes for a formula, or that has marks in front already; numbers are none."""


def check_suffix(path: Path) -> None:
    """Raise ConfigError if the file's ending names no format, or one without its library."""
    if path.suffix not in SUFFIXES:
        raise ConfigError(f"--out expects a file that ends in {', '.join(SUFFIXES)}, got {str(path)!r}")
    if path.suffix == ".xlsx" and not any(map(find_spec, ("openpyxl", "xlsxwriter"))):
        raise ConfigError(f"writing {path.name} needs openpyxl: `pip install openpyxl`, or name a .csv file")


def mark_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """An apostrophe in front of text that a spreadsheet would run; reading a table takes it off again.

    >>> mark_formulas(pd.DataFrame({"place": ["=1+1", "Café", "-5"], "km": [-1.5, 2, 3]})).values.tolist()
    [["'=1+1", -1.5], ['Café', 2.0], ['-5', 3.0]]
    """
    marked = {}
    for name, column in frame.items():
        if not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column)):
            runs = column.astype(str).str.contains(_RUNS, regex=True).fillna(False)
            marked[str(name)] = column.astype(object).mask(runs, "'" + column.astype(str)) if runs.any() else column
    return frame.assign(**marked)


def write_frames(frames: Iterable[pd.DataFrame], path: Path) -> int:
    """Write at least one frame, whole or not at all, one frame in memory; returns the number of rows. Raises
    RecapError: the disk refused.
    """
    rows = 0
    with new_file(path) as temporary, ExitStack() as opened:
        text = opened.enter_context(temporary.open("w", encoding="utf-8", newline=""))
        writer: pq.ParquetWriter | None = None
        excel: pd.ExcelWriter | None = None
        for frame in frames:
            if path.suffix == ".csv":
                mark_formulas(frame).to_csv(text, index=False, header=rows == 0, lineterminator="\n")
            elif path.suffix == ".xlsx":
                if rows + len(frame) >= _EXCEL_ROWS:
                    raise ConfigError(f"an Excel sheet holds {_EXCEL_ROWS:,} rows: name a .csv or .parquet file")
                excel = excel or opened.enter_context(pd.ExcelWriter(opened.enter_context(temporary.open("wb"))))
                zoned = frame.select_dtypes("datetimetz")
                plain = frame.assign(**{str(name): zoned[name].dt.tz_localize(None) for name in zoned})
                mark_formulas(plain).to_excel(excel, index=False, header=rows == 0, startrow=rows + (rows > 0))
            elif path.suffix == ".jsonl":
                text.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in plain_records(frame))
            else:
                table = pa.Table.from_pandas(frame, writer and writer.schema, preserve_index=False)
                writer = writer or opened.enter_context(pq.ParquetWriter(temporary, table.schema, compression="zstd"))
                writer.write_table(table)
            rows += len(frame)
    return rows


def plain_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows ready for JSON: times as ISO text, a missing number as None."""
    times = {
        str(name): [time.isoformat() for time in column]
        for name, column in frame.items()
        if pd.api.types.is_datetime64_any_dtype(column)
    }
    return finite_json(frame.assign(**times).to_dict(orient="records"))


def read_validated(path: Path, columns: list[str] | None = None) -> pa.Table:
    """A table, validated before use: an index beyond its dictionary would read foreign memory. Raises
    pyarrow.ArrowException, OSError: no Parquet file, or its values do not fit their types.
    """
    table = pq.read_table(path, columns=columns)
    table.validate(full=True)
    return table
