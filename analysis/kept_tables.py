"""Tables that take a model over all test cases: made once, then read from the user's cache."""

from collections.abc import Callable, Mapping

import pandas as pd

from recap.errors import RecapError
from recap.evaluation.records import read_records, records_file, write_records


def kept_table(
    dataset_hash: str,
    model_key: str,
    what: tuple[str, str],
    make: Callable[[], pd.DataFrame],
    *,
    rows: int,
    metadata: Mapping[str, str],
    keep: bool = True,
) -> pd.DataFrame:
    """Read a table from the cache, or make it and keep it there.

    A kept table of other metadata or another length is made anew, a file that cannot be read is replaced, and a cache
    that cannot be written is done without.

    Args:
        model_key: a checkpoint's hash or a baseline's name.
        what: split and protocol of records, or what else names the table.
        make: called only when the table is not there yet.
        rows: rows it must have.
        metadata: what a kept table must say of itself.
        keep: whether to write a new one.
    """
    try:
        path = records_file(dataset_hash, model_key, *what)
    except RecapError:
        return make()
    if path.is_file():
        try:
            table, said = read_records(path)
            if len(table) == rows and all(said.get(name) == value for name, value in metadata.items()):
                return table
        except RecapError:
            if keep:
                path.unlink(missing_ok=True)
    table = make()
    if keep:
        try:
            write_records(table, path, {**metadata, "split": what[0], "protocol": what[1]})
        except RecapError:
            return table
    return table
