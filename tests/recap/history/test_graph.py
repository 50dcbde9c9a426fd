"""The transition graph: counts, adjacency, reach and two-hop paths, by hand and against brute force."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recap.errors import DataError
from recap.history.graph import TransitionGraph
from tests.checkins import split_dataset
from tests.worlds import counted_graph

NUM_POIS = 6


def graph_of(edges: dict[tuple[int, int], int], num_pois: int = NUM_POIS) -> TransitionGraph:
    index = pd.MultiIndex.from_tuples(list(edges), names=["source", "destination"])
    return counted_graph(pd.Series(list(edges.values()), index=index, dtype="int64"), num_pois)


#  0 -> 1 three times, 0 -> 2 once, 1 -> 3 twice, 2 -> 3 once, 2 -> 0 once, 3 -> 3 once; 4 and 5 have no out-edge.
DIAMOND = graph_of({(0, 1): 3, (0, 2): 1, (1, 3): 2, (2, 3): 1, (2, 0): 1, (3, 3): 1})


def test_counts_training_pairs_within_trajectories() -> None:
    """0->1 twice, 1->1 once (self-transitions count); 1->2 ends in test and 2->0 crosses a boundary: not counted.

    Nothing to count is an error, not an empty graph.
    """
    dataset = split_dataset([(0, [(0, 0), (1, 0), (1, 0)]), (0, [(0, 0), (1, 0), (2, 2)]), (1, [(0, 0)])], 3)
    graph = TransitionGraph.from_dataset(dataset)
    assert graph.counts.toarray().tolist() == [[0, 2, 0], [0, 1, 0], [0, 0, 0]]
    assert (graph.num_pois, graph.num_transitions) == (3, 2)
    with pytest.raises(DataError, match="no transition"):
        TransitionGraph.from_dataset(split_dataset([(0, [(0, 0)]), (1, [(1, 0), (0, 2)])], 2))


def test_looks_up_pairs() -> None:
    """Counts and probabilities of given pairs; absent pairs are 0; no pairs give empty arrays."""
    source, destination = np.array([0, 0, 4, 3]), np.array([1, 3, 0, 3])
    assert DIAMOND.count(source, destination).tolist() == [3, 0, 0, 1]
    assert DIAMOND.probability(source, destination).tolist() == [0.75, 0, 0, 1]
    assert DIAMOND.count(source[:0], destination[:0]).tolist() == []
    # POIs without out-edges keep a zero row (Eq. 6).
    assert DIAMOND.adjacency.toarray()[[0, 2, 4]].tolist() == [
        [0, 0.75, 0.25, 0, 0, 0],
        [0.5, 0, 0, 0.5, 0, 0],
        [0] * 6,
    ]


def hops_of(graph: TransitionGraph, source: np.ndarray, destination: np.ndarray, max_hops: int) -> np.ndarray:
    return graph.explore(np.unique(source), source, destination, max_hops)[0]


def test_hops_by_hand() -> None:
    """From 0: 1 and 2 in one hop, 3 and 0 itself (0 -> 2 -> 0) in two; 4 never. Three is not seen with one hop."""
    source, destination = np.array([0, 0, 0, 0, 0, 4]), np.array([1, 2, 3, 0, 4, 4])
    assert hops_of(DIAMOND, source, destination, 5).tolist() == [1, 1, 2, 2, 0, 0]
    assert hops_of(DIAMOND, source, destination, 1).tolist() == [1, 1, 0, 0, 0, 0]


def test_two_hop_paths_by_hand() -> None:
    """0 -> 1 -> 3: 3/4 * 1 = .75. 0 -> 2 -> 3: 1/4 * 1/2 = .125. Together .875, shares 6/7 and 1/7."""
    paths = DIAMOND.two_hop_paths(0, 3)
    rows = paths[["middle", "count_in", "count_out", "product"]].to_numpy().tolist()
    assert rows == [[1, 3, 2, 0.75], [2, 1, 1, 0.125]]
    assert paths["share"].tolist() == pytest.approx([6 / 7, 1 / 7])
    assert DIAMOND.two_step_probability(np.array([0, 0]), np.array([3, 1])).tolist() == [0.875, 0.0]
    assert len(DIAMOND.two_hop_paths(3, 0)) == 0


edge_counts = st.dictionaries(
    st.tuples(st.integers(0, NUM_POIS - 1), st.integers(0, NUM_POIS - 1)), st.integers(1, 9), min_size=1, max_size=14
)


@given(edge_counts, st.integers(1, 5))
def test_reach_equals_brute_force(edges: dict[tuple[int, int], int], max_hops: int) -> None:
    """C_N(s) is every POI at the end of a walk of 1..N edges; a pair's hops are the smallest such N."""
    graph = graph_of(edges)
    ends = [{(s, d) for s, d in edges}]
    for _ in range(max_hops - 1):
        ends.append({(s, d) for s, m in ends[-1] for m2, d in edges if m == m2})
    within = [set().union(*ends[: n + 1]) for n in range(max_hops)]
    sources = np.arange(NUM_POIS)
    (start, reach), *rest = list(graph.reach_blocks(sources, max_hops))
    assert start == 0 and not rest
    for n in range(max_hops):
        assert {(int(s), int(d)) for s, d in np.argwhere(reach[n])} == within[n]
    source, destination = (grid.ravel() for grid in np.meshgrid(sources, sources, indexing="ij"))
    smallest = [
        next((n + 1 for n in range(max_hops) if pair in within[n]), 0)
        for pair in zip(source.tolist(), destination.tolist(), strict=True)
    ]
    assert hops_of(graph, source, destination, max_hops).tolist() == smallest


@settings(max_examples=20)  # each compares all 36 pairs
@given(edge_counts)
def test_two_hop_paths_equal_brute_force_and_add_up(edges: dict[tuple[int, int], int]) -> None:
    """Every middle is found once, and the products add up to the square of the adjacency."""
    graph = graph_of(edges)
    square = graph.adjacency.toarray() @ graph.adjacency.toarray()
    out = {s: sum(count for (a, _), count in edges.items() if a == s) for s in range(NUM_POIS)}
    for s in range(NUM_POIS):
        for d in range(NUM_POIS):
            paths = graph.two_hop_paths(s, d)
            expected = {m: (edges[s, m], edges[m, d]) for m in range(NUM_POIS) if {(s, m), (m, d)} <= edges.keys()}
            rows: list[dict[str, Any]] = [dict(zip(paths.columns, row, strict=True)) for row in paths.to_numpy()]
            found = {row["middle"]: (row["count_in"], row["count_out"]) for row in rows}
            assert found == expected
            assert paths["product"].sum() == pytest.approx(square[s, d])
            assert paths["product"].is_monotonic_decreasing
            for row in rows:
                steps = row["count_in"] / out[s] * row["count_out"] / out[int(row["middle"])]
                assert row["product"] == pytest.approx(steps)
            if expected:
                assert paths["share"].sum() == pytest.approx(1)
    pairs = np.indices((NUM_POIS, NUM_POIS)).reshape(2, -1)
    assert graph.two_step_probability(*pairs) == pytest.approx(square.ravel())


def test_many_sources_go_block_by_block() -> None:
    """More sources than one block holds (512): a chain of 1,300 POIs, each reaching the next."""
    size = 1300
    chain = graph_of({(poi, poi + 1): 1 for poi in range(size - 1)}, size)
    source = np.arange(size)[::-1].copy()
    destination = np.minimum(source + 2, size - 1)
    expected = [2] * (size - 2) + [1, 0]
    assert hops_of(chain, source, destination, 3).tolist() == expected[::-1]
    assert (chain.two_step_probability(source, destination) > 0).tolist() == [hops == 2 for hops in expected[::-1]]
