"""A user's moment, on the clock that the time names, and with changed stops."""

from datetime import datetime
from functools import cache

import numpy as np
import pandas as pd
import pytest

from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import CaseError, ConfigError
from recap.evaluation.cases import describe_cases
from recap.history.asked_times import parse_time
from recap.history.graph import TransitionGraph
from recap.history.moments import Moment, find_moment, is_moment, last_rows, named_case, next_place
from recap.history.one_user import History, last_noon, median_gap
from recap.history.tensors import CheckinTensors
from tests.checkins import START, split_dataset
from tests.worlds import small_city


@cache
def two_users() -> Dataset:
    """The first at 8:00, twice at 9:00 and at 13:00 UTC, the second at 11:00 and 12:00; on their clocks 4 h earlier."""
    made = split_dataset([(0, [(0, 0), (1, 0), (0, 0), (2, 2)]), (1, [(0, 0), (1, 2)])], num_pois=3)
    made.checkins[c.TIME] = (START + pd.to_timedelta([0, 1, 1, 5, 3, 4], unit="h")).as_unit("s")
    return made


@pytest.mark.parametrize(
    ("as_of", "rows"),
    [
        (None, [3, 5]),
        ("2012-04-02T09:00+00:00", [2, -1]),
        ("2012-04-02T08:59:59+00:00", [0, -1]),
        ("2012-04-02T09:00", [3, 5]),
        ("2012-04-02T07:00", [2, 4]),
        ("2012-04-02T13:00+02:00", [2, 4]),
        ("2012-04-02", [-1, -1]),
    ],
)
def test_the_last_row_at_or_before_a_time(as_of: str | None, rows: list[int]) -> None:
    """With a zone UTC decides, without one the check-in's own clock; of one second the last in the file."""
    time = parse_time(as_of)
    assert last_rows(two_users(), time).tolist() == rows
    for user, (name, row) in enumerate(zip(("u0", "u1"), rows, strict=True)):
        if row >= 0:
            assert find_moment(two_users(), name, time) == find_moment(two_users(), user, time) == Moment(user, row)


def test_each_check_in_has_its_own_clock() -> None:
    """Ten o'clock at home, then after a flight half past seven: at eight o'clock the later one is known.

    A check-in that early must be there; the command's tests hold the other refusals.
    """
    home = split_dataset([(0, [(0, 0), (1, 0), (2, 2)])], num_pois=3)
    home.checkins[c.TZ_OFFSET_MINUTES] = np.array([120, -90, -90], dtype=np.int16)
    assert last_rows(home, datetime(2012, 4, 2, 8)).tolist() == [1]
    with pytest.raises(CaseError, match=r"^user 'u1' has no check-in at or before 2012-04-02 10:00.* 2012-04-02 07:00"):
        find_moment(two_users(), "u1", parse_time("2012-04-02T10:00+00:00"))
    with pytest.raises(CaseError, match="has no user 7;"):
        find_moment(two_users(), 7)


def test_next_places_and_cases() -> None:
    """The same user's next check-in; a moment where a test case starts is that case."""
    data = two_users()
    assert [next_place(data, row) for row in range(6)] == [1, 0, 2, None, 1, None]
    assert is_moment(data, Moment(0, 3)) and not is_moment(data, Moment(1, 3)) and not is_moment(data, Moment(0, 99))
    cases = describe_cases(small_city(), TransitionGraph.from_dataset(small_city()))
    for number in (0, len(cases) - 1):
        case = Moment.of_case(cases.iloc[number])
        assert (case.case, case.split) == (number, c.TEST)
        assert named_case(Moment(case.user, case.row), cases) == case
    last = find_moment(small_city(), 0)
    assert named_case(last, cases) == last


@pytest.fixture(scope="module")
def data(city_folder: object) -> tuple[Dataset, CheckinTensors]:
    dataset = Dataset.load(city_folder)  # type: ignore[arg-type]
    return dataset, CheckinTensors.from_dataset(dataset)


@pytest.fixture
def start(data: tuple[Dataset, CheckinTensors]) -> Moment:
    """User 3 at the last check-in."""
    return Moment.read({"user": "3"}, *data)


def test_a_recorded_itinerary_is_the_history(start: Moment, data: tuple[Dataset, CheckinTensors]) -> None:
    assert start.row == find_moment(data[0], 3).row and not start.is_changed and start.text == ""
    found = vars(History.at(start, *data))
    assert all(np.array_equal(found[name], value) for name, value in vars(History.until(data[1], start.row)).items())
    earlier = Moment(3, start.row - 1)
    assert earlier.next_place(data[0]) == next_place(data[0], start.row - 1) is not None
    assert earlier.plus(7, 30).next_place(data[0]) is None


def test_a_link_says_everything(start: Moment, data: tuple[Dataset, CheckinTensors]) -> None:
    """What is written is read again; numbers, rows, places and minutes only."""
    asked = start.without(1).later(0, -5).plus(7, 30).plus(2, 45)
    assert asked.fields == {"user": 3, "row": start.row, "stops": "x1,m0.-5,7.30,2.45"}
    for one in (asked, start, Moment().plus(4, 0)):
        assert Moment.read({name: str(value) for name, value in one.fields.items()}, *data) == one
    assert asked.plus(7, 30).without(-3) == asked and asked.later(-1, 15).added == ((7, 45), (2, 45))


@pytest.mark.parametrize("text", ["nonsense", "5", "999999999.3", "1.30,", "x", "1.-3", ",".join(["1.1"] * 13)])
def test_bad_stops_are_refused(text: str, data: tuple[Dataset, CheckinTensors]) -> None:
    with pytest.raises(ConfigError, match="expected stops such as"):
        Moment.read({"stops": text}, *data)


@pytest.mark.parametrize("fields", [{"user": "999"}, {"user": "3", "row": "0"}, {"user": "x"}, {"row": "5"}])
def test_a_check_in_of_somebody_else_is_refused(fields: dict[str, str], data: tuple[Dataset, CheckinTensors]) -> None:
    with pytest.raises(CaseError):
        Moment.read(fields, *data)


def test_stops_are_added_after_the_last_one(start: Moment, data: tuple[Dataset, CheckinTensors]) -> None:
    """Each counts from the one before; a long gap begins another trajectory."""
    known, found = History.at(start, *data), History.at(start.plus(7, 30).plus(2, 60 * 25), *data)
    assert found.poi_H[-2:].tolist() == [7, 2]
    assert np.diff(found.seconds_H)[-2:].tolist() == [30 * 60, 25 * 3600]
    assert (found.trajectory_H[-2:] - known.trajectory_H[-1]).tolist() == [0, 1]
    offset = known.local_seconds_H[-1] - known.seconds_H[-1]
    assert (found.local_seconds_H - found.seconds_H == offset).all()


def test_recorded_stops_are_left_out_and_moved(start: Moment, data: tuple[Dataset, CheckinTensors]) -> None:
    """The others stay; a moved one never passes its neighbours."""
    known, moved = History.at(start, *data), History.at(start.later(0, 10), *data)
    assert np.array_equal(History.at(start.without(0), *data).poi_H, known.poi_H[:-1])
    assert (moved.seconds_H - known.seconds_H).tolist() == [0] * (len(known) - 1) + [600]
    assert (np.diff(History.at(start.later(0, -60 * 24 * 400), *data).seconds_H) >= 0).all()
    gone = ",".join(f"x{back}" for back in range(len(known)))
    with pytest.raises(ConfigError, match="no stop is left"):
        Moment.read({"user": "3", "stops": gone}, *data)
    assert len(History.at(Moment.read({"user": "3", "stops": f"{gone},7.30"}, *data), *data)) == 1


def test_a_new_user_begins_at_noon(start: Moment, data: tuple[Dataset, CheckinTensors]) -> None:
    """Of the data's last day; the gap is half an hour, of a known user the median inside trajectories known then."""
    history = History.at(Moment().plus(4, 0).plus(5, 30), *data)
    assert history.user == data[0].num_users
    assert history.local_seconds_H[0] % 86_400 == 43_200
    assert history.seconds_H[0] == last_noon(data[1])[0] and np.diff(history.seconds_H).tolist() == [1800]
    assert history.trajectory_H.tolist() == [0, 0] and median_gap(data[1], Moment()) is None
    known = History.at(start, *data)
    gaps = np.diff(known.seconds_H)[np.diff(known.trajectory_H) == 0]
    assert median_gap(data[1], start) == round(float(np.median(gaps)) / 60)
