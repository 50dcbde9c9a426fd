"""Parameter groups: who learns how fast, and what the backbone's scale applies to."""

from typing import Any

import pytest

from recap.model.config import Stage
from recap.training.optimiser import build_optimiser, set_learning_rates
from recap.training_config import OptimiserConfig
from tests.worlds import CURVES, small_city, small_recap


@pytest.mark.parametrize(
    "changes",
    [{}, {"use_history": False}, {"use_graph": False}, CURVES, CURVES | {"core_scope": "nowhere"}],
    ids=str,
)
def test_every_parameter_is_in_exactly_one_group(changes: dict[str, Any]) -> None:
    """Prior: its scalars or curves, and lambda_corr; calibration: its networks; backbone: the rest, E_poi included."""
    model = small_recap(small_city(), **changes)
    optimiser = build_optimiser(model, OptimiserConfig())
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    groups = {group["name"]: {names[id(p)] for p in group["params"]} for group in optimiser.param_groups}
    assert sorted(name for group in groups.values() for name in group) == sorted(names.values())
    history = {name for name in names.values() if name.startswith(("prior.", "curves.", "calibration."))}
    scalars = {name for name in history if not name.startswith("calibration.") or name == "calibration.scale"}
    expected = {"backbone": set(names.values()) - history, "calibration": history - scalars, "prior": scalars}
    assert groups == {name: group for name, group in expected.items() if group}
    assert "poi_embedding.weight" in groups["backbone"]


def test_rates_follow_the_stage() -> None:
    """0.1 on the backbone alone, and back to the base rate without it; no decay on the prior's scalars."""
    config = OptimiserConfig(learning_rate=0.5, prior_learning_rate=2.0, calibration_learning_rate=1.0)
    optimiser = build_optimiser(small_recap(small_city()), config)
    slow, full = Stage(backbone_lr_scale=0.1), Stage()
    assert set_learning_rates(optimiser, slow) == {"backbone": 0.05, "calibration": 1.0, "prior": 2.0}
    assert [group["lr"] for group in optimiser.param_groups] == [0.05, 1.0, 2.0]
    assert set_learning_rates(optimiser, full) == {"backbone": 0.5, "calibration": 1.0, "prior": 2.0}
    assert {group["name"]: group["weight_decay"] for group in optimiser.param_groups}["prior"] == 0.0


def test_a_schedule_scales_every_rate() -> None:
    """Half way through a cosine every group has half its rate."""
    config = OptimiserConfig(learning_rate=0.5, prior_learning_rate=2.0, schedule="cosine")
    rates = set_learning_rates(build_optimiser(small_recap(small_city()), config), Stage(), config.scale_at(2, 4))
    assert rates == pytest.approx({"backbone": 0.25, "calibration": 0.25, "prior": 1.0})
