"""Cohorts by cause: a table by hand, and a refusal of tables that do not belong together."""

import numpy as np
import pandas as pd
import pytest

from analysis.long_tail.cohort_causes import causes_by_evidence, cohort_cells
from analysis.records.score_rows import SOURCES
from recap import columns as c
from recap.errors import ConfigError

CASES = pd.DataFrame(
    {
        c.TRANSITION_COUNT: [0, 1, 0, 5, 0],
        c.IN_HISTORY: [True, True, False, True, False],
        c.WITHIN_TWO_HOPS: [True, True, True, True, False],
    }
)
REMOVALS = pd.DataFrame(
    {c.RANK: [2.0, 3.0, 9.0, 1.0, 4.0]} | {f"without_{source}": np.nan for source in SOURCES}
).assign(without_own_revisits=[50.0, 4.0, 9.0, 60.0, 4.0], without_two_hops=[2.0, 30.0, 3.0, 1.0, 4.0])


def test_found_and_lost_by_hand() -> None:
    """At K = 5: cases 0 and 1 are visited and near, found, one lost without each source; case 3 is no tail case."""
    table = causes_by_evidence(CASES, REMOVALS, 5)
    assert list(table.columns) == [c.IN_HISTORY, c.WITHIN_TWO_HOPS, "n", "found", "lost_own_revisits", "lost_two_hops"]
    assert table.iloc[:, 2:].to_numpy().tolist() == [[2, 2, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0]]
    cells = cohort_cells(table)
    assert cells["True place"].tolist() == [
        "visited, within two hops",
        "new, within two hops",
        "visited, beyond two hops",
        "new, beyond two hops",
    ]
    assert list(cells)[1:] == ["Cases", "Found", "Without own visits", "Without two hops"]
    assert causes_by_evidence(CASES, REMOVALS, 5, eta=9)["n"].tolist() == [3, 1, 0, 1]


def test_tables_of_other_cases_are_refused() -> None:
    """One row less is another dataset's table."""
    with pytest.raises(ConfigError, match="5 cases and 4 rows"):
        causes_by_evidence(CASES, REMOVALS.iloc[1:], 5)
