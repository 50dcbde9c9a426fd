"""The evaluation records on disk: one row per case and scorer."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recap.errors import RecapError
from recap.storage.atomic import new_file
from recap.storage.cache_keys import COMPUTED, cache_key
from recap.storage.frames import read_validated
from recap.storage.user_folder import user_subfolder


def records_name(dataset_hash: str, scorer: str, split: str, protocol: str) -> str:
    """File name of a bundle's records; ``scorer`` is a checkpoint's hash or a baseline's name."""
    return f"{dataset_hash[:16]}-{scorer[:24]}-{split}-{protocol}.parquet"


def records_file(dataset_hash: str, scorer: str, split: str, protocol: str, drawn: int | None = None) -> Path:
    """Such records in the user's cache, named by `cache_key`. ``drawn``: number of sampled cases; None if all were
    ranked.
    """
    cases = protocol if drawn is None else f"{protocol}-{drawn}"
    return user_subfolder("cache") / "records" / f"{cache_key(dataset_hash, scorer)[:24]}-{split}-{cases}.parquet"


def records_metadata(
    dataset_hash: str,
    scorer: str,
    split: str,
    protocol: str,
    *,
    model: str | None = None,
    drawn_from: int | None = None,
    options: Mapping[str, bool] | None = None,
    given_time: bool = False,
) -> dict[str, str]:
    """Metadata of a file of records. ``scorer``: as in `records_name`, only a hash is stored; ``drawn_from``: see
    `Evaluation`; ``options``: see `Checkpoint.options`; ``given_time``: the model knew the time of each next check-in.
    ``computed`` is the version of what is computed.

    >>> records_metadata("d", "markov", "test", "every_step", options={"target_time": True})["target_time"]
    'true'
    """
    facts: dict[str, Any] = {
        "dataset_hash": dataset_hash,
        "checkpoint_hash": scorer if len(scorer) == 64 else "",
        "model": model,
    }
    facts |= {"split": split, "protocol": protocol, "computed": COMPUTED, "drawn_from": drawn_from}
    facts |= {"given_time": "true" if given_time else None}
    facts |= {name: str(value).lower() for name, value in (options or {}).items()}
    return {name: str(value) for name, value in facts.items() if value is not None}


def write_records(records: pd.DataFrame, path: Path, metadata: dict[str, str]) -> None:
    """Write records as Parquet with string metadata, whole or not at all. Raises RecapError if the disk refused."""
    table = pa.Table.from_pandas(records, preserve_index=False)
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **metadata})
    with new_file(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read_records(path: Path, *, without: Collection[str] = ()) -> tuple[pd.DataFrame, dict[str, str]]:
    """Read records and their metadata. ``without``: columns not to read; absent ones are ignored. Raises RecapError:
    not a records file.
    """
    try:
        kept = [name for name in pq.read_schema(path).names if name not in without] if without else None
        table = read_validated(path, columns=kept)
    except (OSError, pa.ArrowException) as error:
        raise RecapError(f"{path} is not a records file ({error}); write it with `recap evaluate --records`") from error
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    metadata.pop("pandas", None)
    return table.to_pandas(), metadata
