"""The filters of cases in Walk."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.records.accuracy import is_hit
from analysis.records.causes import found_by
from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import ConfigError
from recap.evaluation.cases import is_known_place
from recap.evaluation.metrics import group_masks

FILTERS: Final = ("tail", "unseen", "missed", "history", "hops")
FILTER_LABELS: Final = {
    "tail": "Rare",
    "unseen": "Never seen",
    "missed": "Missed",
    "history": "Needs past visits",
    "hops": "Needs two hops",
}
COINCIDENCE_LABELS: Final = {"history": "Found, known place", "hops": "Found, within two hops"}
"""Labels of ``history`` and ``hops`` without ablations."""
RANKED: Final = {"missed", "history", "hops"}
"""Filters that need the truth's rank."""
CAUSES: Final = {"history": "history", "hops": "two_hops"}
"""The ablation that loses the cases of a filter."""
MISSED_ABOVE: Final = 20


def filter_labels(*, causes: bool) -> dict[str, str]:
    """Labels of the filters; only ablations allow "needs".

    >>> filter_labels(causes=True)["hops"], filter_labels(causes=False)["hops"]
    ('Needs two hops', 'Found, within two hops')
    """
    return FILTER_LABELS | ({} if causes else COINCIDENCE_LABELS)


def resolve_filter(text: str) -> str | None:
    """The filter that a link means, by its name or a label; None if unknown.

    >>> resolve_filter("Found, within two hops"), resolve_filter("tail"), resolve_filter("bliss")
    ('hops', 'tail', None)
    """
    named = {label: name for labels in (FILTER_LABELS, COINCIDENCE_LABELS) for name, label in labels.items()}
    return text if text in FILTERS else named.get(text)


def filter_masks(
    records: pd.DataFrame, markov: pd.DataFrame | None, *, k: int = MISSED_ABOVE, ablations: pd.DataFrame | None = None
) -> dict[str, np.ndarray]:
    """One mask over the cases for each name in `FILTERS`, or for those not in `RANKED`.

    ``missed``: the truth ranks below k. ``history`` and ``hops``: only the model finds it at k, Markov misses it, and
    the target is a known place (history), or a new one within two hops (hops). With ablations they are causes:
    found at k, and lost without the user's own visits (history) or two hops (hops).

    Args:
        records, markov: the model's and Markov's records of the same cases; or cases without ranks, and None.
        ablations: from `Workspace.ablations`; None for a baseline.
    """
    groups = group_masks(records[c.TRANSITION_COUNT])
    masks = {name: groups[name].to_numpy(bool) for name in ("tail", "unseen")}
    if markov is None:
        return masks
    masks["missed"] = ~is_hit(records, k)
    if ablations is not None:
        return masks | {name: found_by(ablations, source, k).to_numpy(bool) for name, source in CAUSES.items()}
    recovered, known = ~masks["missed"] & ~is_hit(markov, k), is_known_place(records)
    near = records[c.WITHIN_TWO_HOPS].to_numpy(bool)
    return masks | {"history": recovered & known, "hops": recovered & ~known & near}


def filter_cases(
    records: pd.DataFrame,
    markov: pd.DataFrame | None,
    names: list[str],
    *,
    k: int = MISSED_ABOVE,
    ablations: pd.DataFrame | None = None,
) -> np.ndarray:
    """Numbers of the cases that pass every named filter of `filter_masks`, ascending; ConfigError for another name."""
    unknown = [name for name in names if name not in FILTERS]
    if unknown:
        raise ConfigError(f"unknown filter {unknown[0]!r}; choose from {', '.join(FILTERS)}")
    masks = filter_masks(records, markov, k=k, ablations=ablations)
    kept = np.logical_and.reduce([np.ones(len(records), dtype=bool), *(masks[name] for name in names)])
    return records[c.CASE].to_numpy(np.int64)[kept]


def matching_places(dataset: Dataset, text: str) -> np.ndarray:
    """Whether each place has ``text`` in its name or category, ignoring case."""
    wanted = " ".join(text.split()).casefold()
    category = dataset.pois[c.CATEGORY].astype(str)
    return np.array(
        [
            wanted in name.casefold() or wanted in kind.casefold()
            for name, kind in zip(dataset.poi_labels, category, strict=True)
        ]
    )


def cases_at_place(dataset: Dataset, cases: pd.DataFrame, text: str) -> np.ndarray:
    """Numbers of the cases whose source or target has ``text`` in its name or category, ignoring case."""
    fits = matching_places(dataset, text)
    mask = fits[cases[c.SOURCE].to_numpy()] | fits[cases[c.TARGET].to_numpy()]
    return cases[c.CASE].to_numpy(np.int64)[mask]
