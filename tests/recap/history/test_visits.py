"""What a user knows at a row, counted by hand."""

import numpy as np

from recap.history.visits import Visits


def test_places_known_up_to_a_row() -> None:
    """The row's own place counts, a second visit does not, and another user's places are not theirs."""
    visits = Visits.of_segments(np.array([0, 0, 0, 0, 1, 1]), np.array([7, 8, 7, 9, 8, 8]))
    assert visits.places_known(np.arange(6)).tolist() == [1, 2, 2, 3, 1, 1]
    assert visits.places_known(np.array([4, 3])).tolist() == [1, 3]
