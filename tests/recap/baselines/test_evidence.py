"""The evidence ranker: an exact sum, the right optimum, faithful on disk, and better than counting where habits are."""

import dataclasses
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from recap.baselines.building import build_baseline, cached_evidence_ranker
from recap.baselines.evidence import EvidenceRanker, build_problem, draw_cases, within_budget
from recap.baselines.evidence_config import EvidenceRankerConfig, cache_file
from recap.baselines.log_linear import feature_scales, fit_log_linear
from recap.evidence.config import EvidenceConfig
from recap.evidence.features import EvidenceFeatures

from recap import columns as c
from recap.baselines.counting import VisitCount
from recap.data.dataset import Dataset
from recap.errors import CheckpointError, ConfigError, DataError, FormatVersionError, MissingTensorError, RecapError
from recap.evaluation.evaluate import evaluate
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.storage.tensors import load_tensors, save_tensors
from recap.storage.user_folder import HOME_VARIABLE
from tests.checkins import small_dataset, split_dataset
from tests.nyc import needs_nyc, nyc_dataset
from tests.worlds import batch_of, small_city

CONFIG = EvidenceRankerConfig()
EVERY = EvidenceRankerConfig(latest_share=1.0)


@cache
def city() -> tuple[Dataset, TransitionGraph]:
    return small_city(), TransitionGraph.from_dataset(small_city())


@cache
def fitted() -> EvidenceRanker:
    return EvidenceRanker.fit(*city())


def habit_world(shuffled: bool, num_users: int = 25, seed: int = 5) -> Dataset:
    """Users with six places each out of thirty, going around them in an order of their own.

    Each place is visited equally often, so visits say nothing. Shuffled: every step goes to any of the six places, so
    the order says nothing either.
    """
    generator = np.random.default_rng(seed)
    rows = []
    for user in range(num_users):
        places = generator.choice(30, 6, replace=False)
        hour = 0.0
        for place in generator.choice(places, 96) if shuffled else np.tile(places, 16):
            rows.append((f"u{user:02}", f"p{place:02}", hour))
            hour += float(generator.uniform(1, 9))
    return small_dataset(rows)


@pytest.mark.parametrize("shuffled", [False, True])
def test_own_habits_beat_visit_counts_until_they_are_shuffled_away(shuffled: bool) -> None:
    """In a fixed round the user's own s -> d transitions tell the next place; in a random one nothing does."""
    dataset = habit_world(shuffled)
    graph = TransitionGraph.from_dataset(dataset)
    evidence = evaluate(EvidenceRanker.fit(dataset, graph), dataset, graph).metrics["all"]
    visits = evaluate(VisitCount(dataset), dataset, graph).metrics["all"]
    assert visits["hr1"] is not None and evidence["hr1"] is not None
    edge = evidence["hr1"] - visits["hr1"]
    assert edge < 0.1 if shuffled else edge > 0.6


def test_the_order_is_what_the_ranker_uses() -> None:
    """Own transitions weigh much where they tell the next place, little where they do not."""
    weights = {}
    for shuffled in (False, True):
        dataset = habit_world(shuffled)
        ranker = EvidenceRanker.fit(dataset, TransitionGraph.from_dataset(dataset))
        weights[shuffled] = ranker.packed_weights["own_transitions"]
    assert weights[False] > 1.0
    assert abs(weights[True]) < 0.3


def test_transitions_of_others_are_not_trusted_for_being_the_users_own() -> None:
    """Everyone wanders at random among private places: the transitions of others say nothing about a user.

    Counts that contain the user's own transitions make them look telling, because the case's own is always among them.
    """
    generator = np.random.default_rng(1)
    rows = [
        (f"u{user:02}", f"p{generator.integers(4) + 3 * user:03}", 5.0 * step)
        for user in range(30)
        for step in range(50)
    ]
    dataset = small_dataset(rows)
    graph = TransitionGraph.from_dataset(dataset)
    features = EvidenceFeatures.from_dataset(dataset, graph, CONFIG.features)
    empty = torch.zeros(0, dtype=torch.int64)
    careless = dataclasses.replace(
        features, others=dataclasses.replace(features.others, own_key_K=empty, own_count_K=empty)
    )
    place = CONFIG.features.packed_features.index("others_transitions")
    weights = []
    for candidates in (features, careless):
        problem = build_problem(candidates, CheckinTensors.from_dataset(dataset), draw_cases(dataset, EVERY, 0))
        weights.append(float(fit_log_linear(problem, l2=CONFIG.l2, max_iterations=100).packed_F[place]))
    assert weights[0] < 0.5
    assert weights[1] > weights[0] + 0.5


def test_scores_are_exact_sums_of_named_parts() -> None:
    """Total = sum of parts, part = weight times feature, float64, every POI scored, ties by popularity."""
    ranker = fitted()
    batch = batch_of(city()[0])
    scores = ranker.score(batch)
    assert scores.names == [*ranker.dense_weights, *ranker.packed_weights]
    assert scores.total.shape == (len(batch), city()[0].num_pois)
    assert scores.total.dtype == torch.float64
    torch.testing.assert_close(scores.total, torch.stack(list(scores.parts.values())).sum(0), rtol=0, atol=1e-12)
    evidence = ranker.features.of(batch)
    for name, weight in ranker.dense_weights.items():
        assert torch.equal(scores.dense[name], (weight * evidence.dense[name]).expand(scores.total.shape))
    for column, (name, weight) in enumerate(ranker.packed_weights.items()):
        assert torch.equal(scores.packed[name], weight * evidence.packed_CF[:, column])
    assert scores.tie_break_P is not None
    assert scores.tie_break_P.tolist() == city()[0].pois[c.TRAIN_CHECKINS].tolist()


def test_loss_and_gradient_equal_the_full_softmax() -> None:
    """The sum over the catalogue, taken once per source, against torch's cross-entropy and its gradient."""
    dataset, graph = city()
    features = EvidenceFeatures.from_dataset(dataset, graph, CONFIG.features)
    checkins, rows = CheckinTensors.from_dataset(dataset), draw_cases(dataset, EVERY, 0)[::3]
    problem = build_problem(features, checkins, rows)
    generator = torch.Generator().manual_seed(0)
    dense_D = torch.randn(2, generator=generator, dtype=torch.float64)
    packed_F = torch.randn(len(CONFIG.features.packed_features), generator=generator, dtype=torch.float64)
    loss, dense_gradient_D, packed_gradient_F = problem.loss_and_gradient(dense_D, packed_F)

    weights = dense_D.clone().requires_grad_(), packed_F.clone().requires_grad_()
    evidence = features.of(batch_of(dataset, rows))
    total = sum(weight * value for weight, value in zip(weights[0], evidence.dense.values(), strict=True))
    total = total.index_put((evidence.case_C, evidence.poi_C), evidence.packed_CF @ weights[1], accumulate=True)
    expected = torch.nn.functional.cross_entropy(total, checkins.poi_T[rows + 1])
    expected.backward()
    assert loss == pytest.approx(float(expected.detach()), rel=1e-6)
    torch.testing.assert_close(dense_gradient_D, weights[0].grad, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(packed_gradient_F, weights[1].grad, rtol=1e-5, atol=1e-6)


def test_fit_finds_the_minimum() -> None:
    """No single weight can be moved to lower loss plus penalty."""
    dataset, graph = city()
    features = EvidenceFeatures.from_dataset(dataset, graph, CONFIG.features)
    problem = build_problem(features, CheckinTensors.from_dataset(dataset), draw_cases(dataset, EVERY, 0))
    fit = fit_log_linear(problem, l2=0.0, max_iterations=500)
    assert fit.converged
    _, dense_D, packed_F = problem.loss_and_gradient(fit.dense_D, fit.packed_F)
    assert float(torch.cat([dense_D, packed_F]).abs().max()) < 1e-3


def test_penalty_holds_weights_down() -> None:
    """At the minimum the loss's gradient is -l2 x weight x deviation^2; ten times the penalty, smaller weights."""
    dataset, graph = city()
    features = EvidenceFeatures.from_dataset(dataset, graph, CONFIG.features)
    problem = build_problem(features, CheckinTensors.from_dataset(dataset), draw_cases(dataset, EVERY, 0))
    scale = torch.from_numpy(feature_scales(problem))
    sizes = []
    for l2 in (0.1, 1.0):
        fit = fit_log_linear(problem, l2=l2, max_iterations=500)
        weight = torch.cat([fit.dense_D, fit.packed_F])
        gradient = torch.cat(problem.loss_and_gradient(fit.dense_D, fit.packed_F)[1:])
        torch.testing.assert_close(gradient, -l2 * weight * scale**2, rtol=0, atol=1e-3)
        sizes.append(float((weight * scale).norm()))
    assert sizes[1] < sizes[0]


def test_fitted_on_the_latest_training_cases() -> None:
    """A quarter of the cases, none before any that is left out; fewer are drawn from these."""
    dataset, _ = city()
    rows, target_time = dataset.cases(c.TRAIN), dataset.checkins[c.TIME]
    latest = draw_cases(dataset, EvidenceRankerConfig(latest_share=0.25), 0).numpy()
    assert len(latest) == round(len(rows) / 4)
    assert np.all(np.diff(latest) > 0) and np.isin(latest, rows).all()
    assert target_time[latest + 1].min() >= target_time[np.setdiff1d(rows, latest) + 1].max()
    assert draw_cases(dataset, EVERY, 0).tolist() == rows.tolist()
    few = draw_cases(dataset, EvidenceRankerConfig(latest_share=0.25, num_cases=10), 0).numpy()
    assert len(few) == 10 and np.isin(few, latest).all()


def test_the_cases_stay_within_a_number_of_candidates() -> None:
    """Half the candidates of all cases leave about half the cases, drawn at random; where all fit, all are used."""
    dataset, graph = city()
    checkins, rows = CheckinTensors.from_dataset(dataset), draw_cases(dataset, EVERY, 0)
    features = EvidenceFeatures.from_dataset(dataset, graph, EVERY.features)
    every = len(build_problem(features, checkins, rows).case_C)
    assert within_budget(features, checkins, rows, 2 * every, 0).tolist() == rows.tolist()
    half = within_budget(features, checkins, rows, every // 2, 0)
    assert 0.4 * every < len(build_problem(features, checkins, half).case_C) < 0.6 * every
    assert half.tolist() == sorted(set(half.tolist()) & set(rows.tolist()))
    assert half.tolist() != within_budget(features, checkins, rows, every // 2, 1).tolist()
    assert EvidenceRanker.fit(dataset, graph, EvidenceRankerConfig(latest_share=1.0, num_candidates=every // 2)).facts[
        "cases"
    ] == len(half)


def test_same_seed_same_weights() -> None:
    """Bit-equal for one seed; another seed draws other cases."""
    config = EvidenceRankerConfig(latest_share=1.0, num_cases=80)
    one, two, other = (EvidenceRanker.fit(*city(), config, seed=seed) for seed in (1, 1, 2))
    assert one.packed_weights == two.packed_weights and one.dense_weights == two.dense_weights
    assert one.packed_weights != other.packed_weights
    assert one.facts["cases"] == 80


def test_scores_before_saving_equal_scores_after_loading(tmp_path: Path) -> None:
    """To the bit, with the configuration that was used."""
    config = EvidenceRankerConfig(features=EvidenceConfig(recency_days=(3.0,), gain=2.0), num_cases=30)
    ranker = EvidenceRanker.fit(*city(), config, seed=4)
    ranker.save(tmp_path / "ranker.safetensors")
    again = EvidenceRanker.load(tmp_path / "ranker.safetensors", *city())
    assert again.config == config
    assert again.facts == ranker.facts
    batch = batch_of(city()[0])
    assert torch.equal(ranker.score(batch).total, again.score(batch).total)


def test_refuses_what_it_cannot_load(tmp_path: Path) -> None:
    """Another dataset, a newer format, a missing weight, another model's file, no such file."""
    path = tmp_path / "ranker.safetensors"
    fitted().save(path)
    tensors, metadata = load_tensors(path)
    other = small_city(seed=1)
    with pytest.raises(RecapError, match="belongs to dataset"):
        EvidenceRanker.load(path, other, TransitionGraph.from_dataset(other))
    save_tensors(tensors, path, metadata | {"format_version": 99})
    with pytest.raises(FormatVersionError, match="format 99"):
        EvidenceRanker.load(path, *city())
    save_tensors({"dense": tensors["dense"], "packed": tensors["packed"][1:]}, path, metadata)
    with pytest.raises(MissingTensorError, match="packed features"):
        EvidenceRanker.load(path, *city())
    save_tensors(tensors, path, metadata | {"packed_features": [*reversed(metadata["packed_features"])]})
    with pytest.raises(MissingTensorError, match="not those of this version"):
        EvidenceRanker.load(path, *city())
    save_tensors(tensors, path, {"model": "recap"})
    with pytest.raises(CheckpointError, match="no evidence ranker"):
        EvidenceRanker.load(path, *city())
    with pytest.raises(CheckpointError, match="cannot be read"):
        EvidenceRanker.load(tmp_path / "missing.safetensors", *city())


def test_refuses_unknown_and_impossible_configuration() -> None:
    """Nothing to fit on, an unknown field, a value out of range."""
    for wrong in ({"num_cases": 0}, {"latest_share": 0.0}, {"l2": -1.0}, {"learning_rate": 0.1}):
        with pytest.raises(ConfigError):
            EvidenceRankerConfig.parse(wrong)
    no_training = split_dataset([(0, [(0, c.TRAIN)]), (1, [(0, c.TEST), (1, c.TEST)])], num_pois=2)
    with pytest.raises(DataError, match="no case to fit on"):
        draw_cases(no_training, CONFIG, 0)


def test_fitted_once_and_then_read_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file in the user's cache for data, configuration and seed; a damaged one is written anew."""
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    first = build_baseline("evidence", *city())
    assert isinstance(first, EvidenceRanker)
    (file,) = (tmp_path / "cache").iterdir()
    written = file.stat().st_mtime_ns
    second = build_baseline("evidence", *city())
    assert isinstance(second, EvidenceRanker)
    assert second.packed_weights == first.packed_weights
    assert file.stat().st_mtime_ns == written

    file.write_text("damaged")
    assert cached_evidence_ranker(*city()).packed_weights == first.packed_weights
    assert EvidenceRanker.load(file, *city()).packed_weights == first.packed_weights

    keys = [(CONFIG, 0), (CONFIG, 1), (EvidenceRankerConfig(l2=1.0), 0)]
    assert len({cache_file(city()[0].hash, config, seed) for config, seed in keys}) == 3
    assert cache_file(small_city(seed=1).hash, CONFIG, 0) != file


def test_a_fit_that_is_not_to_be_kept_leaves_the_disk_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder is made, and a damaged file stays where it lies."""
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    assert cached_evidence_ranker(*city(), CONFIG, keep=False).packed_weights == fitted().packed_weights
    assert not list(tmp_path.iterdir())
    file = cache_file(city()[0].hash, CONFIG, 0)
    assert file is not None
    file.parent.mkdir()
    file.write_text("damaged")
    cached_evidence_ranker(*city(), CONFIG, keep=False)
    assert file.read_text() == "damaged" and list(file.parent.iterdir()) == [file]


def test_works_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's folder that cannot be made costs the fit, not the answer."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "file" / "folder"))
    assert cached_evidence_ranker(*city()).packed_weights == fitted().packed_weights


@pytest.mark.nyc
@pytest.mark.slow
@needs_nyc
def test_nyc_reaches_what_it_must() -> None:
    """HR@1 .24, HR@20 .82 and MRR .39 on NYC's test cases, and above every counting baseline over all and tail."""
    dataset = nyc_dataset()
    graph = TransitionGraph.from_dataset(dataset)
    found = evaluate(EvidenceRanker.fit(dataset, graph), dataset, graph).metrics
    best = {"all": (0.2222, 0.8100, 0.4709, 0.3728), "tail": (0.1372, 0.7160, 0.3671, 0.2694)}
    for group, values in best.items():
        for name, value in zip(("hr1", "hr20", "ndcg20", "mrr"), values, strict=True):
            assert (found[group][name] or 0.0) > value, (group, name)
    for name, floor in (("hr1", 0.24), ("hr20", 0.82), ("mrr", 0.39)):
        assert (found["all"][name] or 0.0) >= floor
