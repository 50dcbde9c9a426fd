"""Two scorers on the same cases: paired differences by group with user-bootstrap intervals.

Shape suffixes: N cases.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.accuracy import metric_values
from analysis.intervals import SAMPLES, UserBootstrap, interval
from recap.errors import RecapError
from recap.evaluation.metrics import GROUPS, METRICS, group_masks


def compare_records(
    records: pd.DataFrame,
    rival: pd.DataFrame,
    *,
    metrics: Sequence[str] = METRICS,
    groups: Sequence[str] = GROUPS,
    samples: int = SAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Paired differences of two scorers' records of the same cases.

    Users are drawn again with all their cases; both scorers share every draw, so what they have in common cancels.

    Returns:
        One row for each group and metric: ``group, metric, n, value, rival, difference`` (value minus rival), ``low,
        high`` (95 % interval of the difference). Values are NaN where the group is empty.

    Raises:
        RecapError: the records are not of the same cases.
    """
    keys = ["case", "user", "source", "target"]
    if len(records) != len(rival) or not np.array_equal(records[keys].to_numpy(), rival[keys].to_numpy()):
        raise RecapError(
            f"a paired comparison needs records of the same cases in the same order, got {len(records):,} and "
            f"{len(rival):,} cases that differ"
        )
    bootstrap = UserBootstrap(records["user"].to_numpy(), samples, seed)
    masks = group_masks(records["transition_count"])
    rows = []
    for metric in metrics:
        value_N, rival_N = metric_values(records, metric), metric_values(rival, metric)
        for group in groups:
            mask_N = masks[group].to_numpy()
            group_N = np.where(mask_N, 0, -1)
            low, high = interval(bootstrap.means(value_N - rival_N, group_N, 1))
            value = float(value_N[mask_N].mean()) if mask_N.any() else np.nan
            other = float(rival_N[mask_N].mean()) if mask_N.any() else np.nan
            rows.append(
                {
                    "group": group,
                    "metric": metric,
                    "n": int(mask_N.sum()),
                    "value": value,
                    "rival": other,
                    "difference": value - other,
                    "low": float(low[0]),
                    "high": float(high[0]),
                }
            )
    return pd.DataFrame(rows)
