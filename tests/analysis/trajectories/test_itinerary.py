"""What a prediction starts from: stops left out, moved and added, and their text in links."""

import numpy as np
import pytest

from analysis.trajectories.itinerary import Itinerary, last_noon, rows_of_user, usual_gap
from analysis.workspace import Workspace
from recap import columns as c
from recap.counterfactuals import History
from recap.errors import ConfigError


@pytest.fixture(scope="module")
def opened(city_folder: object) -> Workspace:
    return Workspace.open(str(city_folder))


def at_last(opened: Workspace, user: int) -> Itinerary:
    return Itinerary(user, rows_of_user(opened, user)[-1])


def test_a_recorded_itinerary_is_the_history(opened: Workspace) -> None:
    """Nothing is changed, nothing later is read."""
    asked = at_last(opened, 3)
    assert asked.row is not None
    known, found = History.until(opened.checkins, asked.row), asked.history(opened)
    for name in ("poi_H", "seconds_H", "local_seconds_H", "trajectory_H"):
        assert np.array_equal(getattr(known, name), getattr(found, name))
    assert asked.is_recorded and asked.text == ""


def test_the_text_of_a_link_says_everything(opened: Workspace) -> None:
    """What is written is read again; places and minutes only."""
    asked = at_last(opened, 3).without(1).later(0, -5).plus(7, 30).plus(2, 45)
    assert asked.text == "x1,m0.-5,7.30,2.45"
    assert Itinerary(asked.user, asked.row).with_changes(asked.text, opened.dataset.num_pois) == asked


@pytest.mark.parametrize("text", ["nonsense", "5", "999999999.3", "1.30,", "x", "1.-3", ",".join(["1.1"] * 13)])
def test_a_bad_link_is_refused(opened: Workspace, text: str) -> None:
    with pytest.raises(ConfigError, match="expected stops such as"):
        Itinerary().with_changes(text, opened.dataset.num_pois)


def test_stops_are_added_after_the_last_one(opened: Workspace) -> None:
    """Each counts from the one before; a long gap begins another trajectory."""
    start = at_last(opened, 3)
    known, found = start.history(opened), start.plus(7, 30).plus(2, 60 * 25).history(opened)
    assert found.poi_H[-2:].tolist() == [7, 2]
    assert np.diff(found.seconds_H)[-2:].tolist() == [30 * 60, 25 * 3600]
    assert (found.trajectory_H[-2:] - known.trajectory_H[-1]).tolist() == [0, 1]
    assert np.array_equal(
        found.local_seconds_H - found.seconds_H, np.full(len(found), known.local_seconds_H[-1] - known.seconds_H[-1])
    )


def test_recorded_stops_are_left_out_and_moved(opened: Workspace) -> None:
    """The others stay; a moved one never passes its neighbours."""
    start = at_last(opened, 3)
    known, without = start.history(opened), start.without(0).history(opened)
    assert np.array_equal(without.poi_H, known.poi_H[:-1])
    moved = start.later(0, 10).history(opened)
    assert moved.seconds_H[-1] - known.seconds_H[-1] == 600 and np.array_equal(
        moved.seconds_H[:-1], known.seconds_H[:-1]
    )
    early = start.later(0, -60 * 24 * 400).history(opened)
    assert (np.diff(early.seconds_H) >= 0).all()


def test_the_stops_shown_name_their_changes(opened: Workspace) -> None:
    """`change` is what `without` and `later` take."""
    start = at_last(opened, 3)
    shown = start.plus(7, 30).stops(opened)
    assert shown["change"].tolist()[-2:] == [0, -1] and shown[c.POI].iloc[-1] == 7
    assert start.plus(7, 30).without(-1) == start
    assert start.plus(7, 30).plus(2, 5).later(-1, 15).added == ((7, 45), (2, 5))


def test_a_new_user_begins_at_noon(opened: Workspace) -> None:
    """Of the data's last day, by the local clock; the gap is half an hour."""
    history = Itinerary().plus(4, 0).plus(5, 30).history(opened)
    assert history.user == opened.dataset.num_users
    assert history.local_seconds_H[0] % 86_400 == 43_200
    assert history.seconds_H[0] == last_noon(opened)[0] and np.diff(history.seconds_H).tolist() == [1800]
    assert history.trajectory_H.tolist() == [0, 0] and usual_gap(opened, Itinerary()) == 30
    with pytest.raises(ConfigError, match="no stop is left"):
        Itinerary().history(opened)


def test_the_usual_gap_is_inside_trajectories(opened: Workspace) -> None:
    """The median in minutes, known at the moment."""
    asked = at_last(opened, 3)
    history = asked.history(opened)
    gaps = [
        b - a
        for a, b, same in zip(
            history.seconds_H, history.seconds_H[1:], np.diff(history.trajectory_H) == 0, strict=False
        )
        if same
    ]
    assert usual_gap(opened, asked) == round(float(np.median(gaps)) / 60)
