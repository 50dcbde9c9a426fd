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
_EARLIER_LABELS: Final = {
    "Tail": "tail",
    "Unseen": "unseen",
    "Found by own visits": "history",
    "Found, visited before": "history",
    "Found by two hops": "hops",
    "Found by two-step trips": "hops",
    "Found, within two steps": "hops",
    "Recovered by history": "history",
    "Recovered by two hops": "hops",
}
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
    """The filter that a link means, by its name or a present or former label; None if unknown.

    >>> resolve_filter("Recovered by two hops"), resolve_filter("tail"), resolve_filter("bliss")
    ('hops', 'tail', None)
    """
    named = {name: name for name in FILTERS}
    labels = {label: name for causes in (True, False) for name, label in filter_labels(causes=causes).items()}
    return (named | labels | _EARLIER_LABELS).get(text)


def filter_masks(
    records: pd.DataFrame, markov: pd.DataFrame, *, k: int = MISSED_ABOVE, ablations: pd.DataFrame | None = None
) -> dict[str, np.ndarray]:
    """One mask over the cases for each name in `FILTERS`.

    ``missed``: the truth ranks below k. ``history`` and ``hops``: only the model finds it at k, Markov misses it, and
    the target is a known place (history), or a new one within two hops (hops). With ablations they are causes:
    found at k, and lost without the user's own visits (history) or two hops (hops).

    Args:
        records, markov: the model's and Markov's records of the same cases.
        ablations: from `Workspace.ablations`; None for a baseline.
    """
    groups = group_masks(records[c.TRANSITION_COUNT])
    recovered = is_hit(records, k) & ~is_hit(markov, k)
    known, near = is_known_place(records), records[c.WITHIN_TWO_HOPS].to_numpy(bool)
    masks = {"history": recovered & known, "hops": recovered & ~known & near}
    if ablations is not None:
        masks = {name: found_by(ablations, source, k).to_numpy(bool) for name, source in CAUSES.items()}
    return {
        "tail": groups["tail"].to_numpy(bool),
        "unseen": groups["unseen"].to_numpy(bool),
        "missed": ~is_hit(records, k),
        **masks,
    }


def filter_cases(
    records: pd.DataFrame,
    markov: pd.DataFrame,
    names: list[str],
    *,
    k: int = MISSED_ABOVE,
    ablations: pd.DataFrame | None = None,
) -> np.ndarray:
    """Numbers of the cases that pass every named filter, ascending; ConfigError for an unknown name."""
    unknown = [name for name in names if name not in FILTERS]
    if unknown:
        raise ConfigError(f"unknown filter {unknown[0]!r}; choose from {', '.join(FILTERS)}")
    masks = filter_masks(records, markov, k=k, ablations=ablations)
    kept = np.logical_and.reduce([np.ones(len(records), dtype=bool), *(masks[name] for name in names)])
    return records[c.CASE].to_numpy(np.int64)[kept]


def cases_of_steps(cases: pd.DataFrame, names: list[str]) -> np.ndarray:
    """Like `filter_cases`, for ``tail`` and ``unseen``, which need no rank."""
    groups = group_masks(cases[c.TRANSITION_COUNT])
    return cases[c.CASE].to_numpy(np.int64)[np.logical_and.reduce([groups[name].to_numpy(bool) for name in names])]


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
