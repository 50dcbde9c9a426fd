"""The revisit prior R_t(d) over the user's past POIs (Eq. 9).

Shape suffix: C packed candidates.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from recap.history import RevisitCandidates
from recap.model.config import MAX_PRIOR, PriorConfig


@dataclass(frozen=True, eq=False)
class PriorTerms:
    """R_t(d) as a sum of terms, ``count + recency + window - clip_loss == prior``: lambda_prior times each weighted
    statistic, and what the clip to [0, b_max] removes (negative where it lifts a negative sum to 0).
    """

    count_C: Tensor
    recency_C: Tensor
    window_C: Tensor
    clip_loss_C: Tensor
    prior_C: Tensor


class RevisitPrior(nn.Module):
    """``R = clip_[0, b_max](lambda [w_cnt log(1 + n) + w_rec exp(-r / tau) + w_win 1[d in W]])``. tau_rec is learned as
    its logarithm and stays positive. A disabled term has no parameter.
    """

    def __init__(self, config: PriorConfig) -> None:
        super().__init__()
        self.config = config
        self.scale = nn.Parameter(torch.tensor(1.0))
        self.count_weight = nn.Parameter(torch.tensor(config.count_weight)) if config.use_count else None
        self.recency_weight = nn.Parameter(torch.tensor(1.0)) if config.use_recency else None
        self.window_weight = nn.Parameter(torch.tensor(1.0)) if config.use_window else None
        # The calibration needs it (Eq. 21), even without the prior's recency term.
        self.log_recency_steps = nn.Parameter(torch.tensor(config.recency_steps).log())

    def forward(self, candidates: RevisitCandidates, factor_C3: Tensor | None = None) -> PriorTerms:
        """The prior and its terms for packed candidates; ``factor_C3`` scales the terms before the clip."""
        statistics = revisit_statistics(candidates, self.log_recency_steps)
        weights = (self.count_weight, self.recency_weight, self.window_weight)
        count_C, recency_C, window_C = (
            torch.zeros_like(value) if weight is None else self.scale * weight * value
            for weight, value in zip(weights, statistics, strict=True)
        )
        if factor_C3 is not None:
            terms = zip((count_C, recency_C, window_C), factor_C3.unbind(1), strict=True)
            count_C, recency_C, window_C = (term_C * factor_C for term_C, factor_C in terms)
        raw_C = count_C + recency_C + window_C
        prior_C = raw_C.clamp(0.0, MAX_PRIOR)
        return PriorTerms(count_C, recency_C, window_C, raw_C - prior_C, prior_C)


def revisit_statistics(candidates: RevisitCandidates, log_recency_steps: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """alpha_t(d) = log(1 + n), exp(-r / tau), 1[d in W] (Eq. 21), each (C,)."""
    dtype = log_recency_steps.dtype
    log_count_C = torch.log1p(candidates.count_C.to(dtype))
    decay_C = torch.exp(-candidates.recency_steps_C.to(dtype) * torch.exp(-log_recency_steps))
    return log_count_C, decay_C, candidates.in_recent_window_C.to(dtype)
