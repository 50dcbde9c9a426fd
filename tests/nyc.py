"""The real NYC check-ins, where they are at hand; they are people's movements and never part of the repository."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from recap.data.dataset import Dataset
from recap.data.preparation import prepare_dataset
from recap.data.reading import read_raw
from recap.presets import data_preset

NYC = Path(os.environ.get("RECAP_NYC") or Path(__file__).parents[2] / "shared" / "data" / "nyc")
NYC_FILE = NYC / "dataset_TSMC2014_NYC.txt.gz"
REFERENCE_FILE = NYC / "reference.json"

needs_nyc = pytest.mark.skipif(
    not (NYC_FILE.is_file() and REFERENCE_FILE.is_file()),
    reason=f"no {NYC_FILE.name} with {REFERENCE_FILE.name} in {NYC}; set RECAP_NYC to their folder",
)


@cache
def nyc_dataset() -> Dataset:
    """The prepared file; takes a few seconds once."""
    return prepare_dataset(read_raw(NYC_FILE, "foursquare"), data_preset("nyc"), name="nyc", source_format="foursquare")


def nyc_reference() -> dict[str, Any]:
    """Values computed by an independent program."""
    values: dict[str, Any] = json.loads(REFERENCE_FILE.read_text(encoding="utf-8"))
    return values
