"""Tokens by hand, torch's own encoder layer as the reference, the graph token as matrix powers (Eqs. 1-8)."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from recap.history.tensors import Histories
from recap.model.backbone import EncoderLayer, GraphToken, TimeEmbedding, suffix_rows
from tests.recap.history.test_graph import graph_of
from tests.recap.history.test_tensors import tensors
from tests.worlds import SMALL_MODEL, shake, small_model_config


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(1, 8))
def test_the_suffix_equals_a_list_slice(lengths: list[int], k: int) -> None:
    """For any users: the last k rows of the user up to the source, nothing else."""
    user = np.repeat(np.arange(len(lengths)), lengths).tolist()
    row_BK, present_BK = suffix_rows(
        Histories(tensors([[0] * length for length in lengths]), torch.arange(len(user))), k
    )
    for t in range(len(user)):
        expected = [q for q in range(t + 1) if user[q] == user[t]][-k:]
        assert row_BK[t][present_BK[t]].tolist() == expected
        assert present_BK[t].tolist() == [False] * (k - len(expected)) + [True] * len(expected)


@pytest.mark.parametrize(
    ("clock", "hour", "weekday"),
    [
        ("2012-04-02 00:00:00", 0, 0),
        ("2012-04-02 00:59:59", 0, 0),
        ("2012-04-04 01:00:00", 1, 2),
        ("2012-04-08 23:59:59", 23, 6),
        ("1969-12-31 23:30:00", 23, 2),
    ],
)
def test_times_are_embedded_by_local_hour_and_weekday(clock: str, hour: int, weekday: int) -> None:
    """Monday is 0; the hour's bin is the hour on the clock; times before 1970 work too."""
    embedding = TimeEmbedding()
    seconds = int(pd.Timestamp(clock).timestamp())
    expected = torch.cat([embedding.hour.weight[hour], embedding.weekday.weight[weekday]])
    assert torch.equal(embedding(torch.tensor([seconds]))[0], expected)


def torch_layer(layer: EncoderLayer) -> nn.TransformerEncoderLayer:
    """torch's encoder layer with the same weights."""
    config = SMALL_MODEL
    reference = nn.TransformerEncoderLayer(
        config.hidden_dim, config.num_heads, config.feedforward_dim, 0.0, activation="gelu", batch_first=True
    ).double()
    own = layer.state_dict()
    renamed = {"self_attn.in_proj_": ("query.", "key_value.")}
    weights = {
        f"{name}{kind}": torch.cat([own[f"{part}{kind}"] for part in parts])
        for name, parts in renamed.items()
        for kind in ("weight", "bias")
    }
    for theirs, ours in {
        "self_attn.out_proj": "attention_output",
        "linear1": "feedforward.0",
        "linear2": "feedforward.3",
        "norm1": "norm_attention",
        "norm2": "norm_feedforward",
    }.items():
        weights |= {f"{theirs}.{kind}": own[f"{ours}.{kind}"] for kind in ("weight", "bias")}
    reference.load_state_dict(weights)
    return reference


@pytest.mark.parametrize("training", [True, False])
def test_an_encoder_layer_equals_torchs(training: bool) -> None:
    """Same weights, same masked inputs, same outputs, whether torch takes its fast path or not."""
    layer = EncoderLayer(SMALL_MODEL).double()
    shake(layer)
    reference = torch_layer(layer)
    layer.train(training)
    reference.train(training)
    generator = torch.Generator().manual_seed(1)
    hidden = torch.randn(6, 5, SMALL_MODEL.hidden_dim, generator=generator, dtype=torch.float64)
    present = torch.rand(6, 5, generator=generator) < 0.6
    present[:, -1] = True
    with torch.set_grad_enabled(training):
        expected = reference(hidden, src_key_padding_mask=~present)
        result = layer(hidden, present)
    torch.testing.assert_close(result[present], expected[present], rtol=1e-10, atol=1e-12)


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
