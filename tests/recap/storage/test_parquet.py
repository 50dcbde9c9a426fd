"""Parquet files whose bytes were changed so that an index points beyond its dictionary: one line, no foreign memory."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recap.data.readers.own_table import read_own_table
from recap.errors import DataError
from recap.storage.parquet import read_validated
from tests.cli_runner import recap_here

_PLACES = ["park", "zoo", "quay", "park", "zoo", "quay", "park", "zoo"]
_INDICES = bytes([0b00_10_01_00, 0b01_00_10_01])
"""0 1 2 0 1 2 0 1 by two bits each, the first in the lowest."""


def beyond_its_dictionary(path: Path) -> Path:
    """Eight check-ins at three places; the places of all are the fourth."""
    table = pa.table(
        {
            "user_id": [f"user{row % 2}" for row in range(8)],
            "poi_id": pd.Categorical(_PLACES, categories=["park", "zoo", "quay"]),
            "latitude": [40.0 + row / 100 for row in range(8)],
            "longitude": [5.0] * 8,
            "time": pd.date_range("2026-03-01", periods=8, freq="h", tz="UTC"),
        }
    )
    pq.write_table(table, path, compression="none", use_dictionary=["poi_id"], column_encoding=None)
    data = path.read_bytes()
    assert data.count(_INDICES) == 1
    path.write_bytes(data.replace(_INDICES, b"\xff\xff"))
    assert pq.read_table(path).num_rows == 8, "what is wrong shows only when values are used"
    return path


def test_a_table_is_refused_before_its_values_are_used(tmp_path: Path) -> None:
    """Nothing but validation tells: without it the fourth of three names is whatever lies behind them."""
    path = beyond_its_dictionary(tmp_path / "places.parquet")
    with pytest.raises(pa.ArrowInvalid, match="out of bounds"):
        read_validated(path)
    with pytest.raises(pa.ArrowInvalid, match="out of bounds"):
        read_validated(path, columns=["poi_id"])
    assert read_validated(path, columns=["user_id"]).num_rows == 8


def test_an_own_table_is_refused_in_one_line(tmp_path: Path) -> None:
    """`recap prepare` and `recap inspect` say that the file cannot be read."""
    path = beyond_its_dictionary(tmp_path / "own.parquet")
    with pytest.raises(DataError, match=r"own\.parquet cannot be read"):
        read_own_table(path, "parquet")
    for words in (("prepare", path, "--out", tmp_path / "city"), ("inspect", path)):
        answer = recap_here(*words)
        assert answer.returncode == 2 and "own.parquet" in answer.stderr and "Traceback" not in answer.stderr
        assert len(answer.stderr.strip().splitlines()) == 1
