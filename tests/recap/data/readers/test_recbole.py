"""RecBole atomic files: typed headers, places in either file, offsets, and merged visits."""

from pathlib import Path

import pandas as pd
import pytest

from recap import columns as c
from recap.data.parsing.options import ReadOptions
from recap.data.reading import read_checkins
from recap.errors import DataError

INTER = """\
user_id:token\tvenue_id:token\ttimezone_offset:float\ttimestamp:float
470\tv1\t-240.0\t1333476009.0
979\tv2\t-240\t1333476025
"""
ITEM = """\
venue_id:token\tvenue_category_id:token\tvenue_category_name:token\tlatitude:float\tlongitude:float
v1\t4bf5\tArts & Crafts Store\t40.7198\t-74.0026
v2\t4bf6\tBridge\t40.6068\t-74.0442
"""
GOWALLA = """\
user_id:token\titem_id:token\ttimestamp:float\tlatitude:float\tlongitude:float\tnum_repeat:float
0\t22847\t1287532527.0\t30.23\t-97.79\t2
"""


def write(folder: Path, inter: str = INTER, item: str | None = ITEM) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "city.inter").write_text(inter)
    if item is not None:
        (folder / "city.item").write_text(item)
    return folder


@pytest.mark.parametrize("as_folder", [True, False])
def test_places_in_their_own_file(tmp_path: Path, as_folder: bool) -> None:
    """Category and coordinates come from .item, offsets are floats of minutes; folder or file may be named."""
    folder = write(tmp_path / "city")
    read = read_checkins(folder if as_folder else folder / "city.inter", "recbole")
    table = read.table
    assert table[c.USER_ID].tolist() == ["470", "979"]
    assert table[c.CATEGORY].tolist() == ["Arts & Crafts Store", "Bridge"]
    assert table[c.LATITUDE].tolist() == [40.7198, 40.6068]
    assert table[c.TZ_OFFSET_MINUTES].tolist() == [-240, -240]
    assert table[c.TIME].tolist() == [pd.Timestamp(t, tz="UTC") for t in ("2012-04-03 18:00:09", "2012-04-03 18:00:25")]
    assert read.account.files == ["city.inter", "city.item"]


def test_places_in_the_interactions(tmp_path: Path) -> None:
    """Gowalla's file has its coordinates in .inter, no categories and no zone; merged visits are said aloud."""
    folder = write(tmp_path / "city", GOWALLA, None)
    with pytest.raises(DataError, match="--timezone"):
        read_checkins(folder, "recbole")
    read = read_checkins(folder, "recbole", ReadOptions(timezone="America/Chicago"))
    assert read.table[c.TZ_OFFSET_MINUTES].tolist() == [-300]
    assert read.table[c.POI_ID].tolist() == ["22847"]
    assert any("num_repeat" in note for note in read.account.notes)


@pytest.mark.parametrize(
    ("inter", "item", "part"),
    [
        (INTER, None, "no coordinates and there is no city.item"),
        (INTER.replace(":token", ""), ITEM, r"city\.inter line 1: 'user_id' has no RecBole type"),
        (INTER.replace("timestamp", "rating"), ITEM, "no field for the time"),
        (INTER.replace("v2", "v3"), ITEM, r"city\.inter line 3: place 'v3' is not in city\.item"),
        (INTER, ITEM.replace("venue_id", "item"), "no field venue_id, by which places are joined"),
        (INTER, ITEM.replace("40.6068", "x"), r"city\.item line 3: latitude must be a number, got 'x'"),
        (INTER.replace("1333476025", "soon"), ITEM, r"city\.inter line 3: time must look like"),
    ],
)
def test_refuses(tmp_path: Path, inter: str, item: str | None, part: str) -> None:
    """Missing files and fields, unknown places, bad values: each with file and line."""
    with pytest.raises(DataError, match=part):
        read_checkins(write(tmp_path / "city", inter, item), "recbole")
