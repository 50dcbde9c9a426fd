"""The training objective (Eqs. 15-19).

Shape suffixes: B cases, P POIs, C packed candidates; I scored pairs and U sampled places.
"""

from functools import reduce
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from recap.model.sampled import SampledScores
from recap.scores import Scores
from recap.training_config import SampledSoftmax

_POWER = 0.75
"""Popular places are drawn by their check-ins to this power."""


class NegativeSampler:
    """Samples places with replacement, some by their training check-ins ``popularity_P``, some uniformly. A place
    sampled c times has weight c / (n_popular q(d) + n_uniform / P), c over its expected count (Bengio & Senécal 2008;
    both samples pooled: Veach & Guibas 1995).
    """

    def __init__(self, popularity_P: Tensor, config: SampledSoftmax) -> None:
        self.config = config
        share_P = popularity_P.double() ** _POWER
        share_P = share_P / share_P.sum()
        self._cumulative_P = torch.cumsum(share_P, 0)
        self._expected_P = config.popular * share_P + config.uniform / len(share_P)

    def draw(self) -> tuple[Tensor, Tensor]:
        """Sampled places of one batch, int64, ascending, each once; and the log of how many places each stands for:
        sum_u exp(log_weight_u) f(u) is an unbiased estimate of the sum of f over all places.
        """
        num_pois, device = len(self._expected_P), self._expected_P.device
        level = torch.rand(self.config.popular, dtype=torch.float64, device=device) * self._cumulative_P[-1]
        popular = torch.searchsorted(self._cumulative_P, level, right=True).clamp_max_(num_pois - 1)
        uniform = torch.randint(num_pois, (self.config.uniform,), device=device)
        poi_U, count_U = torch.unique(torch.cat([popular, uniform]), return_counts=True)
        return poi_U, (count_U / self._expected_P[poi_U]).log()


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


def training_losses(
    scores: Scores, target_B: Tensor, warm_B: Tensor, warm_weight: float, label_smoothing: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Cross-entropy plus the holdout loss L_warm with detached core (Eqs. 16-19): an objective of value L_main with the
    gradient of Eq. 19, and L_warm (0 without warm cases or weight), detached. L_warm's logits sg[core] + R + Delta
    equal the main ones, so both losses share one softmax. On warm cases (Eq. 15) the gradient of the parts outside the
    core is multiplied by 1 + lambda_warm |B| / |B_warm|. This is exactly Eq. 19's gradient, at half the cost. Label
    smoothing also acts on the holdout loss.
    """
    # The dtype of the sum, without computing it.
    dtype = reduce(torch.promote_types, (part.dtype for part in scores.dense.values()))
    factor_B = _outside_the_core(warm_B, warm_weight, dtype)
    if factor_B is not None and scores.packed:
        assert scores.case_C is not None
        factor_C = factor_B[scores.case_C]
        packed = {name: _ScaleGradient.apply(values, factor_C) for name, values in scores.packed.items()}
        dense = {
            name: part if name == "core" else _ScaleGradient.apply(part, factor_B[:, None])
            for name, part in scores.dense.items()
        }
        scores = Scores(dense, packed, scores.case_C, scores.poi_C)
    loss_B = F.cross_entropy(scores.total.float(), target_B, reduction="none", label_smoothing=label_smoothing)
    return _losses(loss_B, warm_B, warm_weight)


def sampled_losses(
    scores: SampledScores, log_weight_U: Tensor, warm_B: Tensor, warm_weight: float
) -> tuple[Tensor, Tensor]:
    """`training_losses` with a sampled softmax: sampled places represent all unscored ones. Sampled places that a case
    has already scored do not count again. ``log_weight_U``: see `NegativeSampler.draw`.
    """
    rest_I, factor_B = scores.rest_I, _outside_the_core(warm_B, warm_weight, scores.rest_I.dtype)
    if factor_B is not None:
        rest_I = _ScaleGradient.apply(rest_I, factor_B[scores.case_I])
    total_I = (scores.core_I + rest_I).float()
    drawn_BU = scores.core_BU.float() + log_weight_U.float()
    if scores.rest_BU is not None:
        rest_BU = scores.rest_BU if factor_B is None else _ScaleGradient.apply(scores.rest_BU, factor_B[:, None])
        drawn_BU = drawn_BU + rest_BU.float()
    drawn_BU = drawn_BU.masked_fill(scores.is_scored_BU, -torch.inf)
    with torch.no_grad():
        largest_B = torch.full_like(total_I[: len(warm_B)], -torch.inf)
        largest_B = largest_B.scatter_reduce(0, scores.case_I, total_I, "amax")
        if drawn_BU.shape[1]:
            largest_B = torch.maximum(largest_B, drawn_BU.amax(1))
    sum_B = torch.exp(drawn_BU - largest_B[:, None]).sum(1)
    sum_B = sum_B.index_add(0, scores.case_I, torch.exp(total_I - largest_B[scores.case_I]))
    return _losses(largest_B + sum_B.log() - total_I[scores.target_B], warm_B, warm_weight)


def _outside_the_core(warm_B: Tensor, warm_weight: float, dtype: torch.dtype) -> Tensor | None:
    """Factor on the gradient of all parts but the core, (B,); None if 1."""
    num_warm = int(warm_B.sum()) if warm_weight > 0 else 0
    return 1.0 + warm_weight * len(warm_B) / num_warm * warm_B.to(dtype) if num_warm else None


def _losses(loss_B: Tensor, warm_B: Tensor, warm_weight: float) -> tuple[Tensor, Tensor]:
    main = loss_B.mean()
    is_known = warm_weight > 0 and bool(warm_B.any())
    warm = loss_B.detach()[warm_B].mean() if is_known else torch.zeros_like(main)
    return main, warm
