"""The curriculum answers once for each epoch; every number of the paper's schedule can be read off here."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recap.errors import ConfigError
from recap.model.config import MAX_CANDIDATES, Stage
from recap.presets import paper, train_preset
from recap.training_config import Curriculum, TrainConfig
from tests.tiny import tiny


@pytest.mark.parametrize("correction_epoch", [120, 100])
def test_the_papers_schedule(correction_epoch: int) -> None:
    """130 epochs: graph from 60 over 20, prior from 80, correction and warm loss from 120 (TKY 100), warm over 10."""
    config = train_preset("paper")
    assert config == paper() and config.epochs == 130
    if correction_epoch == 100:
        config = config.override(["curriculum.correction_epoch=100", "curriculum.warm_epoch=100"])
    for epoch in range(1, 131):
        corrected = epoch >= correction_epoch
        assert config.curriculum.at(epoch) == Stage(
            graph_weight=0.0 if epoch < 60 else min((epoch - 60 + 1) / 20, 1.0),
            prior=epoch >= 80,
            correction=corrected,
            warm_weight=0.5 * min((epoch - correction_epoch + 1) / 10, 1.0) if corrected else 0.0,
            backbone_lr_scale=0.1 if corrected else 1.0,
        )


def test_the_papers_sizes() -> None:
    """App. B.3: widths, dropouts, window, candidates, optimiser."""
    config = paper()
    model = config.model
    assert (model.hidden_dim, model.num_layers, model.num_heads, model.feedforward_dim) == (256, 2, 4, 512)
    assert (model.dropout, model.embedding_dropout, model.output_dropout) == (0.1, 0.3, 0.2)
    assert (model.poi_dim, model.category_dim, model.graph_dim, model.calibration_dim) == (128, 32, 256, 128)
    assert (model.suffix_length, model.num_hops, MAX_CANDIDATES, model.recent_window) == (10, 2, 256, 10)
    optimiser = config.optimiser
    assert (optimiser.learning_rate, optimiser.weight_decay, config.batch_size) == (3e-5, 5e-6, 512)


def test_the_simultaneous_variant_starts_with_everything() -> None:
    """Every epoch is the same: all parts, the full warm weight, no slower backbone."""
    curriculum = Curriculum(staged=False)
    assert {curriculum.at(epoch) for epoch in (1, 50, 130)} == {Stage(warm_weight=0.5)}
    for staged in (True, False):
        curriculum = Curriculum(staged=staged, warm_weight=0)
        assert {curriculum.at(epoch).warm_weight for epoch in range(1, 131)} == {0.0}


def test_what_is_inactive_is_named() -> None:
    """Before epoch 60 nothing but the core acts; at 60 the graph token does; at 120 everything."""
    config, parts = paper(), ["graph_token", "prior", "correction"]
    for epoch, inactive in ((59, parts), (60, parts[1:]), (80, parts[2:]), (120, [])):
        assert config.curriculum.at(epoch).inactive_parts(config.model) == inactive


def test_scaling_keeps_each_stages_share() -> None:
    """130 epochs to 13: 60, 80, 120 become 6, 8, 12, the ramps of 20 and 10 epochs 2 and 1."""
    curriculum = paper().curriculum.scaled(130, 13)
    assert curriculum == Curriculum(
        graph_epoch=6, graph_ramp_epochs=2, prior_epoch=8, correction_epoch=12, warm_epoch=12, warm_ramp_epochs=1
    )


def test_what_acts_from_the_start_does_so_at_any_length() -> None:
    """`feature_curves` has no score but its curves: three times as long it still begins with them."""
    longer = train_preset("feature_curves").with_epochs(24)
    assert longer.curriculum.at(1).prior
    with pytest.raises(ConfigError, match=r"nowhere needs curriculum\.prior_epoch=1, got 2"):
        longer.override(["curriculum.prior_epoch=2", "curriculum.correction_epoch=2"])


@given(st.sampled_from(["paper", "recap"]), st.integers(1, 400))
def test_a_training_of_any_length_still_uses_every_part(name: str, epochs: int) -> None:
    """``--epochs`` never makes a stage vanish, and keeps their order."""
    config = train_preset(name).with_epochs(epochs)
    assert config.epochs == epochs
    last = config.curriculum.at(epochs)
    assert last.inactive_parts(config.model) == Stage().inactive_parts(config.model) and last.warm_weight > 0
    weights = [config.curriculum.at(epoch).graph_weight for epoch in range(1, epochs + 1)]
    assert weights == sorted(weights)


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ({"epochs": 119}, ["correction", "119 epochs"]),
        ({"epochs": 59}, ["graph_token, prior, correction", "59 epochs"]),
        ({"curriculum": {"warm_epoch": 131}}, ["warm_loss", "130 epochs"]),
        ({"curriculum": {"graph_epoch": 90}}, ["ordered", "90, 80, 120, 120"]),
        ({"curriculum": {"correction_epoch": 70}}, ["ordered"]),
        ({"curriculum": {"graph_epoch": 0}}, ["curriculum.graph_epoch", "got 0"]),
        ({"curriculum": {"warm_weight": -0.1}}, ["curriculum.warm_weight", "got -0.1"]),
        ({"curriculum": {"grap_epoch": 3}}, ["unknown field 'curriculum.grap_epoch'"]),
        ({"model": {"num_hops": 0}}, ["model.num_hops"]),
        ({"model": {"prior": {"recency_steps": 0}}}, ["model.prior.recency_steps"]),
        ({"model": {"prior": {"kind": "network"}}}, ["model.prior.kind", "network"]),
        ({"model": {"dropout": 1.0}}, ["model.dropout"]),
        ({"model": {"core_scope": "nowhere", "use_history": False}}, ["core_scope=nowhere and use_history=false"]),
        ({"optimiser": {"learning_rate": float("nan")}}, ["optimiser.learning_rate"]),
        ({"precision": "fp8"}, ["precision", "fp8"]),
        ({"batch_size": "many"}, ["batch_size", "many"]),
    ],
    ids=str,
)
def test_refuses_what_cannot_be_trained(values: dict[str, Any], parts: list[str]) -> None:
    """One line that names the field, what was expected and what came."""
    with pytest.raises(ConfigError) as refusal:
        TrainConfig.parse(values)
    assert "\n" not in str(refusal.value)
    for part in parts:
        assert part in str(refusal.value)


def test_a_part_that_is_off_may_have_any_epoch() -> None:
    """w/o History trains for 60 epochs although the prior would start at 80; the graph still has to get its turn."""
    assert TrainConfig.parse({"epochs": 60, "model": {"use_history": False}}).epochs == 60
    with pytest.raises(ConfigError, match="graph_token"):
        TrainConfig.parse({"epochs": 59, "model": {"use_history": False}})


def test_assignments_from_the_command_line() -> None:
    """``field=value`` reaches nested fields, and is validated as a whole; the command's tests hold the refusals."""
    config = tiny().override(["model.prior.use_count=false", "optimiser.prior_learning_rate=none", "seed=5"])
    assert (config.model.prior.use_count, config.optimiser.prior_learning_rate, config.seed) == (False, None, 5)
    with pytest.raises(ConfigError, match="unknown field"):
        tiny().override(["nothing.at.all=1"])
