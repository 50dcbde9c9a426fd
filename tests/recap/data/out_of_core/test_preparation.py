"""A dataset prepared on disk is the one prepared in memory, file by file and byte for byte."""

import re
import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recap.data.card import dataset_card
from recap.data.cleaning import DataConfig
from recap.data.dataset import Dataset
from recap.data.out_of_core.choosing import choose_engine
from recap.data.out_of_core.preparation import prepare_out_of_core
from recap.data.parsing.options import ReadOptions
from recap.data.preparation import prepare_dataset
from recap.data.readers.own_table import read_parquet
from recap.errors import ConfigError, DataError
from tests.checkins import configs, raw_rows, raw_table

pytest.importorskip("duckdb")


def in_memory(path: Path, config: DataConfig) -> Dataset:
    read = read_parquet(path)
    return prepare_dataset(read.table, config, name="city", source_format="parquet", reading=read.account)


def on_disk(path: Path, config: DataConfig, block_rows: int = 5) -> Dataset:
    options = ReadOptions()
    return prepare_out_of_core(path, options, config, path.parent, name="city", block_rows=block_rows)


def files_of(dataset: Dataset, folder: Path) -> dict[str, bytes]:
    dataset.save(folder, card=dataset_card(dataset))
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(rows=raw_rows(min_size=6, max_size=60), config=configs, block_rows=st.integers(1, 30))
def test_it_is_the_dataset_made_in_memory(
    rows: list[tuple[str, str, float]], config: DataConfig, block_rows: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any rows, also of one second, under any protocol that shares out check-ins; refused for the same reason."""
    folder = tmp_path_factory.mktemp("city")
    config = config.model_copy(update={"split_by": "checkins"})
    raw_table([(user, poi, hour // 3) for user, poi, hour in rows]).to_parquet(folder / "raw.parquet")
    try:
        expected = in_memory(folder / "raw.parquet", config)
    except DataError as error:
        with pytest.raises(DataError, match=f"^{re.escape(str(error))}$"):
            on_disk(folder / "raw.parquet", config, block_rows)
        return
    found = on_disk(folder / "raw.parquet", config, block_rows)
    assert found.manifest == expected.manifest
    assert files_of(found, folder / "found") == files_of(expected, folder / "expected")
    assert not list(folder.glob(".recap-prepare-*")), "what was put on disk goes again"


ROWS = [("ann", "café", 0.0), ("ann", "Zoo", 1.0), ("ann", "café", 2.0), ("ann", "zoo", 3.0), ("ann", "café", 4.0)]
ONE = DataConfig(min_poi_checkins=1, min_user_checkins=1, min_trajectory_length=1)


def test_ids_are_numbered_by_their_text(tmp_path: Path) -> None:
    """By code points, capitals before small letters; a place is described by its first row."""
    raw = raw_table(ROWS)
    raw["poi_name"] = ["first", "second", "third", "fourth", "fifth"]
    raw.to_parquet(tmp_path / "raw.parquet")
    dataset = on_disk(tmp_path / "raw.parquet", ONE)
    told = dataset.pois[["poi_id", "poi_name"]].to_numpy().tolist()
    assert told == [["Zoo", "second"], ["café", "first"], ["zoo", "fourth"]]
    assert dataset.checkins["poi"].tolist() == [1, 0, 1, 2, 1]


def test_it_refuses_what_needs_all_rows_at_once(tmp_path: Path) -> None:
    """Trajectories that are shared out, a split that came with the file, another format; automatically: in memory."""
    path = tmp_path / "raw.parquet"
    raw_table(ROWS).assign(split="train").to_parquet(path)
    whole = DataConfig(split_by="trajectory_end")
    with pytest.raises(ConfigError, match="split_by=trajectory_end is made in memory only"):
        choose_engine("duckdb", path, "parquet", whole)
    with pytest.raises(ConfigError, match="a split of its own is prepared in memory only"):
        on_disk(path, ONE)
    with pytest.raises(ConfigError, match="--engine duckdb prepares Parquet files, got csv"):
        choose_engine("duckdb", path, "csv", ONE)
    with pytest.raises(ConfigError, match="unknown engine 'spark'; choose one of auto, memory, duckdb"):
        choose_engine("spark", path, "parquet", ONE)
    assert not choose_engine("auto", path, "parquet", whole).is_out_of_core


def test_a_missing_engine_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the command."""
    raw_table(ROWS).to_parquet(tmp_path / "raw.parquet")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ConfigError, match=r"pip install 'recap\[large\]'"):
        on_disk(tmp_path / "raw.parquet", ONE)


def test_few_rows_are_prepared_in_memory(tmp_path: Path) -> None:
    """Five rows fit."""
    pd.DataFrame({"row": range(5)}).to_parquet(tmp_path / "raw.parquet")
    assert not choose_engine("auto", tmp_path / "raw.parquet", "parquet", ONE).is_out_of_core
