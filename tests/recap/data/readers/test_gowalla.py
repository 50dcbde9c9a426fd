"""SNAP files: columns, newest first, the bounding box, and the time zone that the file does not have."""

from pathlib import Path

import pandas as pd
import pytest

from recap import columns as c
from recap.data.parsing.options import CALIFORNIA, ReadOptions, parse_bbox
from recap.data.reading import read_checkins
from recap.errors import ConfigError, DataError

# Newest first. San Francisco, Los Angeles (the same second twice), Austin, Tokyo.
LINES = [
    "0\t2010-10-19T23:55:27Z\t37.7749\t-122.4194\t22847",
    "0\t2010-01-18T22:17:43Z\t34.0522\t-118.2437\t420315",
    "0\t2010-01-18T22:17:43Z\t34.0530\t-118.2440\t316637",
    "1\t2010-07-02T12:00:00Z\t30.2672\t-97.7431\t00153",
    "1\t2010-07-01T12:00:00Z\t35.6762\t139.6503\t9410",
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "Gowalla_totalCheckins.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_reads_with_a_zone_and_turns_the_rows_round(file: Path) -> None:
    """Last line first, so that rows of one second stand as they happened; ids keep their zeros; no category."""
    table = read_checkins(file, "gowalla", ReadOptions(timezone="UTC")).table
    assert table[c.POI_ID].tolist() == ["9410", "00153", "316637", "420315", "22847"]
    assert table[c.USER_ID].tolist() == ["1", "1", "0", "0", "0"]
    assert table[c.LATITUDE].tolist() == [35.6762, 30.2672, 34.053, 34.0522, 37.7749]
    assert table[c.LONGITUDE].iloc[0] == 139.6503
    assert table[c.TIME].iloc[-1] == pd.Timestamp("2010-10-19 23:55:27", tz="UTC")
    assert set(table[c.CATEGORY]) == set(table[c.CATEGORY_ID]) == {""}


def test_california_brings_its_zone_and_reports_the_rest(file: Path) -> None:
    """Two of five rows are outside; summer is UTC-7 (-420), winter UTC-8 (-480)."""
    read = read_checkins(file, "gowalla", ReadOptions(bbox=parse_bbox("California")))
    assert read.table[c.TZ_OFFSET_MINUTES].tolist() == [-480, -480, -420]
    assert (read.account.rows_in, read.account.rows_kept) == (5, 3)
    assert read.account.dropped() == {"outside_bbox": 2}
    assert "line 4: 30.2672, -97.7431" in read.account.reported["outside_bbox"].examples[0]


def test_other_places_need_a_zone(file: Path) -> None:
    """Refused with the option that helps; a nameless box brings no zone."""
    for options in (ReadOptions(), ReadOptions(bbox=parse_bbox("-125,32,-114,42"))):
        with pytest.raises(DataError, match=r"time zone.*--timezone"):
            read_checkins(file, "gowalla", options)
    assert len(read_checkins(file, "gowalla", ReadOptions(bbox=CALIFORNIA, timezone="America/Denver")).table) == 3


def test_longitude_gives_whole_hour_zones(file: Path) -> None:
    """Tokyo 139.65 / 15 = 9.3 -> UTC+9; Austin -97.74 / 15 = -6.52 -> UTC-7."""
    table = read_checkins(file, "gowalla", ReadOptions(timezone="longitude")).table
    assert table[c.TZ_OFFSET_MINUTES].tolist() == [540, -420, -480, -480, -480]


def test_skipping_reports_every_bad_row(tmp_path: Path) -> None:
    """Each reason is counted once a row, with its line; what is left is kept."""
    bad = [
        LINES[0],
        "0\tyesterday\t37.7\t-122.4\t1",
        "0\t2010-10-19T23:55:27Z\t137.7\t-122.4\t1",
        "",
        "0\t2010-10-19T23:55:27Z\t37.7",
        "\t2010-10-19T23:55:27Z\t37.7\t-122.4\t",
        LINES[1],
    ]
    path = tmp_path / "a.txt"
    path.write_text("\n".join(bad))
    read = read_checkins(path, "gowalla", ReadOptions(timezone="UTC", skip_bad_rows=True))
    assert read.account.dropped() == {"blank_line": 1, "user_id": 1, "latitude": 1, "time": 1, "wrong_columns": 1}
    assert (read.account.rows_in, read.account.rows_kept) == (7, 2)
    examples = [item.examples[0].split(": ")[0] for item in read.account.reported.values()]
    assert sorted(examples) == [f"a.txt line {line}" for line in (2, 3, 4, 5, 6)]
    with pytest.raises(DataError, match=r"a\.txt line 2: time .* 'yesterday'; .*--skip-bad-rows"):
        read_checkins(path, "gowalla", ReadOptions(timezone="UTC"))


def test_a_blank_last_line_refuses_nothing(tmp_path: Path) -> None:
    """Blank lines are no check-ins: reported, and fine without --skip-bad-rows."""
    path = tmp_path / "a.txt"
    path.write_text("\n".join(LINES) + "\n\n\n")
    account = read_checkins(path, "gowalla", ReadOptions(timezone="UTC")).account
    assert (account.rows_in, account.rows_kept, account.dropped()) == (7, 5, {"blank_line": 2})


def test_every_side_of_a_box_cuts(tmp_path: Path) -> None:
    """A point in the middle, four on the border, four beyond one side each."""
    points = [(5, 5), (0, 5), (10, 5), (5, 0), (5, 10), (-0.1, 5), (10.1, 5), (5, -0.1), (5, 10.1)]
    path = tmp_path / "a.txt"
    path.write_text("".join(f"0\t2010-10-19T23:55:27Z\t{lat}\t{lon}\t{n}\n" for n, (lat, lon) in enumerate(points)))
    options = ReadOptions(bbox=parse_bbox("0,0,10,10"), timezone="UTC")
    assert sorted(read_checkins(path, "gowalla", options).table[c.POI_ID]) == list("01234")


@pytest.mark.parametrize("text", ["1,2,3", "a,b,c,d", "10,0,5,1", "0,0,200,10", "atlantis"])
def test_refuses_boxes_that_are_none(text: str) -> None:
    """Too few numbers, no numbers, east of west, out of range, an unknown name."""
    with pytest.raises(ConfigError):
        parse_bbox(text)
