"""What leaves this machine: nothing that names a person, a second or a house number, unless asked for and said."""

from datetime import datetime
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recap.data.cleaning import DataConfig
from recap.data.inspection import inspect_checkins
from recap.data.inspection_page import inspection_page
from recap.data.parsing.options import ReadOptions
from recap.privacy import EXACT_NOTE, Generalisation, users_per_group
from tests.checkins import write_foursquare

RULE = Generalisation(salt="pepper")
ROWS = [(user, poi, float(hour) + 0.31) for user in ("ann-773", "bob-41") for hour, poi in enumerate("abcabcabca")]


def test_pseudonyms_depend_on_the_salt_alone() -> None:
    """The same person keeps a name within a file and has another in the next one."""
    assert RULE.pseudonym(7) == RULE.pseudonym("7") != RULE.pseudonym(8)
    assert RULE.pseudonym(7) != Generalisation().pseudonym(7)


def test_no_two_people_or_places_share_a_name() -> None:
    """Whole cities keep apart; with six characters the first pair came among some three thousand."""
    numbers = range(60_000)
    assert len({RULE.pseudonym(number) for number in numbers}) == len(numbers)
    assert len({RULE.place_name(str(number)) for number in numbers}) == len(numbers)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)))
def test_times_keep_weekday_and_part_of_the_day(moment: datetime) -> None:
    """Whole weeks back and down to four hours: never the true date, never a minute."""
    coarse = RULE.time(moment, 3)
    assert coarse.weekday() == moment.weekday() and coarse.hour == moment.hour // 4 * 4
    assert coarse.minute == coarse.second == 0 and 7 <= (moment - coarse).days <= 7 * 26 + 1


def test_each_person_has_a_shift_of_their_own() -> None:
    """Two people who met are not found by their common moments."""
    assert len({RULE.shift(user) for user in range(40)}) > 10


def test_a_part_of_the_week_has_no_date() -> None:
    assert RULE.part_of_week(1, 18.9) == "Tuesday, 16 to 20 h" and RULE.part_of_week(None, 0.0) == "0 to 4 h"


def test_cells_and_people() -> None:
    """A cell's middle is at most half a side away; place 0 has two people, place 1 one."""
    degrees = np.linspace(-90, 90, 500)
    assert np.abs(RULE.cell(degrees) - degrees).max() <= 0.01 + 1e-6
    assert users_per_group(np.array([0, 1, 0, 0]), np.array([0, 0, 1, 1]), 2).tolist() == [2, 1]


def test_an_inspection_to_share_names_nobody(tmp_path: Path) -> None:
    """No id, second or exact coordinate."""
    found = inspect_checkins(write_foursquare(tmp_path / "c.txt", ROWS), "auto", ReadOptions(), DataConfig())
    page = inspection_page(found, DataConfig())
    for secret in ("ann-773", ":18:36", "2012-04-02"):
        assert secret not in page, secret
    assert EXACT_NOTE not in page and "moved by whole weeks" in page
