"""The graph token: A^N E computed by sparse products, forward and backward (Eqs. 6-8)."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from recap.model.graph_token import GraphToken
from tests.recap.test_graph import graph_of
from tests.worlds import small_model_config

NUM_POIS = 5


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
