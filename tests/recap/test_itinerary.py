"""What a prediction starts from: stops left out, moved and added, and their text in links."""

import numpy as np
import pytest

from recap.counterfactuals import History
from recap.data.dataset import Dataset
from recap.errors import CaseError, ConfigError
from recap.history import CheckinTensors
from recap.itinerary import Itinerary, last_noon, usual_gap
from recap.moments import find_moment, next_place


@pytest.fixture(scope="module")
def data(city_folder: object) -> tuple[Dataset, CheckinTensors]:
    dataset = Dataset.load(city_folder)  # type: ignore[arg-type]
    return dataset, CheckinTensors.from_dataset(dataset)


@pytest.fixture
def start(data: tuple[Dataset, CheckinTensors]) -> Itinerary:
    """User 3 at the last check-in."""
    return Itinerary.read({"user": "3"}, *data)


def test_a_recorded_itinerary_is_the_history(start: Itinerary, data: tuple[Dataset, CheckinTensors]) -> None:
    """Nothing is changed, nothing later is read."""
    assert start.row == find_moment(data[0], 3).row and not start.is_changed and start.text == ""
    found = vars(start.history(*data))
    assert all(np.array_equal(found[name], value) for name, value in vars(History.until(data[1], start.row)).items())
    earlier = Itinerary(3, start.row - 1)
    assert earlier.next_place(data[0]) == next_place(data[0], start.row - 1) is not None
    assert earlier.plus(7, 30).next_place(data[0]) is None


def test_a_link_says_everything(start: Itinerary, data: tuple[Dataset, CheckinTensors]) -> None:
    """What is written is read again; numbers, rows, places and minutes only."""
    asked = start.without(1).later(0, -5).plus(7, 30).plus(2, 45)
    assert asked.fields == {"user": 3, "row": start.row, "stops": "x1,m0.-5,7.30,2.45"}
    for one in (asked, start, Itinerary().plus(4, 0)):
        assert Itinerary.read({name: str(value) for name, value in one.fields.items()}, *data) == one
    assert asked.plus(7, 30).without(-3) == asked and asked.later(-1, 15).added == ((7, 45), (2, 45))


@pytest.mark.parametrize("text", ["nonsense", "5", "999999999.3", "1.30,", "x", "1.-3", ",".join(["1.1"] * 13)])
def test_bad_stops_are_refused(text: str, data: tuple[Dataset, CheckinTensors]) -> None:
    with pytest.raises(ConfigError, match="expected stops such as"):
        Itinerary.read({"stops": text}, *data)


@pytest.mark.parametrize("fields", [{"user": "999"}, {"user": "3", "row": "0"}, {"user": "x"}, {"row": "5"}])
def test_a_check_in_of_somebody_else_is_refused(fields: dict[str, str], data: tuple[Dataset, CheckinTensors]) -> None:
    with pytest.raises(CaseError):
        Itinerary.read(fields, *data)


def test_stops_are_added_after_the_last_one(start: Itinerary, data: tuple[Dataset, CheckinTensors]) -> None:
    """Each counts from the one before; a long gap begins another trajectory."""
    known, found = start.history(*data), start.plus(7, 30).plus(2, 60 * 25).history(*data)
    assert found.poi_H[-2:].tolist() == [7, 2]
    assert np.diff(found.seconds_H)[-2:].tolist() == [30 * 60, 25 * 3600]
    assert (found.trajectory_H[-2:] - known.trajectory_H[-1]).tolist() == [0, 1]
    offset = known.local_seconds_H[-1] - known.seconds_H[-1]
    assert (found.local_seconds_H - found.seconds_H == offset).all()


def test_recorded_stops_are_left_out_and_moved(start: Itinerary, data: tuple[Dataset, CheckinTensors]) -> None:
    """The others stay; a moved one never passes its neighbours."""
    known, moved = start.history(*data), start.later(0, 10).history(*data)
    assert np.array_equal(start.without(0).history(*data).poi_H, known.poi_H[:-1])
    assert (moved.seconds_H - known.seconds_H).tolist() == [0] * (len(known) - 1) + [600]
    assert (np.diff(start.later(0, -60 * 24 * 400).history(*data).seconds_H) >= 0).all()
    gone = ",".join(f"x{back}" for back in range(len(known)))
    with pytest.raises(ConfigError, match="no stop is left"):
        Itinerary.read({"user": "3", "stops": gone}, *data)
    assert len(Itinerary.read({"user": "3", "stops": f"{gone},7.30"}, *data).history(*data)) == 1


def test_a_new_user_begins_at_noon(data: tuple[Dataset, CheckinTensors]) -> None:
    """Of the data's last day, by the local clock; the gap is half an hour."""
    history = Itinerary().plus(4, 0).plus(5, 30).history(*data)
    assert history.user == data[0].num_users
    assert history.local_seconds_H[0] % 86_400 == 43_200
    assert history.seconds_H[0] == last_noon(data[1])[0] and np.diff(history.seconds_H).tolist() == [1800]
    assert history.trajectory_H.tolist() == [0, 0] and usual_gap(data[1], Itinerary()) == 30


def test_the_usual_gap_is_inside_trajectories(start: Itinerary, data: tuple[Dataset, CheckinTensors]) -> None:
    """The median in minutes, known at the moment."""
    history = start.history(*data)
    gaps = np.diff(history.seconds_H)[np.diff(history.trajectory_H) == 0]
    assert usual_gap(data[1], start) == round(float(np.median(gaps)) / 60)
