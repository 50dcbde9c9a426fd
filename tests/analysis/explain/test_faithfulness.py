"""Faithfulness where the evidence is known, where there is none, and by hand."""

import copy
from functools import cache

import numpy as np
import pytest
import torch

from analysis.explain.edited_case import build_edited_case
from analysis.explain.evidence_items import EvidenceItem, evidence_items, without
from analysis.explain.faithfulness import (
    INFIDELITY_SETS,
    RANDOM_ORDERS,
    conclude,
    faithfulness,
    mean_faithfulness,
    sample_tail,
)
from analysis.explain.leave_one_out import leave_one_out
from recap.evidence.config import EvidenceConfig
from recap.model.recap import Recap
from recap.predictor import Predictor
from tests.analysis.planted import predictor_with, small_predictor, trained_predictor
from tests.checkins import small_dataset
from tests.worlds import small_city, small_training

KEYS = 4


@cache
def key_world() -> Predictor:
    """Noise places and one key, each on a day of its own, then a step from a noise place to the key's goal.

    Only that step is a case, so the key alone decides: its position among the last check-ins is random.
    """
    generator = np.random.default_rng(0)
    rows = []
    for user in range(4):
        hour = float(user)
        for _ in range(160):
            key = int(generator.integers(0, KEYS))
            places = [f"noise{number}" for number in generator.integers(0, 6, 5)]
            places[int(generator.integers(0, 4))] = f"key{key}"
            for place in places:
                rows.append((f"user{user}", place, hour))
                hour += 30.0
            rows.append((f"user{user}", f"goal{key}", hour - 29.0))
    dataset = small_dataset(rows)
    model = {"use_graph": False, "use_history": False, "suffix_length": 5, "hidden_dim": 16, "feedforward_dim": 32}
    config = small_training(
        model=model | {"poi_dim": 12, "dropout": 0.1, "embedding_dropout": 0.1},
        curriculum={"staged": False, "warm_weight": 0.0},
        epochs=8,
        validate_every=8,  # the last epoch is kept: ranks are perfect long before the key is all that counts
    )
    return trained_predictor(dataset, config)


def goal_cases(predictor: Predictor) -> list[int]:
    label = predictor.dataset.pois["poi_id"]
    goals = [str(label[target]).startswith("goal") for target in predictor.cases["target"]]
    return np.flatnonzero(goals).tolist()


def test_the_planted_evidence_comes_first() -> None:
    """In at least .95 of the cases the token whose masking hurts most is the key check-in's.

    Not the visit whose removal hurts most: without any visit an older one moves into the window, at times another key.
    """
    predictor = key_world()
    numbers = goal_cases(predictor)
    assert len(numbers) >= 50
    found = []
    for number in numbers:
        edited_case = build_edited_case(predictor, number)
        told = leave_one_out(edited_case, edited_case.target)
        first = min(told, key=lambda entry: (entry.masked or entry.outcome).logit_change).item
        place = "" if first.poi is None else str(predictor.dataset.pois["poi_id"].iloc[first.poi])
        found.append(place.startswith("key"))
    assert np.mean(found) >= 0.95
    measured = mean_faithfulness(predictor, numbers[:40])
    assert measured.n == 40 and measured.gain > 0.1 and measured.comprehensiveness > 0.3
    assert measured.sufficiency < measured.comprehensiveness


def test_shuffled_weights_do_not_beat_random() -> None:
    """With all weights shuffled the order must not beat random removal by more than .05."""
    predictor = key_world()
    model = copy.deepcopy(predictor.model)
    with torch.no_grad():
        values = torch.cat([parameter.flatten() for parameter in model.parameters()])
        values = values[torch.randperm(len(values), generator=torch.Generator().manual_seed(1))]
        for parameter in model.parameters():
            parameter.copy_(values[: parameter.numel()].view_as(parameter))
            values = values[parameter.numel() :]
    shuffled = Predictor(predictor.checkpoint, predictor.dataset, model)
    assert mean_faithfulness(shuffled, goal_cases(predictor)[:40]).gain <= 0.05


def test_measures_by_hand() -> None:
    """Curves recomputed one forward pass at a time, with the plain definitions."""
    predictor = key_world()
    edited_case = build_edited_case(predictor, goal_cases(predictor)[0])
    target = edited_case.target
    measured = faithfulness(edited_case, target)
    items = evidence_items(edited_case, target)
    alone = predictor.score_counterfactuals([without(edited_case, target, [item]) for item in items])[:, target]
    order = [items[i] for i in torch.argsort(alone, stable=True).tolist()]

    def chance(items: list[EvidenceItem]) -> float:
        (total_P,) = predictor.score_counterfactuals([without(edited_case, target, items)])
        return float(torch.softmax(total_P, 0)[target])

    n = len(order)
    curve = [chance(order[:j]) for j in range(n + 1)]
    kept = [chance(order[j:]) for j in range(1, n + 1)]
    assert measured.deletion_auc == pytest.approx(sum((curve[j] + curve[j + 1]) / 2 for j in range(n)) / n)
    assert measured.comprehensiveness == pytest.approx(sum(curve[0] - value for value in curve[1:]) / n)
    assert measured.sufficiency == pytest.approx(sum(curve[0] - value for value in kept) / n)


def test_the_tail_sample_is_tail() -> None:
    """Cases of steps seen at most once, without repeats, the same for the same seed."""
    predictor = key_world()
    sample = sample_tail(predictor, 30, seed=3)
    assert sample == sample_tail(predictor, 30, seed=3) and len(set(sample)) == len(sample)
    assert (predictor.cases["transition_count"].iloc[sample] <= 1).all()


def additive_world() -> Predictor:
    """The key world's places, told by a model whose only words are evidence: every score is a sum."""

    def silence(model: Recap) -> None:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if not name.startswith("evidence"):
                    parameter.zero_()
            assert model.evidence is not None
            model.evidence.weight_F.copy_(torch.linspace(0.2, 1.4, len(model.evidence.names)))

    return predictor_with(small_city(), silence, evidence=EvidenceConfig())


def test_on_a_sum_the_additive_order_is_as_good_and_the_words_say_so() -> None:
    """Nothing is left to know beyond the terms: no gain over them, no infidelity, equal weights do as much."""
    predictor = additive_world()
    measured = mean_faithfulness(predictor, range(0, len(predictor.cases), 3))
    assert measured.gain > 0.01 and measured.gain_over_additive == pytest.approx(0.0, abs=1e-9)
    assert measured.infidelity == pytest.approx(0.0, abs=1e-12) and abs(measured.placebo_gap) < 0.05
    assert "reach 100.0 % of the gain" in conclude(measured) and "mostly a sum" in conclude(measured)


def test_in_the_network_the_additive_order_knows_nothing() -> None:
    """The key world has no additive term at all: the baseline is chance, and leave-one-out beats it."""
    predictor = key_world()
    measured = mean_faithfulness(predictor, goal_cases(predictor)[:30])
    assert measured.additive_auc == pytest.approx(measured.random_auc) and measured.gain_over_additive > 0.1
    assert abs(measured.placebo_gap) < 0.05, "one item has all the weight, so that a placebo of equal weight holds it"
    assert measured.infidelity > 0.01
    assert measured.stability is not None and 0.3 < measured.stability <= 1.0
    assert "also finds what matters inside the network" in conclude(measured)
    flat = measured.model_copy(update={"gain": 0.001})
    assert conclude(flat) == "The order of leave-one-out is no better than chance here."


def test_infidelity_by_hand() -> None:
    """Squared difference between the sum of single effects and the joint effect, over the same random sets."""
    predictor = small_predictor()
    edited_case = build_edited_case(predictor, 3)
    target, items = edited_case.target, evidence_items(edited_case, edited_case.target)

    def logit(chosen: list[EvidenceItem]) -> float:
        (total_P,) = predictor.score_counterfactuals([without(edited_case, target, chosen)])
        return float(total_P[target])

    whole = logit([])
    weights = [whole - logit([item]) for item in items]
    generator = np.random.default_rng([0, 3, target])
    for _ in range(RANDOM_ORDERS):
        generator.permutation(len(items))
    squares = []
    for _ in range(INFIDELITY_SETS):
        chosen = np.flatnonzero(generator.random(len(items)) < 0.5)
        lost = whole - logit([items[i] for i in chosen])
        squares.append((sum(weights[i] for i in chosen) - lost) ** 2)
    assert faithfulness(edited_case, target).infidelity == pytest.approx(np.mean(squares), rel=1e-6)
