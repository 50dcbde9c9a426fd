"""Rows of G^(N) under changed transition counts (Eqs. 6-7).

Shape suffixes: P POIs, N reached POIs, E features of a POI embedding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recap.history.graph import TransitionGraph

EdgeCounts = Mapping[tuple[int, int], int]
"""Changed training counts: (source, destination) -> m_sd."""


def counts_row(graph: TransitionGraph, source: int, edges: EdgeCounts) -> tuple[np.ndarray, np.ndarray]:
    """Row m_s under changed counts: destinations and positive counts (int64)."""
    counts = graph.counts
    span = slice(counts.indptr[source], counts.indptr[source + 1])
    destination_N, count_N = counts.indices[span].astype(np.int64), counts.data[span]
    own = {destination: count for (start, destination), count in edges.items() if start == source}
    if not own:
        return destination_N, count_N
    row = dict(zip(destination_N.tolist(), count_N.tolist(), strict=True)) | own
    kept = {destination: count for destination, count in row.items() if count > 0}
    return np.array(list(kept), dtype=np.int64), np.array(list(kept.values()), dtype=np.int64)


def adjacency_row(graph: TransitionGraph, source: int, edges: EdgeCounts) -> tuple[np.ndarray, np.ndarray]:
    """Row A_s (Eq. 6) under changed counts: destinations and probabilities; empty without out-edges."""
    destination_N, count_N = counts_row(graph, source, edges)
    return destination_N, count_N / count_N.sum() if len(count_N) else count_N.astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Walks:
    """End POIs of paths, in order, with their probabilities."""

    poi_N: np.ndarray
    probability_N: np.ndarray

    def at(self, poi: int) -> float:
        return float(self.probability_N[self.poi_N == poi].sum())


class EditedPropagation:
    """Computes G^(N)_s for edited counts m_sd exactly, over the POIs reached from s. ``embedding_PE``: E_poi, float64;
    ``num_hops``: N.
    """

    def __init__(self, graph: TransitionGraph, embedding_PE: np.ndarray, num_hops: int) -> None:
        self.graph, self.embedding_PE, self.num_hops = graph, embedding_PE, num_hops

    def row(self, source: int, edges: EdgeCounts, cuts: Sequence[tuple[int, int]] = ()) -> np.ndarray:
        """G^(N)_source (E,) under changed counts and without the cut paths. ``edges``: changed counts; each changed row
        is normalised again; ``cuts``: (m, d) pairs whose product A_sm A_md leaves (A^2)_sd; N must be 2.
        """
        walks, before = _Walks(np.array([source]), np.ones(1)), None
        for _ in range(self.num_hops):
            walks, before = self._step(walks, edges), walks
        row_E = walks.probability_N @ self.embedding_PE[walks.poi_N]
        for middle, destination in cuts:
            assert self.num_hops == 2 and before is not None, "a two-step walk is a part of the token where N is 2"
            destination_N, probability_N = adjacency_row(self.graph, middle, edges)
            probability = float(probability_N[destination_N == destination].sum())
            row_E -= before.at(middle) * probability * self.embedding_PE[destination]
        return row_E

    def _step(self, walks: _Walks, edges: EdgeCounts) -> _Walks:
        changed = {start for start, _ in edges} & set(walks.poi_N.tolist())
        is_same_N = ~np.isin(walks.poi_N, sorted(changed))
        rows = self.graph.adjacency[walks.poi_N[is_same_N]]
        steps = np.repeat(walks.probability_N[is_same_N], np.diff(rows.indptr))
        ends, chances = [rows.indices.astype(np.int64)], [steps * rows.data]
        for poi in sorted(changed):
            destination_N, probability_N = adjacency_row(self.graph, poi, edges)
            ends.append(destination_N)
            chances.append(walks.at(poi) * probability_N)
        reached, at = np.unique(np.concatenate(ends), return_inverse=True)
        return _Walks(reached, np.bincount(at, weights=np.concatenate(chances), minlength=len(reached)))
