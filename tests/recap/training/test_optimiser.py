"""Parameter groups: who learns how fast; rows of sparse gradients move as in torch's own SparseAdam."""

from typing import Any

import pytest
import torch

from recap.model.config import Stage
from recap.training.optimiser import RowAdam, build_optimiser, set_learning_rates
from recap.training_config import OptimiserConfig
from tests.worlds import CURVES, small_city, small_recap


@pytest.mark.parametrize(
    "changes", [{}, {"use_history": False}, {"use_graph": False}, CURVES, CURVES | {"core_scope": "nowhere"}], ids=str
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
    """0.1 on the backbone alone, and back to the base rate without it; no decay on the prior's scalars.

    Half way through a cosine every group has half its rate.
    """
    config = OptimiserConfig(learning_rate=0.5, prior_learning_rate=2.0, calibration_learning_rate=1.0)
    optimiser = build_optimiser(small_recap(small_city()), config)
    slow, full = Stage(backbone_lr_scale=0.1), Stage()
    assert set_learning_rates(optimiser, slow) == {"backbone": 0.05, "calibration": 1.0, "prior": 2.0}
    assert [group["lr"] for group in optimiser.param_groups] == [0.05, 1.0, 2.0]
    assert set_learning_rates(optimiser, full) == {"backbone": 0.5, "calibration": 1.0, "prior": 2.0}
    assert {group["name"]: group["weight_decay"] for group in optimiser.param_groups}["prior"] == 0.0
    cosine = config.model_copy(update={"schedule": "cosine"})
    rates = set_learning_rates(optimiser, full, cosine.scale_at(2, 4))
    assert rates == pytest.approx({"backbone": 0.25, "calibration": 0.5, "prior": 1.0})


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_it_moves_rows_as_sparse_adam_does() -> None:
    """Five steps with different rows, some of them twice in a gradient, one step without any; equal moments too."""
    torch.manual_seed(0)
    start = torch.randn(20, 3)
    mine, theirs = (torch.nn.Parameter(start.clone()) for _ in range(2))
    optimisers = [RowAdam([mine], lr=0.1), torch.optim.SparseAdam([theirs], lr=0.1)]
    for count in (4, 7, 0, 7, 2):
        row_R, value_RD = torch.randint(15, (count,)), torch.randn(count, 3)
        for table, optimiser in zip((mine, theirs), optimisers, strict=True):
            table.grad = torch.sparse_coo_tensor(row_R[None], value_RD, (20, 3))
            optimiser.step()
    torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-6)
    assert torch.equal(mine[15:], start[15:]) and not torch.equal(mine, start)
    (left,), (right,) = (optimiser.state.values() for optimiser in optimisers)
    assert left["step"] == right["step"] == 5
    for name in ("exp_avg", "exp_avg_sq"):
        torch.testing.assert_close(left[name], right[name], rtol=1e-5, atol=1e-7)
