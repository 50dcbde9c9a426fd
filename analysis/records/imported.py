"""Predictions without a model: imported into the user's folder, or of published models shipped with a city.

Files are found by the dataset's hash and named by their content's hash, never by a user's words.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.records.evaluation_records import MODEL_LABELS, is_time_given
from recap import columns as c
from recap.baselines import BASELINES, PRETRAINED
from recap.errors import ConfigError, RecapError
from recap.evaluation.records import read_records, write_records
from recap.machine.printable import one_line
from recap.presets import with_time_given
from recap.storage.cache_keys import given_time_key
from recap.storage.user_folder import bundles_folder, user_subfolder

FORMAT_VERSION: Final = "1"
PREFIX: Final = "imported-"
SHIPPED_PREDICTIONS: Final = "predictions"
"""A bundle's folder of such files, with their sums."""
_KIND: Final = "imported predictions"


@dataclass(frozen=True)
class ImportedPredictions:
    """Imported predictions in one file.

    Attributes:
        key: ``imported-`` and the beginning of the content's hash; names the scorer in links and caches.
        shipped: whether they belong to a published model that came with the city.
        described: the shipped model with its options.
    """

    key: str
    name: str
    dataset_hash: str
    path: Path
    shipped: bool = False
    described: str = ""

    @property
    def given_time(self) -> bool:
        """Whether it was given the time of each next check-in."""
        return is_time_given(self.name) or is_time_given(self.described)

    @property
    def label(self) -> str:
        return self.name if self.shipped else f"{self.name}, imported"

    def read(self, rows: int) -> pd.DataFrame:
        """Read the records of the dataset's test cases; RecapError if the file was damaged."""
        records, metadata = read_records(self.path)
        if len(records) != rows or metadata.get("key") != self.key:
            raise RecapError(f"{self.path} does not contain the imported predictions it should; import them again")
        return records


def shown_name(text: str) -> str:
    """A name fit for a list of models: one line, at most 40 characters, no control characters.

    ConfigError: nothing is left, or a baseline has this name.
    """
    name = " ".join(one_line(text).split())[:40].strip()
    if not name or name in (*BASELINES, PRETRAINED) or name in MODEL_LABELS.values():
        raise ConfigError(
            f"--name should differ from all models, got {text[:40]!r}; baselines are {', '.join(BASELINES)}"
        )
    return name


def keep_predictions(
    records: pd.DataFrame, dataset_hash: str, name: str, content_hash: str, *, given_time: bool = False
) -> ImportedPredictions:
    """Keep imported records completely or not at all; the same content is kept once, under its newest name.

    Args:
        given_time: the other program knew the time of each next check-in, which the name then says.
    """
    if given_time:
        name, content_hash = with_time_given(name), given_time_key(content_hash)
    return _keep(records, dataset_hash, name, content_hash, user_subfolder("predictions", make=True))


def ship_predictions(
    records: pd.DataFrame, dataset_hash: str, name: str, described: str, content_hash: str, bundle: Path
) -> ImportedPredictions:
    """Put a trained model's records into a bundle, where they are found like imported ones."""
    ranks = records.drop(columns=list(c.part_columns(records.columns).values()))
    return _keep(ranks, dataset_hash, name, content_hash, bundle / SHIPPED_PREDICTIONS, described=described)


def _keep(
    records: pd.DataFrame, dataset_hash: str, name: str, content_hash: str, folder: Path, *, described: str = ""
) -> ImportedPredictions:
    key = f"{PREFIX}{content_hash[:12]}"
    path = folder / f"{dataset_hash[:16]}-{key}.parquet"
    metadata = {"kind": _KIND, "format_version": FORMAT_VERSION, "key": key, "name": name, "dataset_hash": dataset_hash}
    write_records(records, path, metadata | ({"described": described} if described else {}))
    return ImportedPredictions(key, name, dataset_hash, path)


def find_predictions(dataset_hash: str) -> list[ImportedPredictions]:
    """All such predictions of a dataset, by name, without unreadable files."""
    predictions: dict[str, ImportedPredictions] = {}
    for path, shipped in _files(f"{dataset_hash[:16]}-{PREFIX}*.parquet"):
        try:
            metadata = _said(path, path.stat().st_mtime_ns)
        except (OSError, pa.ArrowException, UnicodeDecodeError):
            continue
        fits = metadata.get("kind") == _KIND and metadata.get("format_version") == FORMAT_VERSION
        if fits and metadata.get("dataset_hash") == dataset_hash and path.stem.endswith(metadata.get("key", "?")):
            key = metadata["key"]
            name, described = metadata.get("name", key), metadata.get("described", "")
            predictions[key] = ImportedPredictions(key, name, dataset_hash, path, shipped, described)
    return sorted(predictions.values(), key=lambda item: (item.name, item.key))


def named_predictions(dataset_hash: str, name: str) -> ImportedPredictions | None:
    """The predictions of this name or key; None if there are none; raises ConfigError if several have the name."""
    named = [item for item in find_predictions(dataset_hash) if name in (item.name, item.key)]
    if len(named) > 1:
        keys = ", ".join(item.key for item in named)
        raise ConfigError(f"several imported predictions are called {name!r}; name one by its key: {keys}")
    return named[0] if named else None


def _files(pattern: str) -> list[tuple[Path, bool]]:
    shipped = [(path, True) for path in sorted(bundles_folder().glob(f"*/{SHIPPED_PREDICTIONS}/{pattern}"))]
    try:
        return shipped + [(path, False) for path in sorted(user_subfolder("predictions").glob(pattern))]
    except (OSError, RecapError):
        return shipped


@lru_cache(maxsize=4096)
def _said(path: Path, changed_ns: int) -> dict[str, str]:
    return {key.decode(): value.decode() for key, value in (pq.read_schema(path).metadata or {}).items()}
