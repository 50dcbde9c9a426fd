"""Two-hop paths: what each adds, and the rank without it.

A curve of two-hop paths reads x, the sum of the products A_sm A_md over other users' transitions. A path of product p
is shown as f(x) p / x. Without it, the model scores f(x - p), so the effects of cuts do not add up. A graph token gives
a path no points; only its cut shows what it does.
"""

from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from analysis.explain.edited_case import EditedCase
from analysis.explain.types import PathTerms
from recap import columns as c
from recap.asking.counterfactuals import Counterfactual
from recap.asking.predictor import CaseRanker
from recap.features.catalogue import PATHS

_CUT_SCORES: Final = 1 << 25
"""Largest number of cuts × places scored for one explanation."""


def paths_between(edited_case: EditedCase, destination: int) -> list[PathTerms]:
    """All paths from the source to a place, as edited, strongest first."""
    source, others_only = edited_case.source, PATHS in edited_case.groups
    first = transitions_from(edited_case, source, others_only)
    labels, total_in = edited_case.ranker.dataset.poi_labels, sum(first.values())
    terms = []
    for middle in edited_case.graph.two_hop_paths(source, destination)["middle"].tolist():
        if middle not in first or (middle, destination) in edited_case.variant.cuts:
            continue
        second = transitions_from(edited_case, middle, others_only)
        if destination in second:
            total_out = sum(second.values())
            path = PathTerms(
                middle=middle,
                name=labels[middle],
                count_in=first[middle],
                total_in=total_in,
                count_out=second[destination],
                total_out=total_out,
                product=first[middle] / total_in * second[destination] / total_out,
                share=0.0,
                points=None,
            )
            terms.append(path)
    whole = sum(path.product for path in terms)
    points = None
    if others_only and terms:
        points = float(edited_case.contributions([destination])[0, edited_case.groups[PATHS]].sum())
    shared = [
        path.model_copy(
            update={
                "share": path.product / whole,
                "points": None if points is None else points * path.product / whole,
            }
        )
        for path in terms
    ]
    return sorted(shared, key=lambda path: (-path.product, path.middle))


def cut(edited_case: EditedCase, middle: int, destination: int) -> Counterfactual:
    variant = edited_case.variant
    return replace(variant, cuts=(*variant.cuts, (middle, destination)))


def most_cuts(edited_case: EditedCase) -> int:
    """How many of the strongest paths to cut; fewer where there are many places."""
    if "paths" not in edited_case.supported_edits:
        return 0
    return max(1, _CUT_SCORES // edited_case.ranker.dataset.num_pois)


def transitions_from(edited_case: EditedCase, source: int, others_only: bool) -> dict[int, int]:
    """Training transitions from a place by destination, as edited."""
    row = edited_case.graph.counts[[source]]
    counts = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
    if others_only:
        for destination, own in training_rows(edited_case.ranker).of_user(source, edited_case.moment.user).items():
            if destination in counts:
                counts[destination] -= own
    return {destination: count for destination, count in counts.items() if count > 0}


@dataclass(frozen=True)
class TransitionMakers:
    """Training transitions between two places: the user's own, and those of ``users`` other users."""

    own: int
    others: int
    users: int


def makers_of(edited_case: EditedCase, source: int, destination: int) -> TransitionMakers | None:
    """Who made the training transitions between two places; None if an edit changed their count."""
    if (source, destination) in edited_case.variant.edges:
        return None
    user_N = training_rows(edited_case.ranker).users(source, destination)
    others_N = user_N[user_N != edited_case.moment.user]
    return TransitionMakers(len(user_N) - len(others_N), len(others_N), len(np.unique(others_N)))


class TrainingIndex:
    """Training transitions, indexed by user."""

    def __init__(self, ranker: CaseRanker) -> None:
        table = ranker.dataset.checkins
        rows = ranker.dataset.cases(c.TRAIN)
        poi = table[c.POI].to_numpy(np.int64)
        self._num_pois = ranker.dataset.num_pois
        key = poi[rows] * self._num_pois + poi[rows + 1]
        order = np.argsort(key, kind="stable")
        self._key = key[order]
        self._user = table[c.USER].to_numpy(np.int64)[rows[order]]

    def users(self, source: int, destination: int) -> np.ndarray:
        """The user of each training transition source -> destination."""
        key = source * self._num_pois + destination
        return self._user[slice(*np.searchsorted(self._key, [key, key + 1]))]

    def of_user(self, source: int, user: int) -> dict[int, int]:
        """One user's training transitions from a place, by destination."""
        here = slice(*np.searchsorted(self._key, [source * self._num_pois, (source + 1) * self._num_pois]))
        own = self._key[here][self._user[here] == user] % self._num_pois
        return dict(zip(*(column.tolist() for column in np.unique(own, return_counts=True)), strict=True))


def training_rows(ranker: CaseRanker) -> TrainingIndex:
    """The cached index of a ranker's dataset."""
    if ranker not in _INDEXES:
        _INDEXES[ranker] = TrainingIndex(ranker)
    return _INDEXES[ranker]


_INDEXES: WeakKeyDictionary[CaseRanker, TrainingIndex] = WeakKeyDictionary()
