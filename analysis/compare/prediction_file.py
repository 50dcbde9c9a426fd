"""Read a file of ranked places: long (a row per place) or wide (a row per case with lists)."""

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
SECOND_LIST: Final = "second_list"
"""Our column: whether the row belongs to a second list of its case (wide files only)."""
_LISTS: Final = {"poi_ids": c.POI_ID, "pois": c.POI}
_MAGIC: Final = b"PAR1"


def read_prediction_file(path: Path) -> pd.DataFrame:
    """Read predictions.

    Long files have ``case``, ``poi_id`` (the outside id) or ``poi`` (the index), ``score``, and maybe ``rank``. Wide
    ones (Parquet) have ``case``, ``poi_ids`` or ``pois``, and ``scores``, lists of one length.

    Returns:
        ``case`` (int64, -1 where it is no number), ``place``, ``score`` (float64, NaN where it is no number),
        ``second_list`` and maybe ``rank``; one row for each place, in the file's order.
    """
    table = _read(path)
    names = set(table.columns)
    if len(names & {*_LISTS, *_LISTS.values()}) > 1:
        raise DataError(f"{path.name} names places twice; keep one of {', '.join([*_LISTS.values(), *_LISTS])}")
    lists = next((name for name in _LISTS if name in names), None)
    if lists is not None and {c.CASE, "scores"} <= names:
        table = _unfold(table, lists, path)
    else:
        table = table.assign(**{SECOND_LIST: False})
    place = next((name for name in (c.POI_ID, c.POI) if name in table), None)
    if place is None or not {c.CASE, c.SCORE} <= set(table.columns):
        raise DataError(
            f"{path.name} should have the columns case, poi_id (or poi, our index) and score, one row for each place; "
            f"it has {', '.join(map(str, list(table.columns)[:12])) or 'none'}"
        )
    rows = pd.DataFrame(
        {
            c.CASE: _whole(table[c.CASE]),
            PLACE: table[place].astype(str) if place == c.POI_ID else _whole(table[place]),
            c.SCORE: pd.to_numeric(table[c.SCORE], errors="coerce").astype(np.float64),
            SECOND_LIST: table[SECOND_LIST].to_numpy(bool),
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


def _unfold(table: pd.DataFrame, lists: str, path: Path) -> pd.DataFrame:
    lengths = [
        (len(np.atleast_1d(a)), len(np.atleast_1d(b))) for a, b in zip(table[lists], table["scores"], strict=True)
    ]
    uneven = [str(case) for case, (a, b) in zip(table[c.CASE], lengths, strict=True) if a != b]
    if uneven:
        raise DataError(
            f"{path.name}: {len(uneven):,} cases differ in scores and places ({', '.join(uneven[:3])}, …); "
            "both lists need the same length"
        )
    second = table[c.CASE].duplicated()
    table = table.assign(**{SECOND_LIST: second})[[c.CASE, lists, "scores", SECOND_LIST]]
    table = table.explode([lists, "scores"]).dropna(subset=[lists])
    return table.rename(columns={lists: _LISTS[lists], "scores": c.SCORE})


def _whole(values: pd.Series) -> np.ndarray:
    """Whole numbers; -1 for others."""
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(np.float64)
    whole = np.isfinite(numbers) & (numbers == np.floor(numbers)) & (np.abs(numbers) < 2**53)
    return np.where(whole, numbers, -1).astype(np.int64)
