"""The miss taxonomy: one label for every missed case, from columns that do not depend on K.

A case is missed if the target ranks below K. Its label is the ablation that finds it (`analysis.records.causes`), the
one with the best rank if there are several. Otherwise it is the first of:

- ``out_of_reach``: the target is neither in the user's history nor within two hops of the source.
- ``near_miss``: the first place is within 200 m of the target.
- ``same_category``: the first place has the target's category.
- ``other``.
"""

from typing import Final, Literal, get_args

import numpy as np
import pandas as pd

from analysis.glossary import TERMS
from analysis.records.accuracy import is_hit
from analysis.records.causes import obstacles_of
from recap import columns as c
from recap.arithmetic.geodesy import distance_km
from recap.data.dataset import Dataset
from recap.evaluation.cases import is_known_place

Miss = Literal[
    "outvoted_by_core",
    "outvoted_by_correction",
    "outvoted_by_two_hops",
    "outvoted_by_past_visits",
    "outvoted_by_times",
    "outvoted_by_transitions",
    "outvoted_by_places",
    "out_of_reach",
    "near_miss",
    "same_category",
    "other",
]
MISSES: Final = get_args(Miss)
MISS_LABELS: Final = {name: TERMS[name].word for name in MISSES}

MISS_ABLATIONS: Final[dict[str, tuple[str, ...]]] = {
    "outvoted_by_core": ("core",),
    "outvoted_by_correction": ("correction",),
    "outvoted_by_two_hops": ("graph_token", "two_hop_paths", "two_hops"),
    "outvoted_by_past_visits": ("past_visits", "history"),
    "outvoted_by_times": ("time_of_day_and_week",),
    "outvoted_by_transitions": ("transitions_from_here",),
    "outvoted_by_places": ("popularity_and_distance",),
}
"""The ablations of each label."""

NEAR_METRES: Final = 200.0
HIT: Final = "hit"


def describe_misses(dataset: Dataset, cases: pd.DataFrame, ablations: pd.DataFrame) -> pd.DataFrame:
    """Add facts about each case that the labels need.

    Args:
        cases: from `describe_cases`.
        ablations: from `Workspace.ablations`, aligned with the cases.

    Returns:
        The ablations with ``within_reach`` (a known place, or within two hops), ``first_distance_m`` and
        ``first_same_category`` (of the first place and the target).
    """
    pois = dataset.pois
    latitude, longitude = pois[c.LATITUDE].to_numpy(np.float64), pois[c.LONGITUDE].to_numpy(np.float64)
    category = pois[c.CATEGORY_INDEX].to_numpy()
    first, goal = ablations["first"].to_numpy(np.int64), cases[c.TARGET].to_numpy(np.int64)
    return ablations.assign(
        within_reach=is_known_place(cases) | cases[c.WITHIN_TWO_HOPS].to_numpy(bool),
        first_distance_m=1000 * distance_km(latitude[first], longitude[first], latitude[goal], longitude[goal]),
        first_same_category=category[first] == category[goal],
    )


def label_misses(described: pd.DataFrame, k: int = 20) -> pd.Series:
    """One label per case: `HIT`, or the miss label at K; ConfigError for K below 1."""
    obstacles = obstacles_of(described, k)
    ranks = pd.DataFrame(
        {
            label: described[[f"without_{name}" for name in names]].where(obstacles[list(names)].to_numpy()).min(axis=1)
            for label, names in MISS_ABLATIONS.items()
        }
    )
    best = ranks.min(axis=1)
    applies = {
        HIT: is_hit(described, k),
        **{label: ranks[label].notna() & (ranks[label] == best) for label in ranks},
        "out_of_reach": ~described["within_reach"].astype(bool),
        "near_miss": described["first_distance_m"] <= NEAR_METRES,
        "same_category": described["first_same_category"].astype(bool),
    }
    masks, names = [np.asarray(mask, dtype=bool) for mask in applies.values()], [str(name) for name in applies]
    labels = np.select(masks, names, default="other")
    return pd.Series(
        pd.Categorical(labels, categories=[HIT, *MISSES]), index=described.index, name="miss", dtype="category"
    )


def count_misses(labels: pd.Series) -> pd.DataFrame:
    """``label, n, share`` of the missed cases, with a row for every label."""
    counts = labels.value_counts().reindex(MISSES, fill_value=0)
    total = int(counts.sum())
    shares = counts / total if total else counts.astype(float)
    return pd.DataFrame({"label": list(MISSES), "n": counts.to_numpy(np.int64), "share": shares.to_numpy(np.float64)})
