"""What carries a model, on a table that a reader can redo."""

import numpy as np
import pandas as pd
import pytest

from analysis.records.carriers import Carriers, describe_carriers, find_carriers
from analysis.records.score_rows import SOURCES

# Four cases at K = 5: three are found; own visits hold two of them, the core one, two hops none.
TABLE = pd.DataFrame(
    {
        "case": [0, 1, 2, 3],
        "rank": [1.0, 2.0, 5.0, 6.0],
        **{f"without_{source}": [np.nan] * 4 for source in SOURCES},
        "without_own_revisits": [6.0, 9.0, 5.0, 1.0],
        "without_core": [1.0, 2.0, 7.0, 6.0],
        "without_two_hops": [1.0, 2.0, 5.0, 9.0],
    }
)


def test_lost_cases() -> None:
    """Two of three found cases need own visits, one the core."""
    found = find_carriers(TABLE, 5)
    assert found == Carriers(5, 3, {"own_revisits": 2, "core": 1, "two_hops": 0})
    assert list(found.lost) == ["own_revisits", "core", "two_hops"]
    assert describe_carriers(found) == (
        "Of the 3 cases found at 5, 2 are lost without the walker's own visits, 1 without the network's core score, "
        "0 without two hops (token and points)."
    )


def test_nothing_found_says_nothing() -> None:
    """No case within K, or no case at all: no sentence."""
    assert describe_carriers(find_carriers(TABLE.assign(rank=50.0), 5)) == ""
    assert describe_carriers(find_carriers(TABLE.iloc[:0], 5)) == ""


def test_a_source_that_the_model_lacks_is_not_told() -> None:
    """Without two hops in the model, the sentence does not speak of them."""
    assert "two hops" not in describe_carriers(find_carriers(TABLE.assign(without_two_hops=np.nan), 5))


@pytest.mark.parametrize("k", [1, 2, 5])
def test_no_more_are_lost_than_found(k: int) -> None:
    """Lost cases are found cases."""
    found = find_carriers(TABLE, k)
    assert all(lost <= found.found for lost in found.lost.values())
