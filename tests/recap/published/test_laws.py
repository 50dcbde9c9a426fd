"""What every published model must keep, whichever: no look ahead, no company, no chance at test, no order of places."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse

from recap import columns as c
from recap.asking.predictor import CaseRanker
from recap.errors import VocabularyError
from recap.history.graph import TransitionGraph
from recap.history.moments import Moment
from recap.history.tensors import CaseBatch, CheckinTensors, Histories
from recap.published.configs import PublishedConfig
from recap.published.network import City, PublishedScorer, SequenceNetwork
from recap.published.registry import build_published
from recap.published.transformers import Packing, encode, encoder_of, sinusoids
from recap.published.windows import TrainingWindows, Windows, by_length
from tests.checkins import split_dataset
from tests.recap.published.test_arithmetic import city_of
from tests.recap.published.variants import shaken, small_config, table, variant_id, variants
from tests.worlds import batch_of, small_city, targets_of, timed

VARIANTS = variants()
every_variant = pytest.mark.parametrize("config", VARIANTS, ids=variant_id)


def scores_of(config: PublishedConfig, checkins: CheckinTensors, row: int) -> torch.Tensor:
    return PublishedScorer(shaken(config)).score(histories_of(config, checkins, torch.tensor([row]))).total


def histories_of(config: PublishedConfig, checkins: CheckinTensors, row_B: torch.Tensor) -> Histories:
    return CaseBatch(checkins, row_B).histories(target_time=config.options.get("target_time", False))


@pytest.mark.parametrize("config", [v for v in VARIANTS if v.options.get("target_time")], ids=variant_id)
def test_the_targets_time_is_read_where_it_says_so(config: PublishedConfig) -> None:
    """The same case with its target three hours later has other scores: the option is no empty word."""
    city = small_city()
    own, row = CheckinTensors.from_dataset(city), int(city.cases(c.TEST)[0])
    local = own.local_seconds_T.clone()
    local[row + 1] += 3 * 3600
    assert not torch.equal(scores_of(config, own, row), scores_of(config, table(city, local_seconds=local), row))


@every_variant
def test_alone_or_in_a_batch_the_same_score(config: PublishedConfig) -> None:
    """Windows of all lengths in one batch; in float64 what is left is the rounding of sums."""
    batch = timed(batch_of(small_city()))
    together = PublishedScorer(shaken(config)).score(batch).total
    for index in range(0, len(batch), 17):
        alone = scores_of(config, batch.checkins, int(batch.row_B[index]))
        torch.testing.assert_close(alone[0], together[index], rtol=1e-11, atol=1e-11)


ORDERLY = [config for config in VARIANTS if not (config.network == "lotnext" and config.options["as_published"])]
"""LoTNext as published takes POI rows for users, so that the places' order matters; corrected it does not."""


@pytest.mark.parametrize("config", ORDERLY, ids=variant_id)
def test_the_order_of_places_does_not_matter(config: PublishedConfig) -> None:
    """Places, and every weight that stands for one, in another order: the same scores in that order."""
    dataset = small_city()
    city, model, batch = City.of(dataset), shaken(config), timed(batch_of(dataset))
    before = PublishedScorer(model).score(batch).total
    new_P = torch.from_numpy(np.random.default_rng(0).permutation(city.num_pois))  # place p becomes new_P[p]
    old_P = torch.argsort(new_P)
    order = old_P.numpy()
    counts = sparse.csr_array(city.graph.counts.toarray()[np.ix_(order, order)])
    moved = replace(
        city,
        coordinates_P2=city.coordinates_P2[old_P],
        category_P=city.category_P[old_P],
        visits_P=city.visits_P[old_P],
        train=replace(city.train, poi_T=new_P[city.train.poi_T]),
        graph=TransitionGraph(counts),
    )
    other = build_published(config, moved, torch.float64)
    weights = {}
    for name, tensor in model.state_dict().items():
        for dim, size in enumerate(tensor.shape):
            tensor = tensor.index_select(dim, old_P) if size == city.num_pois else tensor
        weights[name] = new_P[tensor] if tensor.dtype == torch.int64 and "poi" in name else tensor
    other.load_state_dict(weights)
    poi = new_P[batch.checkins.poi_T]
    after = PublishedScorer(other).score(timed(Histories(table(dataset, poi=poi), batch.row_B))).total
    torch.testing.assert_close(after[:, new_P], before, rtol=1e-9, atol=1e-9)


SEQUENCES = [config for config in VARIANTS if isinstance(shaken(config), SequenceNetwork)]


@pytest.mark.parametrize("config", SEQUENCES, ids=variant_id)
def test_training_on_a_sequence_is_scoring_its_cases(config: PublishedConfig) -> None:
    """The logits of every step of a training window are those of its prefix scored as a case."""
    city, model = small_city(), shaken(config)
    assert isinstance(model, SequenceNetwork)
    checkins = CheckinTensors.from_dataset(city)
    examples = model.examples(city, checkins)
    first_of = checkins.trajectory_T if model.within_trajectory else checkins.user_T
    begins = (examples.first_W == 0) | (first_of[examples.first_W] != first_of[examples.first_W - 1])
    windows, learned_BK = examples.batch(torch.arange(len(examples))[begins][:4])
    assert learned_BK.sum() > 10
    with torch.inference_mode():
        row_N = windows.row_BK[learned_BK]
        in_sequence = model.step_logits(model.states(windows)[learned_BK], timed(Histories(checkins, row_N)))
        as_cases = model.logits(timed(Histories(checkins, row_N)))
    torch.testing.assert_close(in_sequence, as_cases, rtol=1e-9, atol=1e-9)


LEARNS = [config for config in VARIANTS if not config.options.get("target_time")]


@pytest.mark.parametrize("config", LEARNS, ids=variant_id)
def test_a_new_user_is_scored_or_refused(config: PublishedConfig) -> None:
    ranker = CaseRanker(None, small_city(), scorer=PublishedScorer(shaken(config)))
    knows = config.network in ("sasrec", "dchl")
    with nullcontext() if knows else pytest.raises(VocabularyError, match="does not know a new one"):
        ranker.score(ranker.histories_at(Moment().plus(1, 0)))


@pytest.mark.slow
@pytest.mark.parametrize("config", LEARNS, ids=variant_id)
def test_planted_pairs_are_learned(config: PublishedConfig) -> None:
    """200 users, each going once from a place of his own to another, by heart: HR@1 above .95 (chance is 1 in 400)."""
    torch.manual_seed(0)
    dataset = split_dataset([(user, [(user, c.TRAIN), (200 + user, c.TRAIN)]) for user in range(200)], 400)
    city, checkins = City.of(dataset), CheckinTensors.from_dataset(dataset)
    fields = type(config).model_fields
    wanted = {"dim": 32, "window": 4, "dropout": 0.0, "attention_dropout": 0.0}
    changes = {name: value for name, value in wanted.items() if name in fields}
    learner = small_config(config.network, **config.options, **changes)
    model = build_published(learner, city)
    model.prepare(city)
    examples = model.examples(dataset, checkins)
    assert len(examples) == 200
    optimiser = torch.optim.Adam(model.parameters(), 0.02)
    batch = Histories(checkins, torch.from_numpy(dataset.cases(c.TRAIN)))
    found = 0.0
    for epoch in range(1, 301):
        model.begin_epoch(epoch, fresh=True)
        model.train()
        for index_B in torch.randperm(len(examples)).split(100):
            optimiser.zero_grad()
            model.loss(examples.batch(index_B)).backward()
            optimiser.step()
        if epoch % 20 == 0:
            found = float((PublishedScorer(model).score(batch).total.argmax(1) == targets_of(batch)).double().mean())
            if found > 0.95:
                break
    assert found > 0.95


def test_windows_teach_every_training_step_once() -> None:
    """Runs of 5 and 3 check-ins in windows of at most 3 steps: (0 1 2), (1 2 3) of which step 3 is new, and (5 6)."""
    walks = [(0, [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]), (1, [(5, 0), (6, 0), (7, 0), (8, 1)])]
    dataset = split_dataset(walks, 9)
    checkins = CheckinTensors.from_dataset(dataset)
    examples = TrainingWindows.of(dataset, checkins, 3)
    windows, learned_BK = examples.batch(torch.arange(len(examples)))
    assert windows.row_BK.tolist() == [[0, 1, 2], [1, 2, 3], [5, 6, 6]]
    assert learned_BK.tolist() == [[True, True, True], [False, False, True], [True, True, False]]


def test_a_case_window_ends_at_its_source() -> None:
    """Rows 0-3 and 4-6 are two trajectories of one user; the window of row 5 crosses, or begins at row 4."""
    walks = [(0, [(poi, 0) for poi in range(4)]), (0, [(poi, 0) for poi in range(4, 7)])]
    batch = Histories(CheckinTensors.from_dataset(split_dataset(walks, 7)), torch.tensor([5, 1]))
    crossing = Windows.of_histories(batch, 3)
    assert crossing.row_BK.tolist() == [[3, 4, 5], [0, 1, 1]] and crossing.length_B.tolist() == [3, 2]
    inside = Windows.of_histories(batch, 3, within_trajectory=True)
    assert inside.row_BK.tolist() == [[4, 5], [0, 1]] and inside.length_B.tolist() == [2, 2]


def test_windows_by_length_say_what_they_say_together() -> None:
    """Lengths 3, 1 and 2 in two groups: each position's number stands where it belongs, and 0 behind an end."""
    _, checkins = city_of([[0, 1, 2]], 3)
    windows = Windows.of(checkins, torch.tensor([0, 1, 1]), torch.tensor([3, 1, 2]))
    asked: list[tuple[int, ...]] = []

    def rows(group: Windows) -> torch.Tensor:
        asked.append(tuple(group.row_BK.shape))
        return group.row_BK[:, :, None] + 1.0

    assert by_length(windows, rows)[:, :, 0].tolist() == [[1.0, 2.0, 3.0], [2.0, 2.0, 0.0], [2.0, 3.0, 0.0]]
    assert asked == [(2, 2), (1, 3)], "the short ones do not pay for the long one"


def test_packed_windows_are_encoded_as_padded_ones() -> None:
    """Lengths 3, 1, 2 and 1: torch's own encoder under a causal mask, and positions counted from each beginning."""
    torch.manual_seed(0)
    _, checkins = city_of([[0, 1, 2]], 3)
    windows = Windows.of(checkins, torch.tensor([0, 1, 1, 2]), torch.tensor([3, 1, 2, 1]))
    packing = Packing.of(windows)
    assert packing.runs == ((2, 1), (1, 2), (1, 3)) and packing.row_N.tolist() == [1, 2, 1, 2, 0, 1, 2]
    assert packing.position_N.tolist() == [0, 0, 0, 1, 0, 1, 2]
    assert packing.index_BK.tolist() == [[4, 5, 6], [0, 0, 0], [2, 3, 3], [1, 1, 1]]
    encoder, x_BKD = encoder_of(4, 2, 5, 0.5, 2).double().eval(), torch.randn(4, 3, 4, dtype=torch.float64)
    x_ND = torch.empty(7, 4, dtype=torch.float64)
    x_ND[packing.index_BK[windows.present_BK]] = x_BKD[windows.present_BK]
    padded = encoder(2 * x_BKD + sinusoids(3, x_BKD), mask=torch.ones(3, 3, dtype=torch.bool).triu(1))
    packed = encode(encoder, x_ND, packing, torch.nn.Identity())
    torch.testing.assert_close(packed[packing.index_BK[windows.present_BK]], padded[windows.present_BK])
