"""Rows of G^(N) under changed transition counts, without propagating the whole graph again (Eqs. 6-7).

Shape suffixes: P POIs, E features of a POI embedding.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from recap.graph import TransitionGraph

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


class EditedPropagation:
    """Answers "what would G^(N)_s be" for edited counts m_sd, exactly: only the rows that changed are recomputed.

    The row e_s A^N E is built as (e_s A^(N-1)) (A E), where A E is computed once and corrected in the changed rows.

    Args:
        graph: counted training transitions.
        embedding_PE: E_poi, float64.
        num_hops: N.
    """

    def __init__(self, graph: TransitionGraph, embedding_PE: np.ndarray, num_hops: int) -> None:
        self.graph, self.embedding_PE, self.num_hops = graph, embedding_PE, num_hops
        self._once_PE = np.asarray(graph.adjacency @ embedding_PE)
        self._backwards = graph.adjacency.T.tocsr()

    def row(self, source: int, edges: EdgeCounts, cuts: Sequence[tuple[int, int]] = ()) -> np.ndarray:
        """G^(N)_source (E,) under changed counts and with two-step walks taken out.

        Args:
            edges: changed counts; each changed row is normalised again.
            cuts: (m, d) pairs whose product A_sm A_md leaves (A^2)_sd while everything else stays; N must be 2.
        """
        changed = sorted({start for start, _ in edges})
        walk_P = np.zeros(self.graph.num_pois)
        walk_P[source] = 1.0
        for _ in range(self.num_hops - 1):
            next_P = self._backwards @ _without(walk_P, changed)
            for poi in changed:
                destination_N, probability_N = adjacency_row(self.graph, poi, edges)
                next_P[destination_N] += walk_P[poi] * probability_N
            walk_P = next_P
        same_P = _without(walk_P, changed)
        reached = np.flatnonzero(same_P)
        row_E = same_P[reached] @ self._once_PE[reached]
        for poi in changed:
            destination_N, probability_N = adjacency_row(self.graph, poi, edges)
            row_E += walk_P[poi] * (probability_N @ self.embedding_PE[destination_N])
        for middle, destination in cuts:
            assert self.num_hops == 2, "a two-step walk is a part of the token only where N is 2"
            row_E -= walk_P[middle] * self._probability(middle, destination, edges) * self.embedding_PE[destination]
        return row_E

    def _probability(self, source: int, destination: int, edges: EdgeCounts) -> float:
        destination_N, probability_N = adjacency_row(self.graph, source, edges)
        return float(probability_N[destination_N == destination].sum())


def _without(walk_P: np.ndarray, pois: list[int]) -> np.ndarray:
    """A copy with some entries set to zero."""
    walk_P = walk_P.copy()
    walk_P[pois] = 0.0
    return walk_P
