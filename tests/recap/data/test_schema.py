"""Fitting hashes around tables that cannot be: one line that names table, column and row, at load."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from recap import columns as c
from recap.data.dataset import Dataset, hash_tables
from recap.data.preparation import prepare_dataset
from recap.errors import CheckpointError, DatasetError
from recap.storage.artifacts import write_sums
from tests.checkins import LENIENT, raw_table, small_dataset
from tests.cli_runner import recap_here

ROWS = [(user, poi, float(hour)) for user in ("u", "v") for hour, poi in enumerate("abcabcabca")]
Tables = dict[str, pd.DataFrame]


def reseal(folder: Path, change: Callable[[Tables], None]) -> None:
    """Change the tables and bring content hash and SHA256SUMS up to date, as a forger would."""
    dataset = small_dataset(ROWS)
    tables = {name: getattr(dataset, name).copy() for name in ("checkins", "pois", "users")}
    change(tables)
    digest = hash_tables(*tables.values())
    forged = Dataset(**tables, manifest=dataset.manifest.model_copy(update={"dataset_hash": digest}))
    forged.save(folder)


def put(table: str, column: str, row: int, value: object) -> Callable[[Tables], None]:
    def change(tables: Tables) -> None:
        tables[table] = tables[table].astype({column: np.int64} if isinstance(value, int) else {})
        tables[table].loc[row, column] = value  # type: ignore[call-overload]  # any wrong value is meant

    return change


def drop(table: str, column: str) -> Callable[[Tables], None]:
    return lambda tables: tables.update({table: tables[table].drop(columns=column)})


def fill(table: str, column: str, values: Any) -> Callable[[Tables], None]:
    return lambda tables: tables.update({table: tables[table].assign(**{column: values})})


FORGED: dict[str, tuple[Callable[[Tables], None], list[str]]] = {
    "user below 0": (put("checkins", c.USER, 0, -7), ["checkins.parquet row 0", "user", "0 to 1", "'-7'"]),
    "user too large": (put("checkins", c.USER, 19, 2), ["row 19", "user"]),
    "poi too large": (put("checkins", c.POI, 3, 10**9), ["row 3", "poi", "0 to 2"]),
    "split 9": (put("checkins", c.SPLIT, 5, 9), ["row 5", "split", "0 to 2"]),
    "offset": (put("checkins", c.TZ_OFFSET_MINUTES, 1, 10**6), ["row 1", "tz_offset_minutes"]),
    "trajectory": (put("checkins", c.TRAJECTORY, 4, 10**12), ["row 4", "trajectory"]),
    "user out of order": (put("checkins", c.USER, 0, 1), ["row 1", "user", "no smaller"]),
    "far future": (fill("checkins", c.TIME, lambda t: t[c.TIME] + pd.Timedelta(days=50_000)), ["row 0", "time"]),
    "time out of order": (fill("checkins", c.TIME, lambda t: t[c.TIME].to_numpy()[::-1]), ["checkins.parquet", "time"]),
    "latitude": (put("pois", c.LATITUDE, 2, 91.5), ["pois.parquet row 2", "latitude", "91.5"]),
    "no latitude": (put("pois", c.LATITUDE, 2, np.nan), ["latitude"]),
    "category": (put("pois", c.CATEGORY_INDEX, 1, 10**9), ["row 1", "category_index"]),
    "gap of categories": (put("pois", c.CATEGORY_INDEX, 1, 2), ["row 1", "category_index", "0 to 1", "'2'"]),
    "training count": (put("pois", c.TRAIN_CHECKINS, 0, 77), ["row 0", "train_checkins", "'77'"]),
    "id twice": (put("pois", c.POI_ID, 1, "a"), ["row 1", "poi_id"]),
    "no name": (put("pois", c.POI_NAME, 1, None), ["poi_name", "gaps"]),
    "missing column": (drop("checkins", c.TRAJECTORY), ["no column 'trajectory'"]),
    "text for numbers": (fill("checkins", c.POI, "1"), ["column 'poi' must hold whole numbers"]),
    "numbers for text": (fill("users", c.USER_ID, [1, 2]), ["user_id", "must hold text"]),
    "no rows": (lambda tables: tables.update(users=tables["users"].head(0)), ["users.parquet", "got 0"]),
    "flag of numbers": (fill("checkins", c.HISTORY_ONLY, 0), ["column 'history_only' must hold true or false"]),
    "training as history only": (
        fill("checkins", c.HISTORY_ONLY, True),
        ["row 0", "history_only", "false for training check-ins"],
    ),
    "lists": (fill("users", "more", [[1], [2]]), ["column 'more'"]),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_tables_are_refused(name: str, tmp_path: Path) -> None:
    """Hashes agree, content does not: the message says where."""
    change, parts = FORGED[name]
    reseal(tmp_path / "data", change)
    with pytest.raises(DatasetError) as refused:
        Dataset.load(tmp_path / "data")
    assert all(part in str(refused.value) for part in parts), refused.value


def test_what_prepare_writes_passes(tmp_path: Path) -> None:
    """With a given split and trajectories too, whose users alternate in the file."""
    reseal(tmp_path / "data", lambda tables: None)
    Dataset.load(tmp_path / "data")
    raw = raw_table([("u", "a", 0.0), ("v", "b", 1.0), ("u", "b", 2.0), ("v", "a", 3.0), ("u", "a", 4.0)])
    given = raw.assign(split=[0, 0, 0, 0, 2], trajectory_id="t")
    prepare_dataset(given, LENIENT, name="given", source_format="test").save(tmp_path / "given")
    Dataset.load(tmp_path / "given")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 200 + "1" + "}" * 200, '{"format_version": 1e999}'])
@pytest.mark.parametrize("kind", ["dataset", "checkpoint"])
def test_deep_or_odd_json_is_one_line(tmp_path: Path, kind: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused, by a command with exit code 2."""
    from recap.checkpoint import Checkpoint

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    folder = tmp_path / "x"
    small_dataset(ROWS).save(folder)
    (folder / f"{kind}.json").write_text(text)
    write_sums(folder, [path.name for path in folder.iterdir() if path.name != "SHA256SUMS"])
    with pytest.raises((DatasetError, CheckpointError), match=f"{kind}.*(manifest|format_version)"):
        (Dataset if kind == "dataset" else Checkpoint).load(folder)
    if kind == "dataset":
        result = recap_here("stats", folder)
        assert result.returncode == 2 and result.stderr.count("\n") == 1, result.stderr
