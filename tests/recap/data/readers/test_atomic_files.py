"""Atomic files of LibCity and RecBole: places joined by id, local times, typed headers, offsets, merged visits."""

from pathlib import Path

import pandas as pd
import pytest

from recap import columns as c
from recap.data.parsing.options import ReadOptions
from recap.data.reading import read_checkins
from tests.recap.data.refusing import assert_unreadable

GEO = """\
geo_id,type,coordinates,venue_category_id,venue_category_name
0,Point,"[-74.0026,40.7198]",4bf5,Arts & Crafts Store
7,Point,"[-74.0442,40.6068]",4bf6,Bridge
"""
DYNA = """\
dyna_id,type,time,entity_id,location
0,trajectory,2012-04-03T18:00:09Z,470,0
1,trajectory,2012-04-03T18:00:25Z,470,7
2,trajectory,2012-12-01T00:00:00Z,9,7
"""
NEW_YORK = ReadOptions(timezone="America/New_York")


def write(folder: Path, name: str = "city", geo: str = GEO, dyna: str = DYNA) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.geo").write_text(geo)
    (folder / f"{name}.dyna").write_text(dyna)
    return folder


def test_joins_places_to_checkins(tmp_path: Path) -> None:
    """Coordinates are [longitude,latitude]; times are UTC; New York is UTC-4 in April, UTC-5 in December."""
    table = read_checkins(write(tmp_path / "city"), "libcity", NEW_YORK).table
    assert table[c.USER_ID].tolist() == ["470", "470", "9"]
    assert table[c.POI_ID].tolist() == ["0", "7", "7"]
    assert table[c.LATITUDE].tolist() == [40.7198, 40.6068, 40.6068]
    assert table[c.LONGITUDE].tolist() == [-74.0026, -74.0442, -74.0442]
    assert table[c.CATEGORY].tolist() == ["Arts & Crafts Store", "Bridge", "Bridge"]
    assert table[c.CATEGORY_ID].tolist() == ["4bf5", "4bf6", "4bf6"]
    assert table[c.TZ_OFFSET_MINUTES].tolist() == [-240, -240, -300]
    assert table[c.TIME].iloc[0] == pd.Timestamp("2012-04-03 18:00:09", tz="UTC")


def test_foursquare_folders_hold_local_times(tmp_path: Path) -> None:
    """LibCity's conversion added the offset and kept the Z: 18:00:09 on the wall is 22:00:09 UTC."""
    read = read_checkins(write(tmp_path / "f", "foursquare_nyc"), "libcity", NEW_YORK)
    assert read.table[c.TIME].iloc[0] == pd.Timestamp("2012-04-03 22:00:09", tz="UTC")
    assert any("local" in note for note in read.account.notes)
    answer = read_checkins(write(tmp_path / "city"), "libcity", NEW_YORK.model_copy(update={"local_times": True}))
    assert answer.table[c.TIME].iloc[0] == pd.Timestamp("2012-04-03 22:00:09", tz="UTC")


def test_without_categories(tmp_path: Path) -> None:
    """As the Gowalla folder."""
    geo = 'geo_id,type,coordinates\n0,Point,"[ -74.0026 , 40.7198 ]"\n7,Point,"[-74.0442,40.6068]"\n'
    folder = write(tmp_path / "city", geo=geo)
    table = read_checkins(folder, "libcity", NEW_YORK).table
    assert set(table[c.CATEGORY]) == {""} and table[c.LATITUDE].iloc[0] == 40.7198
    assert len(read_checkins(folder / "city.dyna", "libcity", NEW_YORK).table) == 3


def test_rows_of_other_kinds_and_unknown_places(tmp_path: Path) -> None:
    """Refused with their line, or reported with --skip-bad-rows."""
    dyna = DYNA + "3,state,2012-12-01T00:00:00Z,9,7\n4,trajectory,2012-12-01T00:00:00Z,9,8\n"
    folder = write(tmp_path / "city", dyna=dyna)
    assert_unreadable(r"city\.dyna line 5: type must be trajectory, got 'state'", folder, "libcity", NEW_YORK)
    account = read_checkins(folder, "libcity", NEW_YORK.model_copy(update={"skip_bad_rows": True})).account
    assert account.dropped() == {"not_a_checkin": 1, "unknown_place": 1}
    assert "place '8' is not in city.geo" in account.reported["unknown_place"].examples[0]


@pytest.mark.parametrize(
    ("geo", "part"),
    [
        (GEO.replace("[-74.0026,40.7198]", "[40.7198]"), r"city\.geo line 2: coordinates must be"),
        (GEO.replace("[-74.0026,40.7198]", "[40.7198,-740]"), r"city\.geo line 2: latitude -740"),
        (GEO.replace("7,Point", "0,Point"), r"city\.geo: place '0' is listed twice"),
        (GEO.splitlines()[0] + "\n", "no places"),
        (GEO.replace("coordinates", "position"), r"city\.geo line 1: no column coordinates"),
    ],
)
def test_refuses_bad_places(tmp_path: Path, geo: str, part: str) -> None:
    """Points that are none, ids that repeat, columns that are missing."""
    assert_unreadable(part, write(tmp_path / "city", geo=geo), "libcity", NEW_YORK)


def test_refuses_other_datasets(tmp_path: Path) -> None:
    """Two datasets in one folder, GPS points, no zone."""
    folder = write(tmp_path / "city")
    assert_unreadable("--timezone", folder, "libcity")
    write(folder, dyna=DYNA.replace("location", "coordinates"))
    assert_unreadable(r"city\.dyna line 1: no column location", folder, "libcity", NEW_YORK)
    (folder / "other.geo").write_text(GEO)
    assert_unreadable(r"one \.geo file, found city\.geo, other\.geo", folder, "libcity", NEW_YORK)
    assert_unreadable("does not exist", tmp_path / "nowhere" / "x.dyna", "libcity", NEW_YORK)


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


def write_recbole(folder: Path, inter: str = INTER, item: str | None = ITEM) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "city.inter").write_text(inter)
    if item is not None:
        (folder / "city.item").write_text(item)
    return folder


@pytest.mark.parametrize("as_folder", [True, False])
def test_recbole_places_in_their_own_file(tmp_path: Path, as_folder: bool) -> None:
    """Category and coordinates come from .item, offsets are floats of minutes; folder or file may be named."""
    folder = write_recbole(tmp_path / "city")
    read = read_checkins(folder if as_folder else folder / "city.inter", "recbole")
    table = read.table
    assert table[c.USER_ID].tolist() == ["470", "979"]
    assert table[c.CATEGORY].tolist() == ["Arts & Crafts Store", "Bridge"]
    assert table[c.LATITUDE].tolist() == [40.7198, 40.6068]
    assert table[c.TZ_OFFSET_MINUTES].tolist() == [-240, -240]
    assert table[c.TIME].tolist() == [pd.Timestamp(t, tz="UTC") for t in ("2012-04-03 18:00:09", "2012-04-03 18:00:25")]
    assert read.account.files == ["city.inter", "city.item"]


def test_recbole_places_in_the_interactions(tmp_path: Path) -> None:
    """Gowalla's file has its coordinates in .inter, no categories and no zone; merged visits are said aloud."""
    folder = write_recbole(tmp_path / "city", GOWALLA, None)
    assert_unreadable("--timezone", folder, "recbole")
    read = read_checkins(folder, "recbole", ReadOptions(timezone="America/Chicago"))
    assert read.table[c.TZ_OFFSET_MINUTES].tolist() == [-300]
    assert read.table[c.POI_ID].tolist() == ["22847"]
    assert any("num_repeat" in note for note in read.account.notes)


@pytest.mark.parametrize(
    ("inter", "item", "part"),
    [
        (INTER, None, "no coordinates and there is no city.item"),
        (INTER.replace(":token", ""), ITEM, r"city\.inter line 1: 'user_id' has no RecBole type"),
        (INTER.replace("timestamp", "rating"), ITEM, r"no column timestamp or time; got user_id"),
        (INTER.replace("v2", "v3"), ITEM, r"city\.inter line 3: place 'v3' is not in city\.item"),
        (INTER, ITEM.replace("venue_id", "item"), r"city\.item line 1: no column venue_id"),
        (INTER, ITEM.replace("40.6068", "x"), r"city\.item line 3: latitude must be a number, got 'x'"),
        (INTER.replace("1333476025", "soon"), ITEM, r"city\.inter line 3: time must look like"),
    ],
)
def test_refuses_recbole(tmp_path: Path, inter: str, item: str | None, part: str) -> None:
    """Missing files and fields, unknown places, bad values: each with file and line."""
    assert_unreadable(part, write_recbole(tmp_path / "city", inter, item), "recbole")
