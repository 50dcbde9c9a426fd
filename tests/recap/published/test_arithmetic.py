"""Intermediate values of each published model against arithmetic that a reader can redo on paper."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pytest
import torch
from torch import nn

from recap import columns as c
from recap.data.dataset import Dataset
from recap.history.tensors import CheckinTensors, Histories
from recap.published.city import City
from recap.published.configs import DprlConfig, published_config
from recap.published.depoi import AnchorConvolution, Depoi, RelationAttention, smallest_gaps
from recap.published.hypergraphs import Dchl, Msahg, comes_later, downtown, locals_of, match, normalised, pool_past
from recap.published.lotnext import Lotnext, closest_pois
from recap.published.network import SLOTS_OF_WEEK, PublishedNetwork
from recap.published.recurrent import Deepmove, Dprl, Flashback, Replay, closeness, regions_of
from recap.published.registry import build_published
from recap.published.sasrec import Melt, Sasrec
from recap.published.sthgcn import (
    NumberCode,
    SimilarTrajectories,
    Sthgcn,
    TrajectoryReader,
    earlier_trajectories,
    kilometres,
    prefixes_of,
)
from recap.published.transformers import Getnext, Rotan, TimeTurn, flow_map, place_features, quadkey_runs
from recap.published.windows import Windows, average_past
from tests.checkins import split_dataset
from tests.recap.published.variants import small_config

HOUR = 3600
Model = TypeVar("Model", bound=PublishedNetwork)


@pytest.fixture(autouse=True)
def _without_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


def approx(values: list[float]) -> object:
    return pytest.approx(values, abs=1e-9)


def walking(walks: list[list[int]], num_pois: int) -> Dataset:
    """One training trajectory for each user, hour by hour, all places at one spot."""
    return split_dataset([(user, [(poi, c.TRAIN) for poi in walk]) for user, walk in enumerate(walks)], num_pois)


def city_of(walks: list[list[int]], num_pois: int) -> tuple[City, CheckinTensors]:
    dataset = walking(walks, num_pois)
    return City.of(dataset), CheckinTensors.from_dataset(dataset)


def fill(value: float, *modules: nn.Module) -> None:
    """Give all their parameters one value."""
    for module in modules:
        for parameter in module.parameters():
            parameter.fill_(value)


def model_of(kind: type[Model], walks: list[list[int]], num_pois: int, **changes: Any) -> tuple[Model, CheckinTensors]:
    """A published model over `city_of` in evaluation mode, and the check-ins."""
    city, checkins = city_of(walks, num_pois)
    model = build_published(small_config(kind.__name__.lower(), **changes), city, torch.float64).eval()
    assert isinstance(model, kind)
    return model, checkins


def test_flashback_averages_by_time_and_distance() -> None:
    """Now, 12 hours before and a day before: (1 + cos) / 2 is 1, 0 and 1; the last fades by e^-0.1 and by distance."""
    seconds = torch.tensor([[0, 12 * HOUR, 24 * HOUR]])
    places = torch.tensor([[[40.0, -74.0], [40.0, -74.0], [40.003, -74.004]]], dtype=torch.float64)
    config = published_config("dprl")
    assert isinstance(config, DprlConfig)
    weights = closeness(places, seconds, config)[0]  # 0.1 a day, 100 a degree; 0.005 degrees away
    first = math.exp(-0.1) * math.exp(-0.5)
    assert weights[2].tolist() == approx([first, 0.0, 1.0])
    states = torch.tensor([[[1.0], [7.0], [3.0]]], dtype=torch.float64)
    # The middle one keeps 1e-10 alone; a later state (3.0 for the first two rows) never enters.
    found = average_past(states, weights[None])[0, :, 0]
    assert found[0] == pytest.approx(1.0)
    assert found[2] == pytest.approx((first * 1 + 3) / (first + 1), abs=1e-8)


def test_flashback_scores_one_check_in_by_hand() -> None:
    """Width 1: h = tanh(w x + w_h h_0 + b), and the logits are W [h; user] + b."""
    model, checkins = model_of(Flashback, [[0, 1]], 2, dim=1)
    fill(0.5, model)
    model.poi_embedding.weight.copy_(torch.tensor([[2.0], [9.0]]))
    model.start_D.fill_(0.3)
    state = math.tanh(0.5 * 2 + 0.5 + 0.5 * 0.3 + 0.5)
    logits = model.logits(Histories(checkins, torch.tensor([0])))
    assert logits[0].tolist() == approx([0.5 * state + 0.5 * 0.5 + 0.5] * 2)


def test_replay_lends_neighbouring_hours_their_embeddings() -> None:
    """With bandwidth 1 the next hour has weight e^-1/2 of the own one; Sunday's last hour precedes Monday's first."""
    model, _ = model_of(Replay, [[0, 1]], 2, dim=2)
    row = model.smoothing()[0]
    assert float(row.sum()) == pytest.approx(1.0)
    assert float(row[1] / row[0]) == pytest.approx(math.exp(-0.5))
    assert float(row[SLOTS_OF_WEEK - 1]) == pytest.approx(float(row[1]))
    assert float(row[2] / row[0]) == pytest.approx(math.exp(-2.0))


def test_lotnext_smooths_places_over_their_neighbours() -> None:
    """A place with one neighbour of weight 1 and itself is the mean of both; users prefer by normalised weights."""
    model, _ = model_of(Lotnext, [[0, 1, 2]], 3, dim=2, as_published=False)
    model.poi_embedding.weight.copy_(torch.tensor([[2.0, 0.0], [4.0, 8.0], [0.0, 6.0]]))
    model.near_poi_PG.copy_(torch.tensor([[1, 0, 0]] * 3))
    model.near_weight_PG.copy_(torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [3.0, 0.0, 0.0]]))
    model.liked_poi_UG.copy_(torch.tensor([[0, 2, 1]]))
    model.liked_weight_UG.copy_(torch.tensor([[1.0, 1.0, 0.0]]))
    fill(0.0, model.convolution)
    places, prefers = model.places()
    # Half of the smoothed places, since the convolution adds nothing: (2 + 4) / 2, (0 + 8) / 2; 4, 8; (0 + 3 * 4) / 4.
    assert (2 * places).tolist() == [[3.0, 4.0], [4.0, 8.0], [3.0, 7.5]]
    assert prefers.tolist() == [[1.0, 3.0]]
    # the user reaches places 0, 2 and 1 by edges of weight 1/2 each: sigmoid of 0
    model.convolution.weight.copy_(torch.eye(2))
    fill(0.0, model.keep_inner, model.keep_outer)
    places, _ = model.places()
    degree = 1 + 0.5
    sent = 0.5 / math.sqrt(degree)  # the user's own degree is 1
    expected = [3.0 + 3.0 / degree + sent * 1.0, 4.0 + 4.0 / degree + sent * 3.0]
    assert (2 * places)[0].tolist() == approx(expected)


def test_lotnext_reads_its_graphs_off_a_translation() -> None:
    """Heads at 0 and 1, moved by 1, among places at 0, 1 and 3: distances 1, 0, 2 and 2, 1, 1 (L1)."""
    heads, places = torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [1.0], [3.0]])
    near, weight = closest_pois(heads, torch.tensor([1.0]), places, 2)
    assert near[0].tolist() == [1, 0] and weight[0].tolist() == pytest.approx([1.0, math.exp(-1)])
    assert sorted(near[1].tolist()) == [1, 2] and weight[1].tolist() == pytest.approx([1.0, 1.0])


def test_sasrec_scores_by_its_own_table() -> None:
    """With nothing but the last normalisation: E sqrt(2) = (sqrt 2, 0) becomes (1, -1); scores are its products."""
    model, checkins = model_of(Sasrec, [[0, 1]], 3, dim=2)
    model.blocks = torch.nn.ModuleList()
    model.eval()
    model.position_embedding.weight.zero_()
    model.poi_embedding.weight.copy_(torch.tensor([[1.0, 0.0], [5.0, 2.0], [-1.0, 4.0]]))
    logits = model.logits(Histories(checkins, torch.tensor([0])))
    assert logits[0].tolist() == pytest.approx([1.0, 3.0, -5.0], abs=1e-4)


def test_negatives_are_places_never_visited() -> None:
    """User 0 has been to 0, 1 and 2, user 1 to 3 and 4: what is drawn is the rest, all of it."""
    model, _ = model_of(Sasrec, [[0, 1, 2], [3, 4]], 6)
    torch.manual_seed(0)
    drawn = model.draw_unvisited(torch.tensor([0, 1] * 200)).view(-1, 2)
    assert set(drawn[:, 0].tolist()) == {3, 4, 5} and set(drawn[:, 1].tolist()) == {0, 1, 2, 5}


def test_getnext_flow_map_and_transition_map() -> None:
    """0 -> 1 twice and 0 -> 2 once: (A + I) / (D + 1) has 2/4, 1/4 and 1/4 in row 0, and 1 on the diagonal of row 3.

    Where each feature's map is 1: LReLU(2) = 2 times (share + 1), and LReLU(-2) = -0.4 where the map is negative.
    """
    city, _ = city_of([[0, 1], [0, 1], [0, 2], [3]], 4)
    found = flow_map(city)
    assert found["to_L"].tolist() == [1, 2] and found["share_L"].tolist() == [0.5, 0.25]
    assert found["own_P"].tolist() == [0.25, 1.0, 1.0, 1.0]
    raw = place_features(city, raw=True)
    assert raw[0].tolist() == [3.0, 1.0, 40.0, -74.0] and raw[:, 0].tolist() == [3.0, 2.0, 1.0, 1.0]
    model, _ = model_of(Getnext, [[0, 1], [0, 1], [0, 2], [3]], 4)
    model.features_PF.fill_(1.0 / model.features_PF.shape[1])
    fill(1.0, model.map_features)
    fill(1.0 / model.config.dim, model.map_from, model.map_to)
    plus = model.transition_map(torch.tensor([0, 3]))
    model.map_features.weight.fill_(-1.0)
    minus = model.transition_map(torch.tensor([0]))
    assert plus[0].tolist() == approx([2 * 1.25, 2 * 1.5, 2 * 1.25, 2.0])
    assert plus[1].tolist() == approx([2.0, 2.0, 2.0, 2 * 2.0])
    assert minus[0].tolist() == approx([-0.4 * 1.25, -0.4 * 1.5, -0.4 * 1.25, -0.4])


def test_dchl_pools_distinct_places_of_the_past_and_knows_what_comes_later() -> None:
    """Visits 0, 1, 0: at row 2 the mean counts place 0 once, and at row 0 it is place 0 alone.

    From 0 to 0, 1 and 2, from 1 to 0 and 2, and nothing from the last; users stay apart.
    """
    city, checkins = city_of([[0, 1, 0, 2], [3, 4]], 5)
    assert list(zip(*comes_later(city).nonzero(), strict=True)) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (3, 4)]
    table = torch.tensor([[3.0, 0.0], [0.0, 3.0], [9.0, 9.0], [9.0, 9.0], [9.0, 9.0]], dtype=torch.float64)
    (pooled,) = normalised(pool_past(Histories(checkins, torch.tensor([2, 0])), [table]))
    assert pooled[0].tolist() == approx([math.sqrt(0.5), math.sqrt(0.5)]) and pooled[1].tolist() == [1.0, 0.0]


def test_hypergraphs_add_up_what_each_propagation_hears() -> None:
    """4 gated by 1/2 is 2; three graphs of 3 x and a residual make 8, 32 and 128 of it: on average 42.5."""
    model, _ = model_of(Dchl, [[0, 1]], 2, dim=1)
    fill(0.0, model.gates)
    graph = nn.Linear(1, 1, bias=False)
    fill(3.0, graph)
    assert model.propagated(torch.tensor([[4.0]]), model.gates[0].float(), graph).tolist() == [[42.5]]


def test_deepmove_looks_back_at_merged_hours() -> None:
    """Hours 8, 8, 9 of one walk, then 10: two entries, the mean of places 0 and 1, and place 2, weighted by h . g."""
    local = torch.tensor([8, 8.5, 9, 40]) * HOUR
    seconds = local.long().numpy()
    checkins = CheckinTensors.from_arrays(
        user=np.zeros(4, np.int64),
        poi=np.arange(4),
        seconds=seconds,
        local_seconds=seconds,
        trajectory=np.array([0, 0, 0, 1]),
    )
    model, _ = model_of(Deepmove, [[0, 1, 2], [3]], 4, dim=1, slot_dim=1, hidden_dim=1)
    model.poi_embedding.weight.copy_(torch.tensor([[0.2], [0.4], [-0.5], [0.0]]))
    model.slot_embedding.weight.zero_()
    model.history.weight.fill_(1.0)
    model.history.bias.zero_()
    states = model.states(Windows.of_histories(Histories(checkins, torch.tensor([3])), 12))[0]
    state, first, second = float(states[3, 0]), math.tanh(0.3), math.tanh(-0.5)
    weight = math.exp(state * first) / (math.exp(state * first) + math.exp(state * second))
    assert float(states[3, 1]) == pytest.approx(weight * first + (1 - weight) * second)
    assert states[:3, 1].tolist() == [0.0, 0.0, 0.0], "a first trajectory has no past"


def test_dprl_averages_by_what_the_user_likes() -> None:
    """Check-ins an hour apart at one spot: time has weight (1 + cos 15 degrees) / 2 e^(-.1 / 24), liking e^-|a - e|."""
    model, checkins = model_of(Dprl, [[0, 1, 2]], 3, dim=2, regions=2)
    fill(0.0, model)  # phases of 0 turn nothing
    model.start_UD.zero_()
    model.likes_places.weight.copy_(torch.tensor([[3.0, 4.0]]))
    model.poi_embedding.weight.copy_(torch.tensor([[0.0, 4.0], [3.0, 2.0], [0.0, 0.0]]))
    model.place_recurrent.all_weights[0][0][0, 1] = 0.1  # the first state is tanh(.1 of y)
    state = model.states(Windows.of_histories(Histories(checkins, torch.tensor([1])), 12))[0, 1]
    past = (1 + math.cos(2 * math.pi / 24)) / 2 * math.exp(-0.1 / 24) * math.exp(-3)
    now = math.exp(-2)
    assert float(state[0]) == pytest.approx((past * math.tanh(0.4) + now * math.tanh(0.2)) / (past + now), abs=1e-7)
    assert state[8:10].tolist() == [3.0, 4.0], "after two averages of width 4: what the user likes at that hour"


def test_dprl_regions_are_clusters_of_spots() -> None:
    """Two places side by side and one far away; where all places share a spot there is one region."""
    city, _ = city_of([[0, 1, 2]], 3)
    assert regions_of(city, 2, 0).tolist() == [0, 0, 0]
    spots = torch.tensor([[40.0, -74.0], [41.0, -73.0], [40.001, -74.0]], dtype=torch.float64)
    first, second, third = regions_of(replace(city, coordinates_P2=spots), 2, 0).tolist()
    assert first == third != second


def test_rotan_reads_cells_of_the_quadtree() -> None:
    """The first digit halves the world: 0 north-west, 1 north-east; at the edges all digits are the same."""
    corners = torch.tensor([[89.0, -180.0], [89.0, 180.0], [-89.0, -180.0]], dtype=torch.float64)
    found = quadkey_runs(corners)
    assert found.shape == (3, 20)
    assert found.tolist() == [[0] * 20, [1365] * 20, [2730] * 20], "1 + 4 + 16 + ... + 1024 and twice that"
    # 1/8 of the world east of the middle, at the equator: x = 101, y = 100 in binary, 3, 0, 1 and zeros.
    assert quadkey_runs(torch.tensor([[0.0, 45.0]]))[0, :4].tolist() == [3 * 1024 + 64, 256, 1024, 0]


def test_rotan_turns_by_hour_and_weekday() -> None:
    """Hours turn the second complex number by a quarter, days nothing: .7 of (1, -4, 3, 2) and .3 of (1, 2, 3, 4)."""
    turn = TimeTurn(2).double()
    fill(0.0, turn)
    turn.hour.line.bias[1] = 26 / 4
    value = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
    assert turn(value, torch.tensor(0)).tolist() == approx([1.0, 0.7 * -4 + 0.3 * 2, 3.0, 0.7 * 2 + 0.3 * 4])
    turn.hour.line.bias.zero_()
    turn.hour.line.weight[1] = 26.0  # a quarter of a day is a quarter of a turn; 14 minutes later still the same
    quarter_day = turn(value, torch.tensor(6 * HOUR + 14 * 60))
    assert quarter_day.tolist() == approx([1.0, 0.7 * -4 + 0.3 * 2, 3.0, 0.7 * 2 + 0.3 * 4])


def test_rotan_adds_seven_tenths_of_the_user() -> None:
    """With outputs that say 1 and 11 whatever comes in, the logits are .7 and 3.3 together."""
    model, checkins = model_of(Rotan, [[0, 1, 2]], 3)
    for output, says in ((model.user_output, 1.0), (model.place_output, 11.0)):
        output.weight.zero_()
        output.bias.fill_(says)
    logits = model.logits(Histories(checkins, torch.tensor([1])))
    assert logits[0].tolist() == approx([4.0, 4.0, 4.0])


def test_depoi_measures_time_by_a_users_smallest_gap() -> None:
    """Training gaps of 1 h, then of 1 h to a validation step that nobody counts; who has one check-in has a second."""
    dataset = split_dataset([(0, [(0, c.TRAIN), (1, c.TRAIN), (2, c.VAL), (2, c.TEST)]), (1, [(3, c.TRAIN)])], 4)
    city = City.of(dataset)
    assert city.visits_P.tolist() == [1, 1, 0, 1] and city.train.poi_T.tolist() == [0, 1, 3], "training alone"
    assert smallest_gaps(city).tolist() == [HOUR, 1]
    at_once = replace(city, train=replace(city.train, seconds_T=city.train.seconds_T * 0))
    assert smallest_gaps(at_once).tolist() == [1, 1], "no gap above 0"


def test_depoi_splits_likeness_to_anchors() -> None:
    """Places (1, 0), (0, 2) and (-3, 0), anchored at the first: like 1, 0 and not at all; a mask of 1/2 halves it."""
    graph = AnchorConvolution(3, 2).double()
    graph.poi_embedding.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]]))
    fill(0.0, graph.of_place, graph.of_anchor)
    causal, bias = graph(torch.tensor([0]))
    # The anchor takes the first place alone, and gives it to the first place alone; levels 0 and 1 are added up.
    assert causal.tolist() == bias.tolist() == [[3.0, 0.0], [0.0, 4.0], [-6.0, 0.0]]


def test_depoi_attends_by_time_and_distance() -> None:
    """The past scores log 3, by its interval 1, and the step itself 0: 3/4 and 1/4 of values 4 and 8, and 3/4 of 2."""
    attention = RelationAttention(1, 2, (2,), 0.0).double()
    fill(0.0, attention)
    attention.query.bias.fill_(1.0)
    attention.value.weight.fill_(1.0)
    attention.get_parameter("relation_keys.0.weight")[1] = math.log(3)
    attention.get_parameter("relation_values.0.weight")[1] = 2.0
    tokens = torch.tensor([[[4.0], [8.0]]], dtype=torch.float64)
    found = attention(tokens, tokens, [torch.tensor([[[0, 1], [1, 0]]])])
    assert found[0, :, 0].tolist() == approx([4.0, 0.75 * 4 + 0.25 * 8 + 0.75 * 2])


def test_depoi_ties_the_bias_to_counts() -> None:
    """Visits 3, 1 and 0: as published a softmax of the counts, e^3 : e : 1; corrected 3/4, 1/4 and 0."""
    for as_published, expected in ((True, [math.exp(3), math.e, 1.0]), (False, [3.0, 1.0, 0.0])):
        model, _ = model_of(Depoi, [[0, 0, 0, 1]], 3, as_published=as_published)
        found = model.popularity(torch.float64).tolist()
        assert found == approx([value / sum(expected) for value in expected])


def test_melt_adds_to_tail_users_and_rewrites_tail_places() -> None:
    """With W_U the identity a tail user's scores double; a tail place becomes W_I of the mean of its contexts."""
    walks = [[0, 1, 0, 2], [0, 3]]
    model, checkins = model_of(Melt, walks, 4, dim=2, epochs=2, backbone_share=0.5)
    assert model.is_head_U.tolist() == [True, False], "4 and 2 check-ins; the .8 quantile is 3.6"
    assert model.is_head_P.tolist() == [True, False, False, False], "3, 1, 1 and 1 visits"
    for branch, scale, bias in ((model.user_branch, 1, 0.0), (model.place_branch, 2, 1.0)):
        branch.weight.copy_(scale * torch.eye(2))
        branch.bias.fill_(bias)
    batch = Histories(checkins, torch.tensor([0, 4]))
    model.begin_epoch(1, fresh=True)
    backbone = model.logits(batch)
    model.progress = 1.0
    model.acting.fill_(1.0)
    both = model.logits(batch)
    assert both[0].tolist() == approx(backbone[0].tolist()) and both[1].tolist() == approx((2 * backbone[1]).tolist())

    before = model.poi_embedding.weight.clone()
    windows, _ = model.examples(walking(walks, 4), checkins).batch(torch.tensor([0]))
    context = model.states(windows)[0, 1]  # the second step stands at place 1, nobody else does
    model.begin_epoch(2, fresh=True)
    after = model.poi_embedding.weight
    assert after[1].tolist() == approx((2 * context + 1).tolist())
    assert torch.equal(after[0], before[0]), "a head place keeps its own"
    assert torch.equal(after[2:], before[2:]), "a place that no window stands at has no context"


def test_melt_learns_its_branches_from_mean_squares() -> None:
    """Means over the width, as the published code takes them: sums would drown the loss of the ranking."""
    walks = [[0, 1, 0, 2], [0, 0]]
    model, checkins = model_of(Melt, walks, 4, dim=2, epochs=2, backbone_share=0.5)
    model.progress = 0.75  # of all epochs: half of the branches' own
    for branch in (model.user_branch, model.place_branch):
        branch.weight.zero_()
        branch.bias.fill_(0.5)
    windows, _ = model.examples(walking(walks, 4), checkins).batch(torch.tensor([0]))
    states_BKD = model.states(windows)
    # K_u, the .8 quantile of 4 and 2 check-ins, is 3.6; K_i, the .78 quantile of 4, 1, 1 and 0 visits, is 2.02.
    weight = abs(math.sin(math.pi / 4 + (4 - 3.6 - 1) * math.pi / 2))
    last = states_BKD[0, int(windows.length_B[0]) - 1]
    users = model.user_loss(windows, states_BKD)
    assert [float(users)] == approx([weight * float(((0.5 - last) ** 2).sum()) / 2])
    weight = abs(math.sin(math.pi / 4 + (4 - 2.02 - 1) * math.pi / 100))
    apart = 0.5 - model.poi_embedding.weight[0]
    places = model.place_loss(windows, states_BKD)
    assert [float(places)] == approx([weight**2 * float((apart**2).sum()) / 2])


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)[:, None]


def test_msahg_gives_locals_a_hypergraph_of_their_own() -> None:
    """Users at places 0, 1, 1 (two hours: a local) and 1, 2 (one hour): with values 1, 3, 5 users stand at 2 and 4."""
    city, _ = city_of([[0, 1, 1], [1, 2]], 3)
    model, _ = model_of(Msahg, [[0, 1, 1], [1, 2]], 3, local_days=1.5 / 24)
    assert locals_of(city, 1.5 / 24).tolist() == [1, 0]
    whole, locals_, tourists = (model.graphs[f"collaborative{side}"](column(1, 3, 5)) for side in ("", "-1", "-0"))
    assert whole[:, 0].tolist() == approx([2.0, 3.0, 4.0])
    assert locals_[:, 0].tolist() == approx([2.0, 2.0, 0.0]) and tourists[:, 0].tolist() == approx([0.0, 4.0, 4.0])


def test_msahg_keeps_workdays_and_suburbs_apart() -> None:
    """All on one workday: nothing moves on weekends; places at one spot are all downtown, and near each other."""
    city, checkins = city_of([[0, 1], [1, 2]], 3)
    model, _ = model_of(Msahg, [[0, 1], [1, 2]], 3)
    assert downtown(city).tolist() == [1, 1, 1]
    sides = model.scenarios(Histories(checkins, torch.tensor([0])))
    weekend = int(sides["time"])
    assert sides["place"].tolist() == [1] and weekend in (0, 1)
    assert model.graphs[f"temporal-{1 - weekend}"](column(1, 3, 5)).eq(0).all()
    # An hour each: place 0 in the first, 1 in the second and third, 2 in the fourth; no two share an hour.
    assert model.graphs["temporal"](column(1, 3, 5))[:, 0].tolist() == approx([1.0, 3.0, 5.0])
    assert model.graphs["geographic-1"](column(1, 3, 5))[:, 0].tolist() == approx([3.0, 3.0, 3.0])
    assert model.graphs["geographic-0"](column(1, 3, 5)).eq(0).all()


def test_msahg_takes_the_mean_of_a_cases_three_scenarios() -> None:
    """Gates of 0 halve every view: .5 (3 + 1 + 0 + 2) (1 + 0 + 1 + 1) = 9; a score is the mean of its three sides'."""
    model, checkins = model_of(Msahg, [[0, 1, 0, 2], [1, 2]], 3, dim=1)
    batch = Histories(checkins, torch.tensor([1]))
    tables = model.tables()
    of_sides = [
        match(model.shares.values(), *model.matched(batch, tables, split, int(side)))
        for split, side in model.scenarios(batch).items()
    ]
    torch.testing.assert_close(model.logits(batch), (of_sides[0] + of_sides[1] + of_sides[2]) / 3)
    fill(0.0, model.shares)
    users, places = ([column(value) for value in values] for values in ((3, 1, 0, 2), (1, 0, 1, 1)))
    assert float(match(model.shares.values(), users, places)) == 9.0


def test_sthgcn_finds_similar_earlier_trajectories_of_others() -> None:
    """A prefix at 0 and 1 shares 2 of 3 places with (0, 1, 2), 1 of 3 with (0, 3), none with (4); two do not count."""
    walks = [(0, [0, 3]), (1, [0, 1, 2]), (2, [4]), (3, [0, 1]), (3, [0, 1, 0, 5]), (4, [0, 1])]
    dataset = split_dataset([(user, [(poi, c.TRAIN) for poi in walk]) for user, walk in walks], num_pois=6)
    checkins = CheckinTensors.from_dataset(dataset)
    batch = Histories(checkins, torch.tensor([10]))  # user 3, trajectory 2
    prefixes, start = prefixes_of(batch, 9), checkins.seconds_T[torch.tensor([8])]
    firsts, lasts = checkins.trajectory_rows(torch.arange(6))
    assert firsts.tolist() == [0, 2, 5, 6, 8, 12] and lasts.tolist() == [1, 4, 5, 7, 11, 13]
    earlier = [found.tolist() for found in earlier_trajectories(batch, 5)]
    assert prefixes.row_H.tolist() == [8, 9, 10] and earlier == [[0], [3]], "his own is a neighbour of its kind"
    find = SimilarTrajectories(City.of(dataset)).find
    assert [found.tolist() for found in find(prefixes, start, 5, 0.005)] == [[0, 0], [1, 0]]
    assert [found.tolist() for found in find(prefixes, start, 1, 0.005)] == [[0], [1]]
    assert find(prefixes, start, 5, 0.5)[1].tolist() == [1]
    # At a time when trajectory 1 had not ended, trajectory 0 is all there is.
    assert find(prefixes, start - 5 * 3600, 5, 0.005)[1].tolist() == [0]


def test_sthgcn_reads_a_trajectory_by_its_seed() -> None:
    """Messages 1 and -1, key 2, seed .5: LReLU(2 * .5) = 1 and LReLU(-1) = -.2; values are 3 times the message."""
    reader = TrajectoryReader(1, 1, 0.0).double()
    for linear, weight in ((reader.key, 2.0), (reader.value, 3.0)):
        linear.weight.fill_(weight)
    reader.seed_AD.fill_(0.5)
    read = reader.attend(column(1, -1, 4), torch.tensor([0, 0, 1]), 2)
    share = math.exp(1.0) / (math.exp(1.0) + math.exp(-0.2))
    assert read[:, 0].tolist() == approx([3 * share - 3 * (1 - share) + 0.5, 12.5])


def test_sthgcn_attends_to_neighbours_by_scaled_products() -> None:
    """State 1 and messages 0 and log 3 in one head, all weights 1: shares 1/4 and 3/4, half own, half heard."""
    model, _ = model_of(Sthgcn, [[0, 1]], 2, heads=1, dim=1)
    width = 5
    for linear in (model.query, model.key, model.value, model.skip, model.merge):
        linear.weight.copy_(torch.eye(width))
    for linear in (model.query, model.skip, model.merge):
        linear.bias.zero_()
    state = torch.zeros(2, width, dtype=torch.float64)
    state[:, 0] = math.sqrt(width)  # which the scale takes off again
    message = torch.zeros(2, width, dtype=torch.float64)
    message[1, 0] = math.log(3)
    heard = model.attend(state, message, torch.tensor([0, 0]))
    own = math.sqrt(width) / 2
    assert heard[:, 0].tolist() == approx([own + 0.75 * math.log(3) / 2, own]), "the second case has no neighbour"


def test_sthgcn_codes_numbers_by_cosines() -> None:
    """Speeds 1 and 10^-9, no phase: half a turn is -1 in the first, still 1 in the second; a degree has 111 km."""
    code = NumberCode(2).double()
    code.mix.weight.copy_(torch.eye(2))
    assert code(torch.tensor([math.pi]))[0].tolist() == pytest.approx([-1.0, 1.0], abs=1e-6)
    angle = math.radians(1.0)
    ends = torch.tensor([[1.0, 0.0, 0.0], [math.cos(angle), math.sin(angle), 0.0]], dtype=torch.float64)
    assert float(kilometres(ends[:1], ends[1:])) == pytest.approx(111.195, abs=1e-3)
