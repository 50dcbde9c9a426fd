"""Adam with the paper's parameter groups."""

import math
from collections.abc import Iterable
from typing import Any, Final

import torch
from torch import Tensor

from recap.model.config import Stage
from recap.model.recap import Recap
from recap.training_config import OptimiserConfig


class RowAdam(torch.optim.Adam):
    """Adam; of a sparse gradient only its rows and their moments move, as in SparseAdam (Kingma & Ba 2015), in a third
    of the time of `torch.optim.SparseAdam`.
    """

    def __init__(self, params: Iterable[Tensor] | Iterable[dict[str, Any]], lr: float) -> None:
        super().__init__(params, lr=lr, fused=True)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        sparse = []
        for group in self.param_groups:
            for table in group["params"]:
                if table.grad is not None and table.grad.is_sparse:
                    sparse.append((table, table.grad))
                    self._move(table, table.grad.coalesce(), group)
                    table.grad = None  # Adam refuses it
        super().step()
        for table, gradient in sparse:
            table.grad = gradient

    def _move(self, table: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[table]
        if not state:
            state.update(step=0, exp_avg=torch.zeros_like(table), exp_avg_sq=torch.zeros_like(table))
        state["step"] = step = int(state["step"]) + 1
        first, second = group["betas"]
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
    """One Adam over named groups: ``prior`` holds the scalars of Eq. 9 or the curves, and lambda_corr (without weight
    decay), ``calibration`` the networks of Eqs. 10-12 and 23, ``tables`` (where ``sparse``) those of users and POIs,
    ``backbone`` everything else, E_poi included.
    """
    prior = [parameter for part in (model.prior, model.curves) if part is not None for parameter in part.parameters()]
    calibration = []
    if model.calibration is not None:
        prior.append(model.calibration.scale)
        calibration = [p for p in model.calibration.parameters() if p is not model.calibration.scale]
    tables: list[Tensor] = []
    if sparse and model.config.has_encoder:  # those with one row per user or POI
        tables += [model.poi_embedding.weight, model.backbone.user_embedding.weight]
        tables += [model.core.output.weight] if model.core is not None else []
    taken = {id(parameter) for parameter in (*prior, *calibration, *tables)}
    backbone = [parameter for parameter in model.parameters() if id(parameter) not in taken]
    rate, decay = config.learning_rate, config.weight_decay
    named = {
        BACKBONE: (backbone, rate, decay),
        "calibration": (calibration, config.calibration_learning_rate or rate, decay),
        "prior": (prior, config.prior_learning_rate or rate, 0.0),
        TABLES: (tables, rate, 0.0),
    }
    groups = [
        {"name": name, "params": params, "base_lr": own_rate, "weight_decay": own_decay}
        for name, (params, own_rate, own_decay) in named.items()
        if params
    ]
    return RowAdam(groups, lr=rate)


def set_learning_rates(optimiser: torch.optim.Optimizer, stage: Stage, scale: float = 1.0) -> dict[str, float]:
    """Apply ``scale`` to all groups and the stage's factor to the backbone; returns name -> learning rate."""
    for group in optimiser.param_groups:
        slow = stage.backbone_lr_scale if group["name"] in (BACKBONE, TABLES) else 1.0
        group["lr"] = scale * group["base_lr"] * slow
    return {group["name"]: group["lr"] for group in optimiser.param_groups}
