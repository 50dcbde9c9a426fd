"""Records by hand: cases with the ranks a test says, for comparisons without a model."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.compare.side import Side
from recap import columns as c


def records(
    ranks: Sequence[int],
    *,
    users: Sequence[int] | None = None,
    seen: Sequence[int] | None = None,
    visits: Sequence[int] | None = None,
    targets: Sequence[int] | None = None,
) -> pd.DataFrame:
    """One case for each rank; without ties."""
    n = len(ranks)
    better = np.array(ranks, dtype=np.int64) - 1
    return pd.DataFrame(
        {
            c.CASE: np.arange(n),
            c.USER: np.array(users if users is not None else range(n)),
            c.SOURCE: np.zeros(n, dtype=np.int64),
            c.TARGET: np.array(targets if targets is not None else range(n)),
            c.TRANSITION_COUNT: np.array(seen if seen is not None else [0] * n),
            c.DESTINATION_COUNT: np.array(visits if visits is not None else [1] * n),
            c.IN_HISTORY: np.ones(n, dtype=bool),
            c.WITHIN_TWO_HOPS: np.zeros(n, dtype=bool),
            c.NUM_BETTER: better,
            c.NUM_TIED: np.ones(n, dtype=np.int64),
            c.RANK: better + 1.0,
            c.RECIPROCAL_RANK: 1.0 / (better + 1),
        }
    )


def side(label: str, table: pd.DataFrame, *replicates: pd.DataFrame, trained: bool = False) -> Side:
    """A side of these records, with replicates of other seeds."""
    return Side(label.lower(), label, table, replicates, trained=trained)


def short_lists(table: pd.DataFrame, length: int, in_list: Sequence[bool]) -> pd.DataFrame:
    """The same records as of imported predictions with lists of one length."""
    table = table.copy()
    table[c.LISTED], table[c.IN_LIST] = length, np.array(in_list)
    return table
