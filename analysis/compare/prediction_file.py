"""Read a file of ranked places, a row for each."""

from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from recap import columns as c
from recap.errors import DataError
from recap.storage.frames import read_validated

PLACE: Final = "place"
"""Our column of places: text for an outside id, an integer for an index."""
_MAGIC: Final = b"PAR1"


def read_prediction_file(path: Path) -> pd.DataFrame:
    """Read predictions.

    It has ``case``, ``poi_id`` (the outside id) or ``poi`` (the index), ``score``, and maybe ``rank``.

    Returns:
        ``case`` (int64, -1 where it is no number), ``place``, ``score`` (float64, NaN where it is no number) and maybe
        ``rank``; in the file's order.
    """
    table = _read(path)
    places = [name for name in (c.POI_ID, c.POI) if name in table]
    if len(places) > 1:
        raise DataError(f"{path.name} names places twice; keep one of {', '.join(places)}")
    if not places or not {c.CASE, c.SCORE} <= set(table.columns):
        raise DataError(
            f"{path.name} should have the columns case, poi_id (or poi, our index) and score, one row for each place; "
            f"it has {', '.join(map(str, list(table.columns)[:12])) or 'none'}"
        )
    rows = pd.DataFrame(
        {
            c.CASE: _whole(table[c.CASE]),
            PLACE: table[c.POI_ID].astype(str) if places == [c.POI_ID] else _whole(table[c.POI]),
            c.SCORE: pd.to_numeric(table[c.SCORE], errors="coerce").astype(np.float64),
        }
    )
    if c.RANK in table:
        rows[c.RANK] = pd.to_numeric(table[c.RANK], errors="coerce").astype(np.float64)
    return rows.reset_index(drop=True)


def _read(path: Path) -> pd.DataFrame:
    try:
        with path.open("rb") as file:
            is_parquet = file.read(4) == _MAGIC
        if is_parquet:
            return read_validated(path).to_pandas()
        # Ids stay text, whatever they look like: 007 is not 7.
        options = pa_csv.ConvertOptions(column_types={c.POI_ID: pa.string()}, strings_can_be_null=False)
        return pa_csv.read_csv(path, convert_options=options).to_pandas()
    except (OSError, pa.ArrowException) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).split("\n")[0]
        raise DataError(
            f"{path.name} is neither a CSV with a header nor a Parquet file ({reason}); "
            "it should have the columns case, poi_id and score"
        ) from error


def _whole(values: pd.Series) -> np.ndarray:
    """Whole numbers; -1 for others."""
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(np.float64)
    whole = np.isfinite(numbers) & (numbers == np.floor(numbers)) & (np.abs(numbers) < 2**53)
    return np.where(whole, numbers, -1).astype(np.int64)
