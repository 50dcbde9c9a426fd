"""What leaves this machine: nothing that names a person, a second or a house number, unless asked for and said."""

import os
import re
import stat
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.explain.explanation import explain_fully
from analysis.report.html import render_page
from analysis.report.sharing import shareable
from app.components.toolbar import to_csv
from recap.data.cleaning import DataConfig
from recap.data.inspection import inspect_checkins
from recap.data.inspection_page import inspection_page
from recap.data.parsing.options import ReadOptions
from recap.predictor import Predictor
from recap.privacy import EXACT_NOTE, Generalisation
from tests.checkins import small_dataset, write_foursquare

RULE = Generalisation(salt="pepper")
ROWS = [(user, poi, float(hour) + 0.31) for user in ("ann-773", "bob-41") for hour, poi in enumerate("abcabcabca")]


def test_pseudonyms_depend_on_the_salt_alone() -> None:
    """The same person keeps a name within a file and has another in the next one."""
    assert RULE.pseudonym(7) == RULE.pseudonym("7") != RULE.pseudonym(8)
    assert RULE.pseudonym(7) != Generalisation().pseudonym(7)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)))
def test_times_keep_weekday_and_part_of_the_day(moment: datetime) -> None:
    """Whole weeks back and down to four hours: never the true date, never a minute."""
    coarse = RULE.time(moment)
    assert coarse.weekday() == moment.weekday() and coarse.hour == moment.hour // 4 * 4
    assert coarse.minute == coarse.second == 0 and 7 <= (moment - coarse).days <= 7 * 26 + 1


def test_cells_and_rare_places() -> None:
    """A cell's middle is at most half a side away; place 0 has two people, place 1 one."""
    degrees = np.linspace(-90, 90, 500)
    assert np.abs(RULE.cell(degrees) - degrees).max() <= 0.01 + 1e-6
    rare = RULE.model_copy(update={"min_users": 2}).is_rare(np.array([0, 1, 0, 0]), np.array([0, 0, 1, 1]))
    assert rare.tolist() == [False, False, True, True]


def test_an_inspection_to_share_names_nobody(tmp_path: Path) -> None:
    """No id, second or exact coordinate; --exact has them and says so."""
    found = inspect_checkins(write_foursquare(tmp_path / "c.txt", ROWS), "auto", ReadOptions(), DataConfig())
    page, exact = (inspection_page(found, DataConfig(), exact=flag) for flag in (False, True))
    for secret in ("ann-773", ":18:36", "2012-04-02"):
        assert secret not in page and secret in exact, secret
    assert EXACT_NOTE in exact and EXACT_NOTE not in page and "moved by whole weeks" in page


def test_an_explanation_to_share_names_no_walker(city_folder: Path, city_checkpoint: Path) -> None:
    """Walkers have other names, times are of whole four hours; every number stays; --exact says that it is."""
    predictor = Predictor.load(city_checkpoint, city_folder)
    whole = explain_fully(predictor, 3)
    shared, exact = render_page([whole]), render_page([whole], exact=True)
    clock = re.compile(r"\d\d:\d\d:\d\d")
    assert {time[2:] for time in clock.findall(shared)} <= {":00:00"}
    assert {time[2:] for time in clock.findall(exact)} - {":00:00"} or not clock.findall(exact)
    assert not re.search(r"Walker \d{3}\b(?![0-9a-f])", re.sub(r"Walker [0-9a-f]{6}", "", shared.split("</p>", 1)[1]))
    assert EXACT_NOTE in exact and EXACT_NOTE not in shared
    given = shareable(whole)
    assert given.candidates == whole.candidates and given.contrast == whole.contrast
    assert given.revisits[0].now_time != whole.revisits[0].now_time


def test_a_csv_to_share_has_no_second() -> None:
    """A column of times, users or coordinates is generalised whichever table it stands in."""
    table = pd.DataFrame({"user": [3], "local_time": [pd.Timestamp("2012-04-02 08:18:36")], "latitude": [40.1234567]})
    text = to_csv(table).decode()
    assert "08:00:00" in text and "18:36" not in text and "2012-04-02" not in text and "40.13" in text


@pytest.mark.parametrize(("mask", "folder_mode", "file_mode"), [(0o077, 0o700, 0o600), (0o022, 0o755, 0o644)])
def test_folders_honour_the_umask(mask: int, folder_mode: int, file_mode: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        small_dataset(ROWS).save(tmp_path / "data")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == folder_mode
    assert {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "data").iterdir()} == {file_mode}
