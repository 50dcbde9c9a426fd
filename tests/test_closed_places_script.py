"""The script about closed places: which places fell silent, whose check-ins count, and how a probability is shared."""

import numpy as np
import pytest

from benchmarks.closed_places import former_visitors, losses, silent_places
from recap import columns as c
from recap.asking.open_model import open_model
from tests.checkins import small_dataset


def test_silent_places_by_hand() -> None:
    """``gone`` has 32 visits of 8 users until day 200, ``vote`` 24 of 32 on one day; users go on at ``green``, the
    only other place of its category: with 4 of 8, then 5 of 9 of the visits elsewhere.
    """
    data = small_dataset([(f"u{user}", *visit) for user in range(8) for visit in _visits(user)])
    closed = silent_places(data)
    assert data.pois[c.POI_ID].iloc[closed.index].tolist() == ["gone"]
    cases = former_visitors(data, closed)
    known, after = (data.checkins.iloc[cases["row"] + step] for step in (0, 1))
    assert len(cases) == 8 * 2 and (after[c.TIME] > closed.iloc[0]).all()
    assert after[c.USER].tolist() == known[c.USER].tolist()
    table = losses(open_model("pretrained", data), cases)
    recap, own, nearest = (np.exp(-table[name].to_numpy()) for name in ("recap", "own_visits", "nearest"))
    moved = table["moved"].to_numpy()
    assert (moved > 0).all() and nearest == pytest.approx(recap * (1 - moved) + moved)
    assert own == pytest.approx(recap * (1 - moved) + moved * np.tile([4 / 8, 5 / 9], 8))


def _visits(user: int) -> list[tuple[str, float]]:
    """Place and hour of one user's visits."""
    vote = (100, 100.1, 100.2, 10 + 180 * (user % 2))
    days = {"gone": (0, 60, 120, 200), "vote": vote, "green": (0.5, 60.5, 120.5, 195, 210, 230, 260, 300)}
    return [(place, 24 * day + 9 + user / 10) for place in days for day in days[place]]
