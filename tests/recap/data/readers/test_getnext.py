"""GETNext CSV folders: the mapping, the split and trajectories that stay, and folders that lack a part."""

from pathlib import Path

import pandas as pd
import pytest

from recap import columns as c
from recap.data.cleaning import DROP_REASONS, DataConfig
from recap.data.dataset import Dataset
from recap.data.parsing.options import ReadOptions
from recap.data.preparation import prepare_dataset
from recap.data.reading import read_checkins
from tests.checkins import clean_checkins
from tests.recap.data.refusing import assert_unreadable
from tests.sources import GETNEXT_HEADER as HEADER

TRAIN = """\
470,v1,c1,0,Bridge,40.70,-74.00,-240,Tue Apr 03 18:00:09 +0000 2012,2012-04-03 14:00:09,1,0.58,470_1,0,0.58
470,v2,c2,1,"Bar, late",40.71,-74.01,-240,Tue Apr 03 19:00:00 +0000 2012,2012-04-03 15:00:00,1,0.62,470_1,0,0.62
470,v1,c1,0,Bridge,40.70,-74.00,-240,Tue Apr 03 20:00:00 +0000 2012,2012-04-03 16:00:00,1,0.66,470_2,0,0.66
"""
VAL = """\
470,v2,c2,1,"Bar, late",40.71,-74.01,-240,Wed Apr 04 18:00:00 +0000 2012,2012-04-04 14:00:00,2,0.58,470_3,1,1.58
"""
TEST = """\
470,v1,c1,0,Bridge,40.70,-74.00,-240,Wed Apr 04 19:00:00 +0000 2012,2012-04-04 15:00:00,2,0.62,470_3,1,1.62
470,v9,c1,0,Bridge,40.70,-74.00,-240,Wed Apr 04 20:00:00 +0000 2012,2012-04-04 16:00:00,2,0.66,470_3,1,1.66
99,v1,c1,0,Bridge,40.70,-74.00,-240,Wed Apr 04 21:00:00 +0000 2012,2012-04-04 17:00:00,2,0.70,99_1,1,1.70
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "NYC"
    folder.mkdir()
    for part, rows in (("train", TRAIN), ("val", VAL), ("test", TEST)):
        (folder / f"NYC_{part}.csv").write_text(HEADER + "\n" + rows)
    return folder


def test_reads_three_files_with_split_and_trajectories(folder: Path) -> None:
    """Order train, validation, test; quoted names keep their comma; offsets from the column, times as UTC."""
    read = read_checkins(folder, "getnext")
    table = read.table
    assert table[c.SPLIT].tolist() == [0, 0, 0, 1, 2, 2, 2]
    assert table[c.TRAJECTORY_ID].tolist() == ["470_1", "470_1", "470_2", "470_3", "470_3", "470_3", "99_1"]
    assert table[c.POI_ID].tolist() == ["v1", "v2", "v1", "v2", "v1", "v9", "v1"]
    assert table[c.CATEGORY].iloc[1] == "Bar, late"
    assert table[c.CATEGORY_ID].iloc[1] == "c2"
    assert table[c.TIME].iloc[0] == pd.Timestamp("2012-04-03 18:00:09", tz="UTC")
    assert set(table[c.TZ_OFFSET_MINUTES]) == {-240}
    assert read.account.files == ["NYC_train.csv", "NYC_val.csv", "NYC_test.csv"]
    assert (read.account.rows_in, read.account.rows_kept) == (7, 7)


def test_their_split_goes_through_the_pipeline(folder: Path, tmp_path: Path) -> None:
    """No count filters, no cut: only what training does not know (v9, user 99) is dropped; 470_1 and 470_2 stay two
    trajectories though an hour apart, and 470_3 goes on from validation into test."""
    read = read_checkins(folder, "getnext")
    dataset = prepare_dataset(read.table, DataConfig(), name="NYC", source_format="getnext", reading=read.account)
    assert dataset.checkins[c.SPLIT].tolist() == [0, 0, 0, 1, 2]
    assert dataset.checkins[c.TRAJECTORY].tolist() == [0, 0, 1, 2, 2]
    assert dataset.manifest.report.dropped == dict.fromkeys(DROP_REASONS, 0) | {"unseen_user": 1, "unseen_poi": 1}
    assert [dataset.cases(split).tolist() for split in range(3)] == [[0], [], [3]]
    dataset.save(tmp_path / "out")
    assert Dataset.load(tmp_path / "out").manifest.reading == read.account


def test_a_split_can_be_given_up(folder: Path) -> None:
    """keep_given_split=false treats the rows like any other file: cut by time, trajectories by gaps."""
    config = DataConfig(keep_given_split=False, min_poi_checkins=1, min_user_checkins=1, min_trajectory_length=1)
    frame, _ = clean_checkins(read_checkins(folder, "getnext").table, config)
    assert frame[frame[c.USER_ID] == "470"][c.SPLIT].tolist() == [0, 0, 0, 0, 0]
    assert frame[frame[c.USER_ID] == "470"][c.TRAJECTORY].tolist() == [0, 0, 0, 0, 0]


def test_one_file_alone_has_no_split(folder: Path) -> None:
    """A single CSV of the layout is read like any other table of check-ins."""
    table = read_checkins(folder / "NYC_train.csv", "getnext").table
    assert c.SPLIT not in table and len(table) == 3


def test_a_missing_zone_column_needs_the_option(folder: Path) -> None:
    """Without `timezone` the offsets come from --timezone: April in New York is UTC-4."""
    for path in folder.glob("*.csv"):
        pd.read_csv(path, dtype=str).drop(columns="timezone").to_csv(path, index=False)
    assert_unreadable("--timezone", folder, "getnext")
    table = read_checkins(folder, "getnext", ReadOptions(timezone="America/New_York")).table
    assert set(table[c.TZ_OFFSET_MINUTES]) == {-240}


def test_a_zone_column_in_some_parts_only(folder: Path) -> None:
    """One part's offsets are not taken as zero: the folder is refused until --timezone holds for all of them."""
    val = folder / "NYC_val.csv"
    val.write_text(val.read_text().replace("timezone", "zone"))
    assert_unreadable(r"NYC_val\.csv differs.*--timezone", folder, "getnext")
    table = read_checkins(folder, "getnext", ReadOptions(timezone="America/New_York")).table
    assert len(table) == 7 and set(table[c.TZ_OFFSET_MINUTES]) == {-240}


def test_local_times_only(folder: Path) -> None:
    """Without UTC_time the refusal names what helps, and with it 14:00 in New York is 18:00 UTC."""
    path = folder / "NYC_train.csv"
    path.write_text(path.read_text().replace("UTC_time", "when"))
    assert_unreadable("--format csv --map time=local_time", folder, "getnext")
    read = read_checkins(path, "csv", ReadOptions(columns={"time": "local_time"}))
    assert read.table[c.TIME].iloc[0] == pd.Timestamp("2012-04-03 18:00:09", tz="UTC")


def test_refuses_incomplete_folders_and_headers(folder: Path) -> None:
    """A missing part, two files for one part, a missing column: each with what was expected."""
    (folder / "NYC_train_old.csv").write_text(HEADER)
    assert_unreadable(r"NYC_train\.csv and NYC_train_old\.csv", folder, "getnext")
    (folder / "NYC_train_old.csv").unlink()
    (folder / "NYC_val.csv").unlink()
    assert_unreadable("val in its name", folder, "getnext")
    bad = folder / "NYC_test.csv"
    bad.write_text(HEADER.replace("POI_id", "poi") + "\n" + TEST)
    assert_unreadable(r"line 1: no column POI_id; got user_id, poi", bad, "getnext")
    bad.write_text(HEADER + "\n" + TEST.replace("40.70", "400.7", 1))
    assert_unreadable(r"NYC_test\.csv line 2: latitude 400\.7", bad, "getnext")
    bad.write_text(HEADER + "\n" + TEST.replace("Bridge", '"Bridge', 1))
    assert_unreadable(r"3 lines but . rows.*--text multiline=true", bad, "getnext")


@pytest.mark.parametrize("name", ["POI_catname", "POI_catid", "trajectory_id"])
def test_a_column_that_one_part_lacks(folder: Path, name: str) -> None:
    """Three parts are one table: what only some have is neither made up nor left out in silence."""
    test = folder / "NYC_test.csv"
    test.write_text(test.read_text().replace(name, "other"))
    assert_unreadable(rf"some of its files have a column {name}, NYC_test\.csv differs", folder, "getnext")
