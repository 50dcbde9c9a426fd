"""The graph token: A^N E computed by sparse products, forward and backward (Eqs. 6-8)."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recap.model.graph_token import GraphToken
from tests.recap.test_graph import graph_of
from tests.worlds import SMALL_MODEL, shake, small_model_config

NUM_POIS = 5


@pytest.mark.parametrize(("hops", "expected"), [(1, [55.0, 100.0, 0.0]), (2, [50.0, 0.0, 0.0]), (3, [0.0, 0.0, 0.0])])
def test_propagation_by_hand(hops: int, expected: list[float]) -> None:
    """0 goes to 1 and 2 equally often, 1 to 2, 2 nowhere; with E = 1, 10, 100: A E_0 = 5 + 50, A^2 E_0 = 100 / 2."""
    graph = graph_of({(0, 1): 2, (0, 2): 2, (1, 2): 7}, num_pois=3)
    token = GraphToken(small_model_config(num_hops=hops), graph.adjacency)
    embedding = torch.tensor([[1.0], [10.0], [100.0]], dtype=torch.float64)
    assert token.propagate(embedding)[:, 0].tolist() == expected


edge_counts = st.dictionaries(
    st.tuples(st.integers(0, NUM_POIS - 1), st.integers(0, NUM_POIS - 1)), st.integers(1, 9), min_size=1, max_size=12
)


@given(edge_counts, st.integers(1, 5))
def test_propagation_and_its_gradient_equal_dense_matrix_powers(edges: dict[tuple[int, int], int], hops: int) -> None:
    """For any graph, with self-loops and dead ends: A^N E and the gradient (A^N)^T G of a weighted sum."""
    counts = np.zeros((NUM_POIS, NUM_POIS))
    for (source, destination), count in edges.items():
        counts[source, destination] = count
    dense = torch.from_numpy(np.divide(counts, counts.sum(1, keepdims=True), where=counts > 0, out=0 * counts))
    generator = torch.Generator().manual_seed(len(edges))
    embedding, weight = torch.randn(2, NUM_POIS, 3, generator=generator, dtype=torch.float64)
    embedding.requires_grad_()
    result = GraphToken(small_model_config(num_hops=hops), graph_of(edges, NUM_POIS).adjacency).propagate(embedding)
    power = torch.linalg.matrix_power(dense, hops)
    torch.testing.assert_close(result, power @ embedding, rtol=1e-12, atol=1e-12)
    (result * weight).sum().backward()
    torch.testing.assert_close(embedding.grad, power.T @ weight, rtol=1e-12, atol=1e-12)


def test_dead_ends_get_the_token_of_an_empty_neighbourhood() -> None:
    """POIs without out-edges all get LN(MLP(0)), and a POI that only leads to them gets it at N = 2."""
    token = GraphToken(SMALL_MODEL, graph_of({(0, 1): 3, (2, 3): 1, (3, 0): 1}, NUM_POIS).adjacency).double().eval()
    shake(token)
    embedding = torch.randn(NUM_POIS, SMALL_MODEL.poi_dim, dtype=torch.float64)
    tokens = token(token.propagate(embedding))
    nothing = token(torch.zeros(1, SMALL_MODEL.poi_dim, dtype=torch.float64))[0]
    for poi in (0, 1, 4):
        torch.testing.assert_close(tokens[poi], nothing, rtol=1e-12, atol=1e-12)
    assert not torch.allclose(tokens[2], nothing)
