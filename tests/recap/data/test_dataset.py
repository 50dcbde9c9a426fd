"""Datasets: numbering, POI descriptions, the content hash, saving, loading, and folders edited by hand."""

import json
import os
import shutil
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from recap import columns as c
from recap.data.cases import history_only
from recap.data.cleaning import DataConfig
from recap.data.dataset import Dataset, hash_tables
from recap.data.inspection import dataset_card
from recap.data.preparation import prepare_dataset
from recap.errors import (
    ChecksumError,
    ConfigError,
    DataError,
    DatasetError,
    RecapError,
)
from recap.storage.artifacts import write_sums
from tests.checkins import LENIENT, configs, raw_rows, raw_table, small_dataset
from tests.shell import recap
from tests.spoiled import ODD_JSON, change_one_byte

Rows = list[tuple[str, str, float]]

ROWS: Rows = [(user, poi, float(hour)) for hour, (user, poi) in enumerate([("u10", "work"), ("u9", "home")] * 10)]
"""Twenty rows: 16 train, 2 validation, 2 test."""

ROWS_HASH = "2556f1d860757b8592287d78dd0cc8ad2601c995660e27ce0bf293c094993458"
"""Of `small_dataset(ROWS)`, computed by the version before check-ins could be history only."""


def test_users_and_pois_are_numbered_by_their_ids_as_text() -> None:
    """'u10' sorts before 'u9', 'home' before 'work'; rows are ordered by user, then time."""
    dataset = small_dataset(ROWS)
    assert dataset.users[c.USER_ID].tolist() == ["u10", "u9"]
    assert dataset.pois[c.POI_ID].tolist() == ["home", "work"]
    assert dataset.checkins[c.USER].tolist() == [0] * 10 + [1] * 10
    assert dataset.checkins[c.POI].tolist() == [1] * 10 + [0] * 10
    assert dataset.checkins[c.SOURCE_ROW].tolist() == [*range(0, 20, 2), *range(1, 20, 2)]
    assert dataset.pois[c.TRAIN_CHECKINS].tolist() == [8, 8]
    assert [len(dataset.cases(split)) for split in range(3)] == [14, 2, 2]
    assert dataset.local_time.iloc[0] == pd.Timestamp("2012-04-02 04:00:00"), "08:00 UTC less 240 minutes"


def test_a_poi_is_described_by_its_earliest_check_in() -> None:
    """Coordinates and category that change from row to row: the first in time counts, not the first in the file."""
    raw = raw_table([("ann", "home", float(hour)) for hour in (5, 3, 1, 2, 4, 6)])
    raw[c.LATITUDE] = [50.0, 30.0, 10.0, 20.0, 40.0, 60.0]
    raw[c.CATEGORY] = [f"kind {hour}" for hour in (5, 3, 1, 2, 4, 6)]
    dataset = prepare_dataset(raw, LENIENT, name="n", source_format="test")
    assert dataset.pois[c.LATITUDE].tolist() == [10.0]
    assert dataset.pois[c.CATEGORY].tolist() == ["kind 1"]


@given(raw_rows(), configs, st.randoms(use_true_random=False))
def test_hash_depends_on_content_alone(rows: Rows, config: DataConfig, random: Any) -> None:
    """The same check-ins in another file order differ in `source_row` only; every other column and POI is equal."""
    shuffled = rows.copy()
    random.shuffle(shuffled)
    try:
        a, b = small_dataset(rows, config), small_dataset(shuffled, config)
    except DataError:
        assume(False)
    columns = [c.USER, c.POI, c.TIME, c.TZ_OFFSET_MINUTES, c.TRAJECTORY, c.SPLIT]
    assert hash_tables(a.checkins[columns], a.pois, a.users) == hash_tables(b.checkins[columns], b.pois, b.users)


@settings(suppress_health_check=[HealthCheck.filter_too_much])  # many protocols leave nothing of few rows
@given(raw_rows(), configs)
def test_tables_are_consistent(rows: Rows, config: DataConfig) -> None:
    """Indices are dense from 0, trajectories never mix users or jump a gap, training counts add up."""
    try:
        dataset = small_dataset(rows, config)
    except DataError:
        assume(False)
    table = dataset.checkins
    assert sorted(set(table[c.USER])) == list(range(dataset.num_users))
    assert sorted(set(table[c.POI])) == list(range(dataset.num_pois))
    assert np.diff(np.unique(table[c.TRAJECTORY])).tolist() == [1] * (table[c.TRAJECTORY].nunique() - 1)
    assert len(table[[c.TRAJECTORY, c.USER]].drop_duplicates()) == table[c.TRAJECTORY].nunique()
    assert dataset.pois[c.TRAIN_CHECKINS].sum() == (table[c.SPLIT] == c.TRAIN).sum()
    assert (dataset.pois[c.TRAIN_CHECKINS] > 0).all()


def test_saves_and_loads_the_same(tmp_path: Path) -> None:
    """Tables, hash and manifest survive the disk; the card counts every row; `sha256sum -c` has its file."""
    dataset = small_dataset(ROWS)
    dataset.save(tmp_path / "new" / "city", card=dataset_card(dataset))
    loaded = Dataset.load(tmp_path / "new" / "city")
    for name in ("checkins", "pois", "users"):
        pd.testing.assert_frame_equal(getattr(loaded, name), getattr(dataset, name), check_dtype=False)
    assert loaded.manifest == dataset.manifest
    assert loaded.hash == hash_tables(loaded.checkins, loaded.pois, loaded.users)
    card = (tmp_path / "new" / "city" / "CARD.md").read_text()
    assert "| raw | 20 |" in card and "**20**" in card and dataset.hash in card
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["city"]
    assert stat.S_IMODE((tmp_path / "new" / "city").stat().st_mode) == 0o755


WALKED: Rows = [("ann", "ab"[hour % 2], float(hour)) for hour in range(18)] + [("ann", "a", 200.0), ("ann", "b", 201.0)]
"""Ann trains 16 rows and goes on for two of validation; a week later she walks two test rows, too few for cases."""


def test_history_only_rows_are_part_of_the_dataset_and_of_its_hash(tmp_path: Path) -> None:
    """The mark survives the disk, counts in the hash and on the card, and stands apart in what people read."""
    config = LENIENT.model_copy(update={"min_trajectory_length": 3})
    full = small_dataset(WALKED, config)
    assert history_only(full.checkins).tolist() == [False] * 18 + [True, True]
    assert [len(full.cases(split)) for split in range(3)] == [15, 2, 0]
    full.save(tmp_path / "full")
    loaded = Dataset.load(tmp_path / "full")
    pd.testing.assert_frame_equal(loaded.checkins, full.checkins, check_dtype=False)
    assert full.hash != hash_tables(full.checkins.drop(columns=c.HISTORY_ONLY), full.pois, full.users)
    card = dataset_card(full)
    assert "| kept as history, opens no case: validation or test check-in in a short trajectory | 2 |" in card
    assert "**18**" in card and "18 check-ins of 1 users" in card and "2 more are history only" in card

    # The rule alone changes no hash: where nothing is set aside there is no column.
    assert small_dataset(ROWS).hash == small_dataset(ROWS, LENIENT.override(["history=cases_only"])).hash == ROWS_HASH
    cases = small_dataset(WALKED, config.model_copy(update={"history": "cases_only"}))
    assert c.HISTORY_ONLY not in cases.checkins
    pd.testing.assert_frame_equal(cases.pois, full.pois)
    pd.testing.assert_frame_equal(cases.users, full.users)


def test_datasets_written_before_the_rule_had_a_name_load(tmp_path: Path) -> None:
    """Format 1 has no mark and no name for its rule: it made history of cases only, with the hash it had."""
    dataset = small_dataset(ROWS)
    dataset.save(tmp_path / "old")
    manifest = json.loads((tmp_path / "old" / "dataset.json").read_text())
    del manifest["config"]["history"], manifest["report"]["history_only"]
    edit_manifest(tmp_path / "old", manifest | {"format_version": 1}, relist=True, whole=True)
    loaded = Dataset.load(tmp_path / "old")
    assert loaded.manifest.config.history == "cases_only"
    assert loaded.hash == dataset.hash and not history_only(loaded.checkins).any()


def test_a_refused_save_leaves_no_empty_parents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders above the new one that were made for it go too; those that were there stay."""

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("pyarrow.parquet.write_table", refuse)
    (tmp_path / "mine").mkdir()
    with pytest.raises(RecapError, match="No space left"):
        small_dataset(ROWS).save(tmp_path / "mine" / "new" / "newer" / "city")
    assert [path.name for path in tmp_path.rglob("*")] == ["mine"]


def edit_manifest(folder: Path, change: dict[str, Any], *, relist: bool, whole: bool = False) -> None:
    manifest = {} if whole else json.loads((folder / "dataset.json").read_text())
    manifest |= change
    (folder / "dataset.json").write_text(json.dumps(manifest))
    if relist:
        list_again(folder)


def list_again(folder: Path) -> None:
    """Write SHA256SUMS of what is there now."""
    write_sums(folder, [path.name for path in folder.iterdir() if path.name != "SHA256SUMS"])


def list_a_file_outside(folder: Path) -> None:
    with (folder / "SHA256SUMS").open("a") as file:
        file.write(f"{'0' * 64}  ../changed/dataset.json\n")


def write_manifest(folder: Path, text: str) -> None:
    (folder / "dataset.json").write_text(text)
    list_again(folder)


def replace_a_table(folder: Path, content: bytes) -> None:
    (folder / "checkins.parquet").write_bytes(content)
    list_again(folder)


OTHER_TABLE = pd.DataFrame({"nothing": [1]}).to_parquet()
OTHER_CONTENT = small_dataset(ROWS).checkins.assign(**{c.POI: 0}).to_parquet()
EDITED: dict[str, tuple[Callable[[Path], object], str]] = {
    "changed": (lambda folder: change_one_byte(folder / "pois.parquet"), r"pois\.parquet was changed"),
    "missing": (lambda folder: (folder / "users.parquet").unlink(), r"users\.parquet is missing"),
    "unfinished": (lambda folder: (folder / "SHA256SUMS").unlink(), "has no SHA256SUMS"),
    "unlisted": (
        lambda folder: write_sums(folder, ["dataset.json", "pois.parquet", "users.parquet"]),
        r"does not list checkins\.parquet",
    ),
    "outside": (list_a_file_outside, r"\.\./changed"),
    "renamed": (lambda folder: edit_manifest(folder, {"name": "x"}, relist=False), r"dataset\.json was changed"),
    "newer": (lambda folder: edit_manifest(folder, {"format_version": 99}, relist=True), "format 99.*update recap"),
    "odd": (lambda folder: edit_manifest(folder, {"format_version": "one"}, relist=True), "format"),
    "unknown": (lambda folder: edit_manifest(folder, {"colour": "red"}, relist=True), "colour"),
    "noise": (lambda folder: (folder / "dataset.json").write_bytes(b"\xff\xfe{not json"), "manifest"),
    "no table": (lambda folder: replace_a_table(folder, b"PAR1 not really PAR1"), "recap prepare"),
    "another table": (lambda folder: replace_a_table(folder, OTHER_TABLE), "recap prepare"),
    "other content, listed again": (lambda folder: replace_a_table(folder, OTHER_CONTENT), "content"),
    "gone": (shutil.rmtree, "recap prepare"),
    **{f"odd {text[:8]}": (partial(write_manifest, text=text), "manifest|format_version") for text in ODD_JSON},
}


@pytest.mark.parametrize("name", EDITED)
def test_refuses_folders_edited_by_hand(name: str, tmp_path: Path) -> None:
    """A changed byte, a missing table, a missing or foreign list of hashes, a bad manifest: each by name."""
    edit, message = EDITED[name]
    small_dataset(ROWS).save(tmp_path / "data")
    edit(tmp_path / "data")
    with pytest.raises((ChecksumError, DatasetError, ConfigError), match=message):
        Dataset.load(tmp_path / "data")


def test_prepare_says_that_it_replaced_another_dataset(tmp_path: Path) -> None:
    """The same content again is no news; other content is."""
    rows = pd.DataFrame(ROWS, columns=["user", "poi", "hour"])
    source, out = tmp_path / "rows.csv", tmp_path / "out"
    rows = rows.assign(time=rows["hour"].mul(3600).astype(int) + 1_400_000_000, latitude=1.0, longitude=2.0)
    rows.drop(columns="hour").to_csv(source, index=False)
    minima = ["--set", "min_poi_checkins=1", "--set", "min_user_checkins=1"]
    command = ["prepare", source, "--out", out, *minima]
    for zone, said in (("UTC", False), ("UTC", False), ("Europe/Zurich", True)):
        result = recap(*command, "--timezone", zone)
        assert result.returncode == 0, result.stderr
        assert ("held another dataset" in " ".join((result.stdout + result.stderr).split())) == said


LETTERS = [(user, poi, float(hour)) for user in ("u", "v") for hour, poi in enumerate("abcabcabca")]
Tables = dict[str, pd.DataFrame]


def reseal(folder: Path, change: Callable[[Tables], None]) -> None:
    """Change the tables and bring content hash and SHA256SUMS up to date, as a forger would."""
    dataset = small_dataset(LETTERS)
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
