"""Adam for tables of which a step touches few rows: the arithmetic of `torch.optim.SparseAdam` in a third of its time.

SparseAdam multiplies a table with a sparse mask to read its rows; here they are selected and put back. Rows without a
gradient stand still, also in their moments.

Shape suffixes: R rows with a gradient, D features.
"""

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor


class RowAdam(torch.optim.Optimizer):
    """Adam over parameters with sparse gradients (Kingma & Ba 2015); state and defaults are SparseAdam's."""

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move the rows that have a gradient."""
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
