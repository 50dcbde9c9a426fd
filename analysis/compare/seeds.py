"""Compare a difference with that of two seeds of one model.

Shape suffixes: S seeds, N cases.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.compare.side import Side
from analysis.compare.significance import scipy_stats
from analysis.records.bootstrap import LEVEL


class SeedSpread:
    """The values of two sides under all their seeds; at least one side has replicates."""

    def __init__(self, a: Side, b: Side, metric: str) -> None:
        self.a_SN, self.b_SN = a.seed_values(metric), b.seed_values(metric)

    def band(self, weight_N: np.ndarray) -> float:
        """How far two seeds of one model differ in 95 of 100 pairs, on the weighted mean; NaN if all weights are 0.

        ``t * sqrt(2) * sd``, with the variance pooled over the sides that have several seeds, and t of its freedom.
        """
        if not weight_N.any():
            return float("nan")
        each = (np.average(value_SN, axis=1, weights=weight_N) for value_SN in (self.a_SN, self.b_SN))
        several = [value_S for value_S in each if len(value_S) > 1]
        freedom = sum(len(value_S) - 1 for value_S in several)
        pooled = sum((len(value_S) - 1) * value_S.var(ddof=1) for value_S in several) / freedom
        return float(scipy_stats().t.ppf((1 + LEVEL) / 2, freedom) * np.sqrt(2 * pooled))

    def each(self, weight_N: np.ndarray) -> list[float]:
        """Differences of B's seeds from the mean of A, or of A's seeds if B has only one."""
        a_S, b_S = (np.average(value_SN, axis=1, weights=weight_N) for value_SN in (self.a_SN, self.b_SN))
        return (b_S - a_S.mean() if len(b_S) > 1 else b_S.mean() - a_S).tolist()


def seed_table(spread: SeedSpread, groups: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Each seed's difference and the band of two seeds, by group, given the weight of each case, (N,).

    Returns:
        One row for each group with cases: ``group, n, band, each`` (a list), see `SeedSpread`.
    """
    rows = [
        {"group": name, "n": np.count_nonzero(weight_N), "band": spread.band(weight_N), "each": spread.each(weight_N)}
        for name, weight_N in groups.items()
        if weight_N.any()
    ]
    return pd.DataFrame(rows, columns=["group", "n", "band", "each"])
