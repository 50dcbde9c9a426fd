"""The training objective (Eqs. 15-19).

Shape suffixes: B cases, P POIs, C packed candidates.
"""

from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from recap.scores import Scores


class _ScaleGradient(torch.autograd.Function):
    """Identity whose gradient is multiplied by a given factor."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, factor: Tensor) -> Tensor:
        ctx.save_for_backward(factor)
        return values.view_as(values)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (factor,) = ctx.saved_tensors
        return grads[0] * factor, None


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses of a batch.

    Attributes:
        objective: call ``backward`` on this; its gradient is that of Eq. 19.
        main: L_main (Eq. 16), detached.
        warm: L_warm (Eq. 18), detached; 0 where the batch has no warm case or the weight is 0.
    """

    objective: Tensor
    main: Tensor
    warm: Tensor


def training_losses(
    scores: Scores, target_B: Tensor, warm_B: Tensor, warm_weight: float, label_smoothing: float = 0.0
) -> Losses:
    """Cross-entropy plus the warm-transition holdout loss with detached core (Eqs. 16-19).

    L_warm's logits sg[core] + R + Delta have the same values as the main ones, so both losses share one softmax: the
    parts outside the core receive their gradient times 1 + lambda_warm |B| / |B_warm| on warm cases, and the core
    receives that of L_main alone. This is Eq. 19's gradient exactly, at half the cost (shown by a test). With label
    smoothing the warm loss is smoothed too.

    Args:
        warm_B: whether (s_t, y_t) is a head transition, m_sy >= 2 (Eq. 15).
        warm_weight: lambda_warm(e).
    """
    num_warm = int(warm_B.sum()) if warm_weight > 0 else 0
    if num_warm and scores.packed:
        assert scores.case_C is not None
        # The dtype of the sum of all parts, without summing them once more.
        dtype = reduce(torch.promote_types, (part.dtype for part in scores.dense.values()))
        factor_B = 1.0 + warm_weight * len(target_B) / num_warm * warm_B.to(dtype)
        factor_C = factor_B[scores.case_C]
        packed = {name: _ScaleGradient.apply(values, factor_C) for name, values in scores.packed.items()}
        dense = {
            name: part if name == "core" else _ScaleGradient.apply(part, factor_B[:, None])
            for name, part in scores.dense.items()
        }
        scores = Scores(dense, packed, scores.case_C, scores.poi_C)
    loss_B = F.cross_entropy(scores.total.float(), target_B, reduction="none", label_smoothing=label_smoothing)
    main = loss_B.mean()
    warm = loss_B.detach()[warm_B].mean() if num_warm else torch.zeros_like(main)
    return Losses(objective=main, main=main.detach(), warm=warm)
