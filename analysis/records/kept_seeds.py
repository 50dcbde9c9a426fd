"""Kept tables of ablations of a checkpoint's seed replicates, shipped with a bundle or in the user's cache."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Final

import pandas as pd

from analysis.records.table_cache import TableKey, kept_table
from recap import columns as c
from recap.errors import RecapError
from recap.storage.artifacts import SUMS

_SEED_KIND: Final = "ablations-seed-"


def seed_key(dataset_hash: str, checkpoint_hash: str, seed: int) -> TableKey:
    return TableKey(dataset_hash, checkpoint_hash, c.SPLIT_NAMES[c.TEST], f"{_SEED_KIND}{seed}")


def replicates_folder(checkpoint_folder: Path) -> Path:
    return checkpoint_folder.with_name(f"{checkpoint_folder.name}-seeds")


def replicate_folders(checkpoint_folder: Path) -> list[Path]:
    """The seed replicates whose training has finished."""
    return sorted(sums.parent for sums in replicates_folder(checkpoint_folder).glob(f"seed-*/{SUMS}"))


def seed_tables(
    dataset_hash: str, checkpoint_hash: str, *, rows: int, bundle: Path | None = None
) -> dict[int, pd.DataFrame]:
    """The kept tables of ablations of a checkpoint's seed replicates, by seed, with one row per test case."""
    first = seed_key(dataset_hash, checkpoint_hash, 0)
    places = [] if bundle is None else [first.shipped_in(bundle)]
    with suppress(RecapError):  # ignore an unreadable cache
        places.append(first.cached())
    paths = [path for place in places for path in place.parent.glob(place.name.replace("seed-0.", "seed-*."))]
    seeds = {int(match[1]) for path in paths if (match := re.search(r"seed-(\d+)\.parquet$", path.name))}
    tables = {}
    for seed in sorted(seeds):
        key = seed_key(dataset_hash, checkpoint_hash, seed)
        table = kept_table(key, pd.DataFrame, rows=rows, keep=False, bundle=bundle)
        if len(table) == rows:
            tables[seed] = table
    return tables
