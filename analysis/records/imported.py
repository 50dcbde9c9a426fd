"""Predictions made elsewhere, kept as records of a dataset in the user's folder: a scorer without a model.

Files are named by their content's hash, never by what a user called them, and found by the dataset's hash.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.records.loaded_dataset import MODEL_LABELS
from recap.baselines import BASELINES
from recap.errors import ConfigError, RecapError
from recap.evaluation.records import read_records, write_records
from recap.printable import one_line
from recap.storage.user_folder import user_subfolder

FORMAT_VERSION: Final = "1"
PREFIX: Final = "imported-"
_KIND: Final = "imported predictions"


@dataclass(frozen=True)
class ImportedPredictions:
    """What lies in one file.

    Attributes:
        key: ``imported-`` and the beginning of the content's hash; names the scorer in links and caches.
        name: what the user calls it.
        path: the file.
    """

    key: str
    name: str
    dataset_hash: str
    path: Path

    def read(self, rows: int) -> pd.DataFrame:
        """The records.

        Args:
            rows: the dataset's test cases.

        Raises:
            RecapError: the file was damaged.
        """
        records, said = read_records(self.path)
        if len(records) != rows or said.get("key") != self.key:
            raise RecapError(f"{self.path} does not hold the imported predictions it should; import them again")
        return records


def shown_name(text: str) -> str:
    """A name fit for a list of models: one line, at most 40 characters, no control characters.

    Raises:
        ConfigError: nothing is left of it, or it is a baseline's.
    """
    name = " ".join(one_line(text).split())[:40].strip()
    if not name or name in BASELINES or name in MODEL_LABELS.values():
        raise ConfigError(
            f"--name should be a name of its own, got {text[:40]!r}; baselines are {', '.join(BASELINES)}"
        )
    return name


def keep_predictions(records: pd.DataFrame, dataset_hash: str, name: str, content_hash: str) -> ImportedPredictions:
    """Keep imported records, whole or not at all; the same content is kept once, under its newest name.

    Raises:
        RecapError: the disk refused.
    """
    key = f"{PREFIX}{content_hash[:12]}"
    path = _folder() / f"{dataset_hash[:16]}-{key}.parquet"
    said = {"kind": _KIND, "format_version": FORMAT_VERSION, "key": key, "name": name, "dataset_hash": dataset_hash}
    write_records(records, path, said)
    return ImportedPredictions(key, name, dataset_hash, path)


def find_predictions(dataset_hash: str) -> list[ImportedPredictions]:
    """All imported predictions of a dataset, by name; a file that cannot be read is left out."""
    try:
        paths = sorted(_folder().glob(f"{dataset_hash[:16]}-{PREFIX}*.parquet"))
    except (OSError, RecapError):
        return []
    found = []
    for path in paths:
        try:
            said = {key.decode(): value.decode() for key, value in (pq.read_schema(path).metadata or {}).items()}
        except (OSError, pa.ArrowException, UnicodeDecodeError):
            continue
        fits = said.get("kind") == _KIND and said.get("format_version") == FORMAT_VERSION
        if fits and said.get("dataset_hash") == dataset_hash and path.stem.endswith(said.get("key", "?")):
            found.append(ImportedPredictions(said["key"], said.get("name", said["key"]), dataset_hash, path))
    return sorted(found, key=lambda item: (item.name, item.key))


def _folder() -> Path:
    return user_subfolder("predictions")
