"""The directed transition graph of the training split (paper, Sec. 3.2)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd
from scipy import sparse

from recap import columns as c
from recap.data.cases import build_cases
from recap.data.dataset import Dataset
from recap.errors import DataError

TAIL_MAX_COUNT: Final = 1
"""Tail threshold eta: a transition is tail when it occurs at most this often in training."""

_SOURCES_PER_BLOCK: Final = 512
_CELLS_PER_BLOCK: Final = 1 << 25
"""Reach is computed for at most this many (source, POI) cells at a time."""


@dataclass(frozen=True, eq=False)
class TransitionGraph:
    """Counted transitions between P POIs. ``counts``: int64 CSR of shape (P, P), m_sd."""

    counts: sparse.csr_array

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> "TransitionGraph":
        """Count adjacent source -> destination pairs of a dataset's training cases (m_sd, Sec. 3). Raises DataError if
        there is no training case.
        """
        rows = build_cases(dataset.checkins, c.TRAIN)
        if len(rows) == 0:
            raise DataError("the training split has no transition to count")
        poi, num_pois = dataset.checkins[c.POI].to_numpy(), dataset.num_pois
        keys = poi[rows] * np.int64(num_pois)
        rows += 1
        keys += poi[rows]
        del rows
        # np.unique holds three times as much memory.
        keys.sort()
        first_of_pair = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        counts = np.diff(first_of_pair, append=len(keys))
        source, destination = np.divmod(keys[first_of_pair], num_pois)
        del keys, first_of_pair
        first = np.append(0, np.cumsum(np.bincount(source, minlength=num_pois)))
        return cls(counts=sparse.csr_array((counts, destination, first), shape=(num_pois, num_pois)))

    @property
    def num_pois(self) -> int:
        return self.counts.shape[0]

    @property
    def num_transitions(self) -> int:
        return self.counts.nnz

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """Row-normalised A (Eq. 6), float64; rows of POIs without out-edges are zero."""
        return row_normalised(self.counts)

    @cached_property
    def _edges(self) -> sparse.csr_array:
        edges = self.counts.astype(np.float32)
        edges.data[:] = 1.0
        return edges

    def changed(self, edges: Mapping[tuple[int, int], int]) -> "TransitionGraph":
        """A graph with other counts m_sd for some (source, destination)."""
        if not edges:
            return self
        source, destination = np.array(list(edges)).T
        more = np.array(list(edges.values())) - self.count(source, destination)
        counts = sparse.csr_array(self.counts + sparse.csr_array((more, (source, destination)), self.counts.shape))
        counts.eliminate_zeros()
        return TransitionGraph(counts)

    def count(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        """m_sd of pairs: int64, one per (source, destination)."""
        return _at(self.counts, source, destination).astype(np.int64)

    def probability(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        """A_sd of pairs: float64."""
        return _at(self.adjacency, source, destination)

    def explore(
        self, sources: np.ndarray, source: np.ndarray, destination: np.ndarray, max_hops: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Hops of pairs, the smallest N <= max_hops with destination in C_N(source) (App. C.2), int64, 0 if none; and
        sizes of candidate sets, int64 (max_hops, sources), of C_n(sources[i]) at [n - 1, i]: in one breadth-first
        pass. ``sources``: distinct POIs in ascending order, with every ``source``.
        """
        hops = np.zeros(len(source), dtype=np.int64)
        sizes = np.zeros((max_hops, len(sources)), dtype=np.int64)
        position = np.searchsorted(sources, source)
        for start, reach in self.reach_blocks(sources, max_hops):
            end = start + len(reach[0])
            pairs = np.flatnonzero((start <= position) & (position < end))
            local = position[pairs] - start
            for n in range(max_hops, 0, -1):
                hops[pairs[reach[n - 1][local, destination[pairs]]]] = n
                sizes[n - 1, start:end] = reach[n - 1].sum(axis=1)
        return hops, sizes

    def two_step_probability(self, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        """(A^2)_sd of pairs: float64."""
        values, into = np.zeros(len(source)), sparse.csr_array(self.adjacency.T)
        for start in range(0, len(source), _SOURCES_PER_BLOCK):
            some = slice(start, start + _SOURCES_PER_BLOCK)
            values[some] = self.adjacency[source[some]].multiply(into[destination[some]]).sum(axis=1)
        return values

    def reach_blocks(self, sources: np.ndarray, max_hops: int) -> Iterator[tuple[int, list[np.ndarray]]]:
        """Breadth-first reach of many sources, in blocks to bound memory. Yields (start, reach): ``reach[n - 1]`` is a
        bool array (block, P) of C_n of ``sources[start:start + block]``.
        """
        size = max(1, min(_SOURCES_PER_BLOCK, _CELLS_PER_BLOCK // self.num_pois))
        for start in range(0, len(sources), size):
            frontier = self._edges[sources[start : start + size]].toarray() > 0
            reached = frontier.copy()
            reach = [reached]
            for _ in range(max_hops - 1):
                step = sparse.csr_array(frontier.astype(np.float32)) @ self._edges
                is_next = step.toarray() > 0
                frontier = is_next & ~reached
                reached = reached | is_next
                reach.append(reached)
            yield start, reach

    def two_hop_paths(self, source: int, destination: int) -> pd.DataFrame:
        """All middle POIs m of source -> m -> destination, strongest first: ``middle, count_in, count_out`` (transition
        counts), ``product`` (A_sm A_md) and ``share`` of (A^2)_sd, their sum.
        """
        into = self._incoming.indices[slice(*self._incoming.indptr[destination : destination + 2])]
        middles = np.intersect1d(self.counts[[source]].indices, into)
        first, second = (np.full_like(middles, source), middles), (middles, np.full_like(middles, destination))
        columns = {"middle": middles.astype(np.int64), "count_in": self.count(*first), "count_out": self.count(*second)}
        product = self.probability(*first) * self.probability(*second)
        paths = pd.DataFrame({**columns, "product": product, "share": product / product.sum()})
        return paths.sort_values(["product", "middle"], ascending=[False, True], ignore_index=True)

    @cached_property
    def _incoming(self) -> sparse.csc_array:
        return self.counts.tocsc()


def row_normalised(matrix: sparse.csr_array) -> sparse.csr_array:
    """Every row divided by its sum; empty rows stay empty."""
    totals = matrix.sum(axis=1)
    scale = np.divide(1.0, totals, out=np.zeros(len(totals)), where=totals > 0)
    return sparse.csr_array(sparse.diags_array(scale) @ matrix)


def rows_of_power(matrix: sparse.csr_array, rows: np.ndarray, exponent: int) -> sparse.csr_array:
    """Some rows of a power of a square matrix; the others are not computed."""
    power = matrix[rows]
    for _ in range(exponent - 1):
        power = sparse.csr_array(power @ matrix)
    return power


def _at(matrix: sparse.csr_array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    if len(rows) == 0:
        return np.zeros(0, dtype=matrix.dtype)
    return np.asarray(matrix[np.asarray(rows), np.asarray(columns)]).ravel()
