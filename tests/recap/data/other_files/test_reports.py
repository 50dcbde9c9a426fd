"""The inputs of public reports, where they are at hand, against the right answer for each; never in the repository."""

import os
from pathlib import Path

import pytest

from recap import columns as c
from recap.errors import DataError
from tests.recap.data.other_files.reading import asked, inspected, read

REPORTS = Path(os.environ.get("RECAP_REPORTS") or Path(__file__).parents[5] / "shared" / "reports")
pytestmark = pytest.mark.skipif(not REPORTS.is_dir(), reason=f"no {REPORTS}; set RECAP_REPORTS to the folder of inputs")

# file -> rows kept, rows reported, users, first time in UTC, first offset
ANSWERS = {
    "day_stops.jsonl": (1000, 0, 10, "2023-03-01 11:38:13", 60),
    "swarm_nyc.txt": (960, 0, 12, "2023-03-20 18:07:07", 60),
    "clock_one_na.csv": (999, 1, 10, "2023-03-01 11:38:13", 60),
    "clock_unpadded_min.csv": (1000, 0, 10, "2023-03-01 11:38:00", 60),
    "mixed_epoch_ms_mostly.csv": (1000, 0, 10, "2023-03-01 11:38:13", 60),
    "iso_1970.csv": (950, 50, 10, "2023-03-01 11:38:13", 60),
    "java_x.csv": (1200, 0, 12, "2023-03-01 11:38:13", 60),
    "nan_ids.csv": (860, 140, 10, "2023-03-01 11:38:13", 60),
    "location-history_ios.json": (360, 0, 1, "2023-03-01 11:38:13", 60),
    "timeline_android.json": (327, 0, 1, "2023-03-01 11:38:13", 60),
    "checkins1.json": (342, 18, 1, "2023-03-01 11:38:13", 60),
    "dms.csv": (1000, 0, 10, "2023-03-01 11:38:13", 60),
    "hemi.csv": (1000, 0, 10, "2023-03-01 11:38:13", -60),
    "point_degree.csv": (1000, 0, 10, "2023-03-01 11:38:13", 60),
    "abbrev_zone.csv": (1000, 0, 10, "2023-03-01 11:38:13", 60),
    "java_zoned.csv": (1000, 0, 10, "2023-03-01 11:38:13", 60),
    "js_date.csv": (1000, 0, 10, "2023-03-01 11:38:13", 60),
    "excel_serial.csv": (1000, 0, 10, "2023-03-01 11:38:13", 60),
    "k444_bars.csv": (1000, 0, 10, "2023-03-01 11:38:13", 60),
    "tab5_ctime.txt": (1000, 0, 10, "2023-03-01 11:38:13", 60),
    "p22168_blanks.csv": (1000, 0, 10, "2023-03-01 11:38:13", 60),
}
PROBLEMS = {
    "nyc_local_Z.csv": "local_marked_utc",
    "float_ids_mixed.csv": "several_spellings",
    "unicode_ids.csv": "several_spellings",
    "excel_epoch_sci.csv": "lost_precision",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_it_is_read(name: str) -> None:
    kept, reported, users, first, minutes = ANSWERS[name]
    found = read(REPORTS / name)
    assert (found.account.rows_kept, sum(found.account.dropped().values())) == (kept, reported)
    assert found.table[c.USER_ID].nunique() == users
    assert f"{found.table[c.TIME].iloc[0]:%Y-%m-%d %H:%M:%S}" == first
    assert found.table[c.TZ_OFFSET_MINUTES].iloc[0] == minutes
    longitude = -11.619527 if name == "hemi.csv" else found.table[c.LONGITUDE].iloc[0]
    assert found.table[c.LONGITUDE].iloc[0] == pytest.approx(longitude)
    if name == "java_x.csv":
        assert set(found.table[c.TZ_OFFSET_MINUTES]) == {0, 60, 330}


@pytest.mark.parametrize("name", PROBLEMS)
def test_its_problem_is_found(name: str) -> None:
    assert PROBLEMS[name] in {problem.kind for problem in inspected(REPORTS / name).problems}


def test_the_others_are_asked_or_explained() -> None:
    question = asked(REPORTS / "no_user_col.csv").question
    assert question is not None and "Is this one person's file?" in question.text
    assert read(REPORTS / "no_user_col.csv", columns={"user": "one"}).account.rows_kept == 360
    with pytest.raises(DataError, match="points of a track, not visits"):
        asked(REPORTS / "track.gpx")
