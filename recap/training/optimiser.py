"""Adam with the paper's parameter groups."""

import math
from collections.abc import Iterable
from typing import Any, Final

import torch
from torch import Tensor

from recap.model.config import Stage
from recap.model.recap import Recap
from recap.training_config import OptimiserConfig


class RowAdam(torch.optim.Optimizer):
    """Adam for sparse gradients (Kingma & Ba 2015); state and defaults are SparseAdam's.

    Rows without a gradient and their moments do not change. Takes a third of the time of `torch.optim.SparseAdam`.
    """

    def __init__(self, params: Iterable[Tensor] | Iterable[dict[str, Any]], lr: float) -> None:
        super().__init__(params, {"lr": lr, "betas": (0.9, 0.999), "eps": 1e-8})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for table in group["params"]:
                if table.grad is not None:
                    self._move(table, table.grad.coalesce(), group)

    def _move(self, table: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[table]
        if not state:
            state.update(step=0, exp_avg=torch.zeros_like(table), exp_avg_sq=torch.zeros_like(table))
        state["step"] += 1
        (first, second), step = group["betas"], state["step"]
        row_R, gradient_RD = gradient.indices()[0], gradient.values()
        if not len(row_R):
            return
        mean_RD = state["exp_avg"].index_select(0, row_R).lerp_(gradient_RD, 1 - first)
        state["exp_avg"].index_copy_(0, row_R, mean_RD)
        square_RD = state["exp_avg_sq"].index_select(0, row_R)
        square_RD.mul_(second).addcmul_(gradient_RD, gradient_RD, value=1 - second)
        state["exp_avg_sq"].index_copy_(0, row_R, square_RD)
        rate = group["lr"] * math.sqrt(1 - second**step) / (1 - first**step)
        table.index_add_(0, row_R, mean_RD.div_(square_RD.sqrt_().add_(group["eps"])), alpha=-rate)


BACKBONE: Final = "backbone"
TABLES: Final = "tables"


def build_optimiser(model: Recap, config: OptimiserConfig, *, sparse: bool = False) -> torch.optim.Optimizer:
    """One Adam over named groups.

    Args:
        sparse: put the tables of users and POIs in a `RowAdam` group ``tables``, without weight decay.

    ``prior`` holds the scalars of Eq. 9 or the curves, and lambda_corr (without weight decay), ``calibration`` the
    networks of Eqs. 10-12 and 23, ``backbone`` everything else, E_poi included.
    """
    prior = [parameter for part in (model.prior, model.curves) if part is not None for parameter in part.parameters()]
    calibration = []
    if model.calibration is not None:
        prior.append(model.calibration.scale)
        calibration = [p for p in model.calibration.parameters() if p is not model.calibration.scale]
    tables = tables_of(model) if sparse else []
    taken = {id(parameter) for parameter in (*prior, *calibration, *tables)}
    backbone = [parameter for parameter in model.parameters() if id(parameter) not in taken]
    rate = config.learning_rate
    groups: list[dict[str, Any]] = [
        {"name": BACKBONE, "params": backbone, "base_lr": rate, "weight_decay": config.weight_decay},
        {
            "name": "calibration",
            "params": calibration,
            "base_lr": config.calibration_learning_rate or rate,
            "weight_decay": config.weight_decay,
        },
        {"name": "prior", "params": prior, "base_lr": config.prior_learning_rate or rate, "weight_decay": 0.0},
    ]
    adam = torch.optim.Adam([group for group in groups if group["params"]], lr=rate, fused=True)
    if not tables:
        return adam
    rows = RowAdam([{"name": TABLES, "params": tables, "base_lr": rate}], lr=rate)
    return JointOptimiser(adam, rows)


def tables_of(model: Recap) -> list[Tensor]:
    """Weights with one row per user or POI."""
    if not model.config.has_encoder:
        return []
    tables = [model.poi_embedding.weight, model.backbone.user_embedding.weight]
    return tables if model.core is None else [*tables, model.core.output.weight]


class JointOptimiser(torch.optim.Optimizer):
    """Two optimisers as one, with joined states."""

    def __init__(self, first: torch.optim.Optimizer, second: torch.optim.Optimizer) -> None:
        self._both = (first, second)
        super().__init__([*first.param_groups, *second.param_groups], {})
        self._share_groups()

    def _share_groups(self) -> None:
        """Share the parameter groups: a learning rate set here counts there."""
        self.param_groups = [group for optimiser in self._both for group in optimiser.param_groups]

    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for optimiser in self._both:
            optimiser.step()

    def state_dict(self) -> dict[str, Any]:
        first, second = (optimiser.state_dict() for optimiser in self._both)
        moved = {index + self._offset: values for index, values in second["state"].items()}
        return {"state": first["state"] | moved, "param_groups": [*first["param_groups"], *second["param_groups"]]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        first, second = self._both
        states: tuple[dict[int, Any], dict[int, Any]] = ({}, {})
        for index, values in state_dict["state"].items():
            if index < self._offset:
                states[0][index] = values
            else:  # RowAdam counts steps as int
                states[1][index - self._offset] = values | {"step": int(values["step"])}
        for optimiser, state in zip((first, second), states, strict=True):
            optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
        self._share_groups()

    def clear(self) -> None:
        for optimiser in self._both:
            optimiser.state.clear()

    @property
    def _offset(self) -> int:
        return sum(len(group["params"]) for group in self._both[0].param_groups)


def clear_state(optimiser: torch.optim.Optimizer) -> None:
    """Forget all moments."""
    if isinstance(optimiser, JointOptimiser):
        optimiser.clear()
    optimiser.state.clear()


def set_learning_rates(optimiser: torch.optim.Optimizer, stage: Stage, scale: float = 1.0) -> dict[str, float]:
    """Apply ``scale`` to all groups and the stage's factor to the backbone; returns name -> learning rate."""
    for group in optimiser.param_groups:
        group["lr"] = (
            scale * group["base_lr"] * (stage.backbone_lr_scale if group["name"] in (BACKBONE, TABLES) else 1.0)
        )
    return {group["name"]: group["lr"] for group in optimiser.param_groups}
