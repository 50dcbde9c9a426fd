"""Two-hop paths: every middle place, the training rows behind its counts, and the rank if the path is cut.

The graph enters the score through a token and is not additive: a path's effect is a counterfactual, told in two ways.

- frozen: (A^2)_sd loses A_sm A_md and nothing else changes. It exists where the token holds exactly two steps (N = 2).
- recounted: the training transitions s -> m (or m -> d) are removed and the row is normalised again, so that its other
  destinations gain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from pydantic import Field

from analysis.explain.edited_case import EditedCase
from analysis.explain.effects import Effect, effects
from analysis.explain.types import PathTerms
from analysis.formatting import user_name
from recap import columns as c
from recap.config import Config
from recap.counterfactuals import Counterfactual
from recap.model.edited_graph import adjacency_row, counts_row
from recap.predictor import Predictor


class TrainingRows(Config):
    """The training transitions behind one count, in table order; columns of equal length."""

    walkers: list[str] = Field(description="Pseudonyms, see `user_name`.")
    trajectories: list[int]
    times: list[str] = Field(description="UTC time of the arrival at the destination, ISO 8601.")


class PathEvidence(PathTerms):
    """One two-hop path with the rows behind it and what cutting it does; effects are the candidate's."""

    rows_in: TrainingRows
    rows_out: TrainingRows
    frozen: Effect | None = Field(
        description="None where not asked for, where the token does not hold exactly two steps, or for a weak path "
        "among very many places: see `cut_paths`."
    )
    recounted_in: Effect | None = Field(description="Without the training transitions source -> middle.")
    recounted_out: Effect | None = Field(description="Without the training transitions middle -> candidate.")


_CUT_MODES: Final = ("frozen", "recounted_in", "recounted_out")
_CUT_SCORES: Final = 1 << 25
"""Cuts times places that are scored for one answer, in less than a second; 11 paths among a million places."""


def two_hop_paths(edited_case: EditedCase, candidate: int) -> list[PathTerms]:
    """All middle POIs m with source -> m -> candidate in training (as edited), strongest first.

    Products add up to (A^2)_sd, addends (None without additive evidence) to the evidence's two-hop term. Found once for
    a case and a candidate.
    """
    known = _PATHS.setdefault(edited_case, {})
    if candidate not in known:
        known[candidate] = _two_hop_paths(edited_case, candidate)
    return known[candidate]


def _two_hop_paths(edited_case: EditedCase, candidate: int) -> list[PathTerms]:
    graph, edges = edited_case.predictor.graph, edited_case.variant.edges
    table = _edited_paths(edited_case, candidate) if edges else graph.two_hop_paths(edited_case.source, candidate)
    labels, addends = edited_case.predictor.dataset.poi_labels, edited_case.walk_addends(candidate)
    return [
        PathTerms(
            middle=path["middle"],
            name=labels[path["middle"]],
            count_in=path["count_in"],
            count_out=path["count_out"],
            p_in=path["p_in"],
            p_out=path["p_out"],
            product=path["product"],
            share=path["share"],
            addend=None if addends is None else addends.get(path["middle"], 0.0),
        )
        for path in table.to_dict(orient="records")
    ]


def _edited_paths(edited_case: EditedCase, candidate: int) -> pd.DataFrame:
    graph, edges = edited_case.predictor.graph, edited_case.variant.edges
    middle_M, count_in_M = counts_row(graph, edited_case.source, edges)
    _, p_in_M = adjacency_row(graph, edited_case.source, edges)
    rows = []
    for middle, count_in, p_in in zip(middle_M.tolist(), count_in_M.tolist(), p_in_M.tolist(), strict=True):
        destination_N, count_N = counts_row(graph, middle, edges)
        hit = np.flatnonzero(destination_N == candidate)
        if len(hit):
            count_out, p_out = int(count_N[hit[0]]), float(count_N[hit[0]] / count_N.sum())
            rows.append((middle, count_in, count_out, p_in, p_out, p_in * p_out))
    names = ["middle", "count_in", "count_out", "p_in", "p_out", "product"]
    table = pd.DataFrame(rows, columns=pd.Index(names))
    table["share"] = table["product"] / table["product"].sum() if len(table) else table["product"]
    return table.sort_values(["product", "middle"], ascending=[False, True]).reset_index(drop=True)


def cut_paths(edited_case: EditedCase, candidate: int) -> list[PathTerms]:
    """The two-hop paths that are cut, strongest first: all, or as many as an answer has time for among many places."""
    most = max(1, _CUT_SCORES // (len(_CUT_MODES) * edited_case.ranker.dataset.num_pois))
    return two_hop_paths(edited_case, candidate)[:most]


def cut_variants(edited_case: EditedCase, candidate: int, middles: Sequence[int]) -> dict[str, list[Counterfactual]]:
    """Variants with each path cut, by mode; ``frozen`` is empty unless the token holds exactly two steps.

    A recounted cut takes every training transition of the edge away, so paths that share the edge go too.
    """
    base = edited_case.variant
    if not edited_case.is_active("graph_token"):
        return {}
    cuts = {
        "recounted_in": [replace(base, edges=base.edges | {(edited_case.source, middle): 0}) for middle in middles],
        "recounted_out": [replace(base, edges=base.edges | {(middle, candidate): 0}) for middle in middles],
    }
    if edited_case.config.num_hops == 2:
        cuts["frozen"] = [replace(base, cuts=(*base.cuts, (middle, candidate))) for middle in middles]
    return cuts


@dataclass(frozen=True, eq=False)
class PathCuts:
    """What cutting paths scores, apart from scoring it: other questions to the case are scored beside it.

    Attributes:
        middles: of the paths that are cut.
        by_mode: each path cut, see `cut_variants`; empty where the token does not act.
    """

    middles: list[int]
    by_mode: dict[str, list[Counterfactual]]

    @classmethod
    def of(cls, edited_case: EditedCase, candidate: int) -> "PathCuts":
        """Those of a candidate."""
        middles = [path.middle for path in cut_paths(edited_case, candidate)]
        return cls(middles, cut_variants(edited_case, candidate, middles))

    @property
    def variants(self) -> list[Counterfactual]:
        return [variant for group in self.by_mode.values() for variant in group]

    def told(self, results: Sequence[Effect]) -> dict[int, dict[str, Effect]]:
        """The effects of the variants by middle and mode."""
        following = iter(results)
        cut: dict[int, dict[str, Effect]] = {middle: {} for middle in self.middles}
        for mode in self.by_mode:
            for middle in self.middles:
                cut[middle][mode] = next(following)
        return cut


def path_evidence(
    edited_case: EditedCase, candidate: int, cut: Mapping[int, Mapping[str, Effect]] | None = None
) -> list[PathEvidence]:
    """The two-hop paths of a candidate with training rows.

    Args:
        cut: what cutting them does, see `PathCuts.told`; asked anew by default.
    """
    if cut is None:
        cuts = PathCuts.of(edited_case, candidate)
        cut = cuts.told(effects(edited_case, cuts.variants, candidate))
    rows = training_rows(edited_case.predictor)
    return [
        PathEvidence(
            **vars(path),
            rows_in=rows.of(edited_case.source, path.middle),
            rows_out=rows.of(path.middle, candidate),
            **{mode: cut.get(path.middle, {}).get(mode) for mode in _CUT_MODES},
        )
        for path in two_hop_paths(edited_case, candidate)
    ]


class TrainingIndex:
    """Finds the training transitions behind a count m_sd."""

    def __init__(self, predictor: Predictor) -> None:
        table = predictor.dataset.checkins
        rows = predictor.dataset.cases(c.TRAIN)
        poi = table[c.POI].to_numpy(np.int64)
        self._num_pois = predictor.dataset.num_pois
        key = poi[rows] * self._num_pois + poi[rows + 1]
        order = np.argsort(key, kind="stable")
        self._key, self._row = key[order], rows[order]
        self._user = table[c.USER].to_numpy(np.int64)
        self._trajectory = table[c.TRAJECTORY].to_numpy(np.int64)
        self._time = table[c.TIME].to_numpy("datetime64[s]")

    def users(self, source: int, destination: int) -> np.ndarray:
        """The user of each training transition source -> destination."""
        return self._user[self._rows(source, destination)]

    def _rows(self, source: int, destination: int) -> np.ndarray:
        key = source * self._num_pois + destination
        return self._row[slice(*np.searchsorted(self._key, [key, key + 1]))]

    def of(self, source: int, destination: int) -> TrainingRows:
        """All training transitions source -> destination; as many as m_sd counts without edits."""
        rows = self._rows(source, destination)
        return TrainingRows(
            walkers=[user_name(user) for user in self._user[rows].tolist()],
            trajectories=self._trajectory[rows].tolist(),
            times=[f"{time}Z" for time in self._time[rows + 1].astype(str)],
        )


def training_rows(predictor: Predictor) -> TrainingIndex:
    """The index of a predictor's dataset, built once."""
    if predictor not in _INDEXES:
        _INDEXES[predictor] = TrainingIndex(predictor)
    return _INDEXES[predictor]


_PATHS: WeakKeyDictionary[EditedCase, dict[int, list[PathTerms]]] = WeakKeyDictionary()
_INDEXES: WeakKeyDictionary[Predictor, TrainingIndex] = WeakKeyDictionary()
