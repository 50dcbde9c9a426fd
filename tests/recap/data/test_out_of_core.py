"""A dataset prepared on disk is the one prepared in memory, file by file and byte for byte."""

import re
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recap.data.cleaning import DataConfig
from recap.data.dataset import Dataset
from recap.data.inspection import dataset_card
from recap.data.parsing.options import ReadOptions
from recap.data.preparation import FORMATS, Spool, choose_engine, prepare_dataset
from recap.data.reading import read_checkins
from recap.errors import ConfigError, DataError
from tests.checkins import configs, raw_rows, raw_table, write_foursquare


def in_memory(path: Path, config: DataConfig, source_format: str = "parquet") -> Dataset:
    read = read_checkins(path, source_format)
    return prepare_dataset(read.table, config, name="city", source_format=source_format, reading=read.account)


def on_disk(
    path: Path, config: DataConfig, source_format: str = "parquet", options: ReadOptions | None = None
) -> Dataset:
    with Spool(path.parent) as spool:
        account = read_checkins(path, source_format, options, spool.add).account
        facts = {"name": "city", "source_format": source_format, "reading": account}
        return prepare_dataset(spool, config, **facts)


def files_of(dataset: Dataset, folder: Path) -> dict[str, bytes]:
    dataset.save(folder, card=dataset_card(dataset))
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def write(rows: list[tuple[str, str, float]], source_format: str, folder: Path) -> Path:
    """The rows as a file of a format."""
    path = folder / f"raw.{source_format}"
    if source_format == "foursquare":
        return write_foursquare(path, rows)
    table = raw_table(rows)
    if source_format == "parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False)
    return path


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(rows=raw_rows(min_size=6, max_size=60), config=configs, source_format=st.sampled_from(FORMATS))
def test_it_is_the_dataset_made_in_memory(
    rows: list[tuple[str, str, float]], config: DataConfig, source_format: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any rows, also of one second, in any format, under any protocol; refused alike."""
    folder = tmp_path_factory.mktemp("city")
    path = write([(user, poi, hour // 3) for user, poi, hour in rows], source_format, folder)
    try:
        expected = in_memory(path, config, source_format)
    except DataError as error:
        with pytest.raises(DataError, match=f"^{re.escape(str(error))}$"):
            on_disk(path, config, source_format)
        return
    found = on_disk(path, config, source_format)
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
    answer = dataset.pois[["poi_id", "poi_name"]].to_numpy().tolist()
    assert answer == [["Zoo", "second"], ["café", "first"], ["zoo", "fourth"]]
    assert dataset.checkins["poi"].tolist() == [1, 0, 1, 2, 1]


def test_a_split_that_came_with_the_file_is_kept(tmp_path: Path) -> None:
    """With its trajectories, as in memory; refused if ids are to be joined, which needs all of them at once."""
    path = tmp_path / "raw.parquet"
    given = {"split": ["train"] * 3 + ["val", "test"], "trajectory": ["b", "b", "a", "a", "a"]}
    raw_table(ROWS).assign(**given).to_parquet(path)
    found, expected = on_disk(path, ONE), in_memory(path, ONE)
    assert files_of(found, tmp_path / "found") == files_of(expected, tmp_path / "expected")
    with pytest.raises(ConfigError, match="ids=join works in memory only"):
        on_disk(path, ONE, options=ReadOptions(ids="join"))


def test_it_refuses_what_it_cannot_prepare(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--engine disk prepares foursquare, csv, json, parquet, got gowalla"):
        choose_engine("disk", tmp_path, "gowalla")
    with pytest.raises(ConfigError, match="unknown engine 'spark'; choose one of auto, memory, disk"):
        choose_engine("spark", tmp_path, "parquet")


@pytest.mark.parametrize("source_format", FORMATS)
def test_few_rows_are_prepared_in_memory(source_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five rows fit, a file that would need more than 60 % of what is free does not, whatever its format."""
    path = write(ROWS, source_format, tmp_path)
    assert not choose_engine("auto", path, source_format)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=500))
    assert choose_engine("auto", path, source_format)
