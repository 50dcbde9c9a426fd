"""Tables that take a model over all test cases: shipped with a bundle, or made once and read from the user's cache."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from recap.errors import RecapError
from recap.evaluation.records import read_records, records_file, records_name, write_records

SHIPPED: Final = "records"
"""The folder of a bundle that holds such tables."""


@dataclass(frozen=True)
class TableKey:
    """What a kept table is of.

    Attributes:
        dataset_hash: the dataset.
        model: a checkpoint's hash or a baseline's name.
        split, kind: the split, and the protocol of records or what else names the table.
    """

    dataset_hash: str
    model: str
    split: str
    kind: str

    @property
    def metadata(self) -> dict[str, str]:
        """What the file says of itself; its name carries the beginnings of the hashes only."""
        checkpoint = self.model if len(self.model) == 64 else ""
        said = {"dataset_hash": self.dataset_hash, "checkpoint_hash": checkpoint}
        return {**said, "split": self.split, "protocol": self.kind}

    def shipped_in(self, bundle: Path) -> Path:
        """Where a bundle keeps it."""
        return bundle / SHIPPED / records_name(self.dataset_hash, self.model, self.split, self.kind)

    def cached(self) -> Path:
        """Where the user's cache keeps it."""
        return records_file(self.dataset_hash, self.model, self.split, self.kind)


def kept_table(
    key: TableKey,
    make: Callable[[], pd.DataFrame],
    *,
    rows: int,
    keep: bool = True,
    bundle: Path | None = None,
) -> pd.DataFrame:
    """Read a table from the bundle or the cache, or make it and keep it in the cache.

    A kept table that says otherwise of itself or has another length is made anew, a file that cannot be read is
    replaced, and a cache that cannot be written is done without.

    Args:
        make: called only when the table is not there yet.
        rows: rows it must have.
        keep: whether to write a new one.
        bundle: a folder that may have come with the table; it is only read.
    """
    if bundle is not None:
        shipped = _read(key.shipped_in(bundle), key, rows)
        if shipped is not None:
            return shipped
    try:
        path = key.cached()
    except RecapError:
        return make()
    table = _read(path, key, rows)
    if table is not None:
        return table
    table = make()
    if keep:
        try:
            write_records(table, path, key.metadata)
        except RecapError:
            return table
    return table


def _read(path: Path, key: TableKey, rows: int) -> pd.DataFrame | None:
    if not path.is_file():
        return None
    try:
        table, said = read_records(path)
    except RecapError:
        return None
    fits = len(table) == rows and all(said.get(name) == value for name, value in key.metadata.items())
    return table if fits else None
