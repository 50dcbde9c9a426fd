"""The sampled softmax: with every place drawn it is the whole one, its weights are unbiased, it trains and resumes."""

from math import exp, log
from pathlib import Path
from typing import Any

import pytest
import torch

from recap.baselines import COUNTING_BASELINES, FEATURE_CURVES
from recap.checkpoint import MODEL_CARD
from recap.data.dataset import Dataset
from recap.errors import ConfigError, DataError
from recap.evaluation.scoring import evaluate
from recap.history.graph import TransitionGraph
from recap.history.tensors import CaseBatch
from recap.model.config import Stage
from recap.model.sampled import SampledScores, sampled_scores
from recap.scores import Scorer
from recap.storage.tensors import load_tensors
from recap.training import run
from recap.training.baselines import build_baseline
from recap.training.loop import STATE_FILE
from recap.training.losses import NegativeSampler, sampled_losses, training_losses
from recap.training.run import train
from recap.training.trainer import Trainer
from recap.training_config import SampledSoftmax, TrainConfig
from tests.recap.training.test_resume import session
from tests.worlds import CURVES, batch_of, small_city, small_recap, small_training

STAGES = [Stage(warm_weight=0.5), Stage(warm_weight=0.0, correction=False), Stage(graph_weight=0.0, prior=False)]


KINDS: dict[str, dict[str, Any]] = {
    "paper": {},
    "prior alone": {"core_scope": "nowhere"},
    "curves": CURVES,
    "core on new places": CURVES | {"core_scope": "unvisited"},
    "curves alone": CURVES | {"core_scope": "nowhere", "use_correction": False},
    "no history": CURVES | {"core_scope": "unvisited", "use_history": False},
}


@pytest.mark.parametrize("stage", STAGES, ids=["all", "no correction", "core alone"])
@pytest.mark.parametrize("kind", KINDS)
def test_with_every_place_drawn_it_is_the_whole_softmax(kind: str, stage: Stage) -> None:
    """Losses and every gradient are those of Eqs. 16-19; places that a case has scored already count once."""
    if KINDS[kind].get("core_scope") == "nowhere" and not stage.prior:
        pytest.skip("nothing scores")
    dataset = small_city()
    batch = batch_of(dataset, torch.arange(5, 60))
    cases = CaseBatch(batch.checkins, batch.row_B)
    warm_B = torch.arange(len(batch)) % 3 == 0
    found = []
    for sampled in (False, True):
        model = small_recap(dataset, **KINDS[kind])
        if sampled:
            scores = sampled_scores(model, cases, stage, torch.arange(dataset.num_pois))
            losses = sampled_losses(scores, torch.zeros(dataset.num_pois), warm_B, stage.warm_weight)
        else:
            losses = training_losses(model(batch, stage), cases.target_B, warm_B, stage.warm_weight)
        losses[0].backward()
        gradients = {
            name: torch.zeros_like(value) if value.grad is None else value.grad.to_dense()
            for name, value in model.named_parameters()
        }
        found.append((losses[0].detach(), losses[1], gradients))
    (main, warm, whole), (sampled_main, sampled_warm, parts) = found
    torch.testing.assert_close(sampled_main, main, rtol=1e-6, atol=0)
    torch.testing.assert_close(sampled_warm, warm, rtol=1e-6, atol=0)
    assert float(main) > 0 and (float(warm) > 0) == (stage.warm_weight > 0)
    for name, gradient in whole.items():
        torch.testing.assert_close(parts[name], gradient, rtol=1e-4, atol=1e-8, msg=name)


def test_the_loss_by_hand() -> None:
    """One case: target 1, own place 2 with a prior of 1; of two places drawn one is scored already, one stands for 3.

    Scores 2, 0 + 1 and 0.5, so that the loss is log(e^2 + e^1 + 3 e^0.5) - 2.
    """
    scores = SampledScores(
        case_I=torch.tensor([0, 0]),
        target_B=torch.tensor([0]),
        core_I=torch.tensor([2.0, 0.0]),
        rest_I=torch.tensor([0.0, 1.0]),
        core_BU=torch.tensor([[0.0, 0.4]]),
        rest_BU=torch.tensor([[0.0, 0.1]]),
        is_scored_BU=torch.tensor([[True, False]]),
    )
    losses = sampled_losses(scores, torch.tensor([7.0, log(3.0)]), torch.tensor([False]), 0.5)
    assert float(losses[0]) == pytest.approx(log(exp(2) + exp(1) + 3 * exp(0.5)) - 2, rel=1e-6)


def test_places_stand_for_all_places() -> None:
    """Over many draws every place has weight 1 in the mean, however popular; the sum of any f is met."""
    torch.manual_seed(0)
    popularity_P = torch.tensor([0.0, 1.0, 10.0, 100.0, 1000.0])
    sampler = NegativeSampler(popularity_P, SampledSoftmax(popular=3, uniform=2))
    weight_P, draws = torch.zeros(5, dtype=torch.float64), 20_000
    for _ in range(draws):
        poi_U, log_weight_U = sampler.draw()
        assert poi_U.tolist() == sorted(set(poi_U.tolist()))
        weight_P[poi_U] += log_weight_U.exp()
    assert (weight_P / draws).tolist() == pytest.approx([1.0] * 5, abs=0.03)
    # A place that nobody visited is drawn uniformly alone, 2 / 5 times a batch; its weight is 5 / 2 then.
    _, log_weight_U = NegativeSampler(popularity_P, SampledSoftmax(popular=0, uniform=1)).draw()
    assert log_weight_U.exp().tolist() == pytest.approx([5.0])


SAMPLED = TrainConfig.parse(small_training().model_dump() | {"sampled_softmax": {"popular": 4, "uniform": 4}})


def trained(folder: Path, config: TrainConfig, stop_after: int | None = None) -> dict[str, bytes]:
    session(folder, config, stop_after=stop_after)
    state, _ = load_tensors(folder / STATE_FILE)
    return {name: tensor.numpy().tobytes() for name, tensor in state.items()}


def test_the_curves_stand_next_to_a_training_but_not_among_too_many_places(tmp_path: Path) -> None:
    """With the whole softmax its test metrics are those of `recap evaluate`; a sampled one fits none."""
    dataset, cpu = small_city(), torch.device("cpu")
    graph = TransitionGraph.from_dataset(dataset)
    for name, config in (("whole", small_training(epochs=3)), ("sampled", SAMPLED)):
        checkpoint = train(dataset, config, tmp_path / name, device=cpu)
        others = checkpoint.read_summary()["baselines"]
        assert others.keys() == ({FEATURE_CURVES} if name == "whole" else set()) | set(COUNTING_BASELINES)
        assert ("| feature_curves | tail |" in (tmp_path / name / MODEL_CARD).read_text("utf-8")) == (name == "whole")
        for baseline in others:
            assert others[baseline] == evaluate(build_baseline(baseline, dataset, graph), dataset, graph).metrics


def test_a_baseline_that_fails_costs_no_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor do too many places for a fit: the others stand next to the model, and the log says which does not."""

    def failing(name: str, dataset: Dataset, graph: TransitionGraph, **options: Any) -> Scorer:
        if name == FEATURE_CURVES:
            raise DataError("the training split has no case to fit on")
        return build_baseline(name, dataset, graph, **options)

    monkeypatch.setattr(run, "build_baseline", failing)
    checkpoint = train(small_city(), small_training(epochs=3), tmp_path / "out", device=torch.device("cpu"))
    assert checkpoint is not None and checkpoint.read_summary()["baselines"].keys() == set(COUNTING_BASELINES)
    assert "feature_curves cannot be shown with the model: the training split has no case" in caplog.text
    assert FEATURE_CURVES in run.baselines_shown(small_training(), small_city())
    monkeypatch.setattr(run, "MOST_PLACES", small_city().num_pois - 1)
    assert run.baselines_shown(small_training(), small_city()) == COUNTING_BASELINES


@pytest.mark.parametrize("kind", ["paper", "core on new places", "curves alone"])
@pytest.mark.parametrize("sampled", [False, True])
def test_it_learns_and_a_cut_changes_nothing(kind: str, sampled: bool, tmp_path: Path) -> None:
    """Stopped in the middle of an epoch and continued: weights, knots and optimisers' states to the bit."""
    changes = {"staged": False} if kind == "curves alone" else {}
    config = small_training(model=KINDS[kind], curriculum=changes)
    if sampled:
        config = TrainConfig.parse(config.model_dump() | {"sampled_softmax": {"popular": 4, "uniform": 4}})
    whole = trained(tmp_path / "whole", config)
    assert any(name.startswith("optimiser.") for name in whole)
    trained(tmp_path / "cut", config, stop_after=4)
    assert trained(tmp_path / "cut", config) == whole


def test_rows_that_no_case_touched_stand_still(tmp_path: Path) -> None:
    """One step: places that were neither scored nor walked over keep their weights and have no gradient."""
    trainer = Trainer(small_city(), SAMPLED, tmp_path, torch.device("cpu"))
    model, before = trainer.model, trainer.model.core.output.weight.detach().clone()
    trainer.begin_epoch(1)
    trainer._learn(slice(0, 2))
    gradient = model.core.output.weight.grad
    assert gradient is not None and gradient.is_sparse
    touched = set(gradient.coalesce().indices()[0].tolist())
    changed = set((model.core.output.weight.detach() != before).any(1).nonzero()[:, 0].tolist())
    assert changed <= touched and 0 < len(changed) < len(before)


def test_a_part_that_is_left_out_begins_from_its_defaults() -> None:
    """``--set sampled_softmax.popular=4`` switches it on; ``none`` switches it off again; others stay refused."""
    config = small_training()
    assert config.sampled_softmax is None
    given = config.override(["sampled_softmax.popular=4"]).sampled_softmax
    assert given == SampledSoftmax(popular=4)
    assert SAMPLED.override(["sampled_softmax=none"]).sampled_softmax is None
    for wrong in ("sampled_softmax.many=4", "seed.more=1", "nothing.more=1"):
        with pytest.raises(ConfigError, match=f"unknown field '{wrong[:-2]}'"):
            config.override([wrong])


def test_what_it_does_not_go_with() -> None:
    """Smoothing needs every place, and without curves nothing says which places are new: refused with both names."""
    values = SAMPLED.model_dump()
    with pytest.raises(ConfigError, match=r"does not go with label_smoothing, model\.core_scope unvisited without"):
        TrainConfig.parse(values | {"label_smoothing": 0.1, "model": values["model"] | {"core_scope": "unvisited"}})
    TrainConfig.parse(values | {"model": values["model"] | CURVES | {"core_scope": "unvisited"}})
