"""The real NYC check-ins, where they are at hand; they are people's movements and never part of the repository."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from recap.data.cleaning import History, data_preset
from recap.data.dataset import Dataset
from recap.data.preparation import prepare_dataset
from recap.data.reading import read_checkins

NYC = Path(os.environ.get("RECAP_NYC") or Path(__file__).parents[2] / "shared" / "data" / "nyc")
NYC_FILE = NYC / "dataset_TSMC2014_NYC.txt.gz"
REFERENCE_FILE = NYC / "reference.json"
FULL_HISTORY_FILE = NYC / "reference_full_history.json"

needs_nyc = pytest.mark.skipif(
    not all(path.is_file() for path in (NYC_FILE, REFERENCE_FILE, FULL_HISTORY_FILE)),
    reason=f"no {NYC_FILE.name} with its two references in {NYC}; set RECAP_NYC to their folder",
)


@cache
def nyc_dataset(history: History = "every_checkin") -> Dataset:
    """The prepared file under a rule of history; takes a few seconds once."""
    config = data_preset("default").override([f"history={history}"])
    return prepare_dataset(nyc_raw(), config, name="nyc", source_format="foursquare")


@cache
def nyc_raw() -> pd.DataFrame:
    """The file's rows."""
    return read_checkins(NYC_FILE, "foursquare").table


def nyc_reference(file: Path = REFERENCE_FILE) -> dict[str, Any]:
    """Values computed by an independent program; those of `REFERENCE_FILE` are under the history ``cases_only``."""
    values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return values
