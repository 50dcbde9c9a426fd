"""Cases by rank and step count: every case lies in one cell."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from analysis.figures.case_cells import bin_cases, plot_case_cells
from analysis.figures.palette import palette_of
from recap import columns as c


def test_cells_of_a_small_table() -> None:
    """Ends belong to their bin; a mean over ties counts as the rank it rounds down to."""
    table = pd.DataFrame({c.RANK: [1.0, 1.0, 2.0, 5.5, 6.0, 1001.0], c.TRANSITION_COUNT: [0, 0, 9, 10, 19, 700]})
    assert bin_cases(table).to_numpy().tolist() == [
        [1, 1, 0, 0, 2],
        [2, 5, 9, 9, 1],
        [2, 5, 10, 19, 1],
        [6, 10, 10, 19, 1],
        [1001, None, 50, None, 1],
    ]
    figure = plot_case_cells(bin_cases(table), found_within=20, palette=palette_of("light"))
    assert figure.data[0].customdata[-1] == [1001, -1, 50, -1]


@given(st.lists(st.tuples(st.floats(1, 5000), st.integers(0, 300)), max_size=60))
def test_every_case_lies_in_one_cell(rows: list[tuple[float, int]]) -> None:
    """Counts add up to the cases, and bins hold what their bounds say."""
    table = pd.DataFrame(rows, columns=[c.RANK, c.TRANSITION_COUNT])
    cells = bin_cases(table)
    assert cells["n"].sum() == len(table)
    for rank_low, rank_high, steps_low, steps_high, n in cells.to_numpy().tolist():
        rank, steps = np.floor(table[c.RANK]), table[c.TRANSITION_COUNT]
        inside = (rank >= rank_low) & (rank <= (rank_high or np.inf))
        inside &= (steps >= steps_low) & (steps <= (np.inf if steps_high is None else steps_high))
        assert inside.sum() == n
