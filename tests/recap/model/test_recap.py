"""The encoder and the whole model against the equations computed by hand, and the laws that scores obey."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from recap import columns as c
from recap.errors import ConfigError
from recap.history.tensors import CheckinTensors, Histories
from recap.model.backbone import EncoderLayer, GraphToken, TimeEmbedding, suffix_rows
from recap.model.config import ModelConfig, Stage
from recap.model.recap import Recap, standardise
from tests.recap.history.test_graph import graph_of
from tests.recap.history.test_tensors import tensors
from tests.recap.model.reference_model import ByHand
from tests.worlds import (
    CURVES,
    SMALL_MODEL,
    all_cases,
    batch_of,
    counted_graph,
    shake,
    small_city,
    small_model_config,
    small_recap,
    timed,
)

CASES = all_cases(small_city())[::6]
"""Every sixth case: first check-ins of a user, short and long histories, all three splits."""


@pytest.mark.parametrize(
    ("changes", "stage"),
    [
        ({}, {}),
        ({}, {"graph_weight": 0.35}),
        ({}, {"graph_weight": 0.0}),
        ({}, {"correction": False}),
        ({}, {"prior": False, "correction": False}),
        ({"use_future_time": True}, {}),
        ({"use_graph": False}, {}),
        ({"use_history": False}, {}),
        ({"num_hops": 1}, {}),
        ({"num_hops": 3}, {}),
        ({"suffix_length": 1}, {}),
        ({"suffix_length": 11, "recent_window": 0}, {}),
        ({"prior": {"use_count": False}}, {}),
        ({"prior": {"use_recency": False, "use_window": False}}, {}),
        ({"core_scope": "nowhere"}, {}),
        ({"core_scope": "unvisited", "use_correction": False}, {}),
        (CURVES, {}),
        (CURVES, {"prior": False, "correction": False}),
        (CURVES | {"core_scope": "unvisited", "use_correction": False}, {}),
        (CURVES | {"core_scope": "unvisited", "use_history": False}, {}),
        (CURVES | {"core_scope": "nowhere", "use_correction": False}, {}),
        (CURVES | {"core_scope": "nowhere", "use_graph": False}, {}),
    ],
    ids=str,
)
def test_every_part_equals_the_equations(changes: dict[str, Any], stage: dict[str, Any]) -> None:
    """Core, prior, correction and total (Eqs. 1-14, 20-24) of chosen cases, all POIs, to eleven digits.

    Curves can be steep where distances are found in two ways: to eight.
    """
    dataset = small_city()
    model = small_recap(dataset, **changes)
    with torch.inference_mode():
        scores = model(timed(batch_of(dataset, CASES)), Stage(**stage))
    expected = ByHand(model, dataset).all_scores(CASES.tolist(), **stage)
    near = 1e-8 if model.curves is not None else 1e-11
    for name, part in {**scores.parts, "total": scores.total}.items():
        assert name in expected
        np.testing.assert_allclose(part.numpy(), expected[name], rtol=1e-9, atol=near, err_msg=name)


NUM_POIS, NUM_USERS = 6, 3
GRAPH = pd.Series({(0, 1): 2, (0, 2): 1, (1, 3): 4, (2, 0): 1, (3, 3): 2, (4, 5): 1}, dtype="int64")
CATEGORY = torch.tensor([0, 0, 1, 2, 1, 0])
PLACES = torch.tensor([[40.0 + i / 7, -74.0 + i * i / 90] for i in range(NUM_POIS)], dtype=torch.float64)
histories = st.lists(st.lists(st.integers(0, NUM_POIS - 1), min_size=2, max_size=12), min_size=1, max_size=NUM_USERS)


def model_over(
    graph: pd.Series, category: Tensor, places: Tensor, weights: dict[str, Tensor] | None = None, **changes: Any
) -> Recap:
    """A shaken small model of six POIs and three users, or one with given weights."""
    latitude, longitude = places.T.numpy()
    pois = pd.DataFrame({c.CATEGORY_INDEX: category, c.LATITUDE: latitude, c.LONGITUDE: longitude})
    dataset = replace(small_city(), pois=pois, users=pd.DataFrame(index=range(NUM_USERS)))
    counted = counted_graph(graph, NUM_POIS)
    model = Recap(small_model_config(**changes), dataset, counted, torch.float64).eval()
    if weights is None:
        shake(model, seed=5)
    else:
        model.load_state_dict(weights)
    return model


MODEL = model_over(GRAPH, CATEGORY, PLACES)


def checkins_of(walks: list[list[int]]) -> CheckinTensors:
    """One user per walk, a check-in every 83 minutes, a new trajectory every third."""
    user = np.repeat(np.arange(len(walks)), [len(walk) for walk in walks])
    position = np.concatenate([np.arange(len(walk)) for walk in walks])
    seconds = 5000 * (position + 7 * user)
    return tensors(walks, seconds=seconds, local_seconds=seconds, trajectory=100 * user + position // 3)


def totals(checkins: CheckinTensors, rows: list[int], model: Recap = MODEL) -> Tensor:
    with torch.inference_mode():
        return model(Histories(checkins, torch.tensor(rows, dtype=torch.int64)), Stage()).total


@given(histories, st.permutations(range(NUM_POIS)))
def test_relabelling_pois_permutes_scores(walks: list[list[int]], new: list[int]) -> None:
    """POI p called new[p], with the weights, categories, places and transitions of p: the same scores, renamed."""
    old = torch.tensor(np.argsort(new))
    weights = dict(MODEL.state_dict())
    for name in ("poi_embedding.weight", "core.output.weight", "core.output.bias"):
        weights[name] = weights[name][old]
    graph = GRAPH.copy()
    graph.index = pd.MultiIndex.from_tuples([(new[s], new[d]) for s, d in GRAPH.index], names=GRAPH.index.names)
    renamed = model_over(graph, CATEGORY[old], PLACES[old], weights)
    rows = list(range(sum(map(len, walks))))
    before = totals(checkins_of(walks), rows)
    after = totals(checkins_of([[new[poi] for poi in walk] for walk in walks]), rows, renamed)
    torch.testing.assert_close(after[:, new], before, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "gone"),
    [
        ({"use_graph": False}, ("graph_token.",)),
        ({"use_history": False}, ("prior.", "calibration.")),
        ({"prior": {"use_count": False}}, ("prior.count_weight",)),
        ({"prior": {"use_recency": False}}, ("prior.recency_weight",)),
        ({"prior": {"use_window": False}}, ("prior.window_weight",)),
    ],
    ids=str,
)
def test_a_part_that_is_switched_off_has_no_parameters(changes: dict[str, Any], gone: tuple[str, ...]) -> None:
    """The ablations drop exactly their own tensors (the graph also its position) and zero their score part."""
    dataset = small_city()
    whole, model = small_recap(dataset).state_dict(), small_recap(dataset, **changes)
    assert set(whole) - set(model.state_dict()) == {name for name in whole if name.startswith(gone)}
    with torch.inference_mode():
        scores = model(batch_of(dataset), Stage())
    assert bool(scores.parts["prior"].any()) is bool(scores.parts["correction"].any()) is ("use_history" not in changes)


def test_coordinates_are_standardised() -> None:
    """Latitudes 1, 2, 3 become -sqrt(3/2), 0, sqrt(3/2); equal longitudes become 0."""
    own_P2 = torch.tensor([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], dtype=torch.float64)
    result = standardise(own_P2, own_P2)
    torch.testing.assert_close(result[:, 0].tolist(), [-(1.5**0.5), 0.0, 1.5**0.5])
    torch.testing.assert_close(result[:, 1].tolist(), [0.0, 0.0, 0.0])


def test_a_city_across_the_date_line_stays_in_one_piece() -> None:
    """Longitudes 179, 180 and -179 lie a degree apart, just as 9, 10, 11 do."""
    latitude = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    there = torch.stack([latitude, torch.tensor([179.0, 180.0, -179.0], dtype=torch.float64)], dim=1)
    here = torch.stack([latitude, torch.tensor([9.0, 10.0, 11.0], dtype=torch.float64)], dim=1)
    torch.testing.assert_close(standardise(there, there), standardise(here, here), rtol=1e-9, atol=1e-9)


@pytest.fixture
def _two_threads() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("_two_threads")
def test_gradients_are_the_same_bits_every_time_on_two_threads() -> None:
    """The gradient of the propagated embeddings is a sum over cases, shared by threads whose order must not show."""
    dataset = small_city()
    model = small_recap(dataset, dtype=torch.float32, poi_dim=2048, num_layers=1, suffix_length=1).train()
    batch = batch_of(dataset, torch.from_numpy(dataset.cases(0)))

    def gradient() -> Tensor:
        model.zero_grad()
        model.encode(batch, Stage()).square().sum().backward()
        assert model.poi_embedding.weight.grad is not None
        return model.poi_embedding.weight.grad.clone()

    first = gradient()
    assert all(torch.equal(first, gradient()) for _ in range(8))


def test_refuses_configurations_that_contradict_themselves() -> None:
    """A width that the heads cannot share, and nothing left that scores."""
    for values, part in (
        ({"hidden_dim": 10, "num_heads": 4}, "hidden_dim 10"),
        ({"core_scope": "nowhere", "use_history": False}, "leave nothing that scores"),
    ):
        with pytest.raises(ConfigError, match=part):
            ModelConfig.parse(values)
    ModelConfig.parse(CURVES | {"core_scope": "nowhere", "use_history": False})


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


NUM_NODES = 5


edge_counts = st.dictionaries(
    st.tuples(st.integers(0, NUM_NODES - 1), st.integers(0, NUM_NODES - 1)), st.integers(1, 9), min_size=1, max_size=12
)


@given(edge_counts, st.integers(1, 5))
def test_propagation_and_its_gradient_equal_dense_matrix_powers(edges: dict[tuple[int, int], int], hops: int) -> None:
    """For any graph, with self-loops and dead ends: A^N E and the gradient (A^N)^T G of a weighted sum."""
    counts = np.zeros((NUM_NODES, NUM_NODES))
    for (source, destination), count in edges.items():
        counts[source, destination] = count
    dense = torch.from_numpy(np.divide(counts, counts.sum(1, keepdims=True), where=counts > 0, out=0 * counts))
    generator = torch.Generator().manual_seed(len(edges))
    embedding, weight = torch.randn(2, NUM_NODES, 3, generator=generator, dtype=torch.float64)
    embedding.requires_grad_()
    result = GraphToken(small_model_config(num_hops=hops), graph_of(edges, NUM_NODES).adjacency).propagate(embedding)
    power = torch.linalg.matrix_power(dense, hops)
    torch.testing.assert_close(result, power @ embedding, rtol=1e-12, atol=1e-12)
    (result * weight).sum().backward()
    torch.testing.assert_close(embedding.grad, power.T @ weight, rtol=1e-12, atol=1e-12)
