"""Worlds with one planted signal: RECAP finds it, loses it with the part that carries it, and finds none in noise."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.learn.toy_lesson import toy_config
from recap import columns as c
from recap.data.cleaning import DataConfig
from recap.data.dataset import Dataset
from recap.evaluation.cases import describe_cases
from recap.history.graph import TransitionGraph
from recap.training import run
from recap.training.run import train
from tests.checkins import small_dataset

Walk = list[str]
HOURS_BETWEEN_WALKS = 30.0
SEEDS = pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 1)])


@pytest.fixture(autouse=True)
def _counters_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No feature curves are fitted for each world."""
    monkeypatch.setattr(run, "MOST_PLACES", 0)


def city_of(walks: list[tuple[str, Walk]], num_train: int, num_val: int) -> Dataset:
    """Walks of (user, places) in time order, each a trajectory; the first are training, then validation, then test."""
    rows = [
        (user, place, HOURS_BETWEEN_WALKS * number + step)
        for number, (user, walk) in enumerate(walks)
        for step, place in enumerate(walk)
    ]
    lengths = np.cumsum([len(walk) for _, walk in walks])
    # Half a check-in more, so that rounding cannot move a border.
    config = DataConfig(
        min_poi_checkins=1,
        min_user_checkins=1,
        min_trajectory_length=1,
        train_end=(lengths[num_train - 1] + 0.5) / len(rows),
        val_end=(lengths[num_train + num_val - 1] + 0.5) / len(rows),
    )
    return small_dataset(rows, config)


def two_hop_world(seed: int) -> Dataset:
    """Groups of places around one destination each, where the step to it is taken over a middle place or directly.

    In each of 20 groups 32 sources lead to two middle places of their own, and those to the group's destination. 30
    of the sources also lead there directly, once: that teaches what a two-step walk is worth. The other two do so in
    validation and test only. Nobody comes to a place twice, and every place's middles are its alone, so nothing but
    A^2 ties such a source to its destination. There are many users, so that a user's token cannot tell the destination
    as the one of few where that user has not been.
    """
    generator = np.random.default_rng(seed)
    names = [f"place{number}" for number in generator.permutation(20 * (1 + 32 * 3))]
    training: list[Walk] = []
    held_out: list[Walk] = []
    for _ in range(20):
        destination = names.pop()
        for number in range(32):
            source, *middles = (names.pop() for _ in range(3))
            training += [walk for middle in middles for walk in ([source, middle], [middle, destination])]
            (training if number < 30 else held_out).append([source, destination])
    places_of: dict[str, set[str]] = {f"user{number}": set() for number in range(600)}
    users = list(places_of)
    walks = []
    for part in (training, held_out, held_out):
        for index in generator.permutation(len(part)):
            walk = part[index]
            user = next(users[u] for u in generator.permutation(len(users)) if not places_of[users[u]] & set(walk))
            places_of[user] |= set(walk)
            walks.append((user, walk))
    return city_of(walks, len(training), len(held_out))


def revisit_world(seed: int) -> Dataset:
    """Forty users who take to four random places for a while, then to four others.

    Each goes from one of the four to any other of them, twelve times, ten times over. Which places are meant shows in
    the user's own last visits alone: no transition and no user embedding of the training period says it.
    """
    generator = np.random.default_rng(seed)
    walks = []
    for _ in range(10):
        for user in range(40):
            favourites = generator.choice(100, 4, replace=False)
            walk: list[int] = []
            for _ in range(12):
                walk.append(int(generator.choice([place for place in favourites if walk[-1:] != [place]])))
            walks.append((f"user{user}", [f"place{place}" for place in walk]))
    return city_of(walks, 320, 40)


def noise_world(seed: int) -> Dataset:
    """Forty users who go anywhere: every next place is one of a hundred, with equal probability."""
    generator = np.random.default_rng(seed)
    walks = [
        (f"user{user}", [f"place{place}" for place in generator.integers(0, 100, 12)])
        for _ in range(10)
        for user in range(40)
    ]
    return city_of(walks, 320, 40)


def trained_on(dataset: Dataset, folder: Path, epochs: int, seed: int, **model: Any) -> dict[str, dict[str, float]]:
    """Test metrics over all cases of a RECAP trained for seconds, and of the counting baselines next to it.

    The Transformer sees the current place alone: in these worlds what it could learn from more is not the question.
    """
    changes = ["latest_share=1.0", "model.embedding_dropout=0.8"]
    changes += [f"model.{name}={value}" for name, value in model.items()]
    config = toy_config(seed=seed, epochs=epochs).override(changes)
    checkpoint = train(dataset, config, folder, device=torch.device("cpu"))
    summary: Any = checkpoint.read_summary()
    return {"recap": summary["test"]["all"], **{name: groups["all"] for name, groups in summary["baselines"].items()}}


@SEEDS
def test_a_two_hop_signal_is_found_and_needs_the_graph(seed: int, tmp_path: Path) -> None:
    """Forty unseen pairs with a two-step walk and no revisit: RECAP ranks nearly all first, Markov none."""
    dataset = two_hop_world(seed)
    cases = describe_cases(dataset, TransitionGraph.from_dataset(dataset), c.TEST)
    assert len(cases) == 40 and cases["two_step_walk"].all()
    assert not cases["transition_count"].any() and not cases["in_history"].any()

    whole = trained_on(dataset, tmp_path / "whole", 6, seed)
    without = trained_on(dataset, tmp_path / "without", 3, seed, use_graph=False)
    assert whole["markov"]["hr1"] == 0 and whole["visit_count"]["mrr"] < 0.1
    assert whole["recap"]["hr1"] > 0.8 and whole["recap"]["mrr"] > 0.9
    # Without the graph only the twenty destinations' popularity is left: one of twenty, MRR H(20) / 20 = .18.
    assert without["recap"]["hr1"] < 0.2
    assert abs(without["recap"]["mrr"] - without["popularity"]["mrr"]) < 0.1


@SEEDS
def test_a_revisit_signal_is_found_and_needs_the_history(seed: int, tmp_path: Path) -> None:
    """The four places of the last days: RECAP has most targets among its first five, Markov and chance have few."""
    dataset = revisit_world(seed)
    assert len(dataset.cases(c.TEST)) == 440

    whole = trained_on(dataset, tmp_path / "whole", 2, seed)
    without = trained_on(dataset, tmp_path / "without", 2, seed, use_history=False)
    assert whole["recap"]["hr5"] > 0.6
    assert whole["recap"]["mrr"] > 4 * whole["markov"]["mrr"]
    for scorer in (whole["markov"], without["recap"]):
        assert abs(scorer["hr5"] - 0.05) < 0.05


@SEEDS
def test_in_noise_there_is_nothing_to_find(seed: int, tmp_path: Path) -> None:
    """440 cases, 100 equal places: HR@K is K/100 and MRR H(100)/100 = 0.052, within four standard errors."""
    scores = trained_on(noise_world(seed), tmp_path / "noise", 3, seed)
    assert scores["recap"]["n"] == 440
    for name in ("recap", "markov", "visit_count"):
        for k in (1, 5, 20):
            assert abs(scores[name][f"hr{k}"] - k / 100) < 4 * np.sqrt(k / 100 * (1 - k / 100) / 440), (name, k)
        # The standard deviation of 1 / rank over ranks 1 to 100 is 0.117.
        assert abs(scores[name]["mrr"] - 0.0519) < 4 * 0.117 / np.sqrt(440), name
