"""How far means over cases may be from the truth: intervals over users."""

from typing import Final, TypedDict

import numpy as np
import pandas as pd

from analysis.records.accuracy import is_known, metric_values
from analysis.records.bootstrap import UserBootstrap, interval
from recap import columns as c
from recap.evaluation.metrics import SHOWN_METRICS, group_masks

SPREAD_GROUPS: Final = ("all", "head", "tail")


class Spread(TypedDict):
    """A mean's 95 % interval over users; None in an empty group."""

    low: float | None
    high: float | None


def spreads(records: pd.DataFrame, seed: int = 0) -> dict[str, dict[str, Spread]]:
    """Group -> metric -> `Spread` of records; metrics that short imported lists hide are left out."""
    bootstrap = UserBootstrap(records[c.USER].to_numpy(), seed=seed)
    masks = group_masks(records[c.TRANSITION_COUNT])
    found: dict[str, dict[str, Spread]] = {}
    for group in SPREAD_GROUPS:
        mask_N = masks[group].to_numpy()
        found[group] = {}
        for metric in (metric for metric in SHOWN_METRICS if is_known(records, metric)):
            value_N = metric_values(records, metric)
            low, high = interval(bootstrap.means(value_N, np.where(mask_N, 0, -1), 1))
            some = bool(mask_N.any())
            found[group][metric] = Spread(
                low=float(low[0]) if some else None,
                high=float(high[0]) if some else None,
            )
    return found
