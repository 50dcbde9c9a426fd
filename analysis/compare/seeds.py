"""A difference beside the difference that two seeds of one model make.

Shape suffixes: S seeds, N cases.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import stats

from analysis.compare.side import Side
from analysis.records.bootstrap import LEVEL


def seed_table(a: Side, b: Side, metric: str, groups: Mapping[str, np.ndarray]) -> pd.DataFrame | None:
    """How far the sides differ, seed by seed, and how far two seeds of one model do.

    The variance of a group's mean over seeds is pooled over the sides that have several; two seeds then differ by no
    more than ``band = t * sqrt(2) * sd`` in 95 of 100 cases (t of as many degrees of freedom as the pool has).

    Args:
        groups: name -> which cases belong to it, (N,).

    Returns:
        One row for each group with cases: ``group, n, difference`` (mean over seeds, b minus a), ``band``, ``larger``
        (the difference leaves the band), ``each`` (a list: each seed of B less the mean of A; where B has one seed,
        B less each seed of A), ``sd_a, sd_b`` (NaN with one seed). None where neither side has two seeds.
    """
    sides = [side for side in (a, b) if len(side.tables) > 1]
    if not sides:
        return None
    a_SN, b_SN = a.values(metric), b.values(metric)
    rows = []
    for name, inside_N in groups.items():
        if not inside_N.any():
            continue
        a_S, b_S = a_SN[:, inside_N].mean(1), b_SN[:, inside_N].mean(1)
        several = [value_S for value_S in (a_S, b_S) if len(value_S) > 1]
        freedom = sum(len(value_S) - 1 for value_S in several)
        pooled = sum((len(value_S) - 1) * value_S.var(ddof=1) for value_S in several) / freedom
        band = float(stats.t.ppf((1 + LEVEL) / 2, freedom) * np.sqrt(2 * pooled))
        difference = float(b_S.mean() - a_S.mean())
        rows.append(
            {
                "group": name,
                "n": int(inside_N.sum()),
                "difference": difference,
                "band": band,
                "larger": abs(difference) > band,
                "each": (b_S - a_S.mean() if len(b_S) > 1 else b_S.mean() - a_S).tolist(),
                "sd_a": float(a_S.std(ddof=1)) if len(a_S) > 1 else np.nan,
                "sd_b": float(b_S.std(ddof=1)) if len(b_S) > 1 else np.nan,
            }
        )
    return pd.DataFrame(rows)
