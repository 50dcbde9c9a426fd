"""The revisit prior R_t(d) over the user's past POIs (Eq. 9) and its calibration, a signed gate (Eqs. 10-13, 20-24).

Shape suffixes: B cases, C packed candidates, D features.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.history.tensors import Histories, RevisitCandidates, local_hour_fraction, local_weekday
from recap.model.backbone import TimeEmbedding
from recap.model.config import MAX_PRIOR, ModelConfig, PriorConfig

PRIOR_TERMS: Final = ("count", "recency", "window")


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

    def forward(self, candidates: RevisitCandidates, off: Collection[str] = ()) -> PriorTerms:
        """The prior and its terms for packed candidates; those of `PRIOR_TERMS` that are ``off`` are 0."""
        statistics = revisit_statistics(candidates, self.log_recency_steps)
        weights = (self.count_weight, self.recency_weight, self.window_weight)
        count_C, recency_C, window_C = (
            torch.zeros_like(value) if weight is None or name in off else self.scale * weight * value
            for name, weight, value in zip(PRIOR_TERMS, weights, statistics, strict=True)
        )
        raw_C = count_C + recency_C + window_C
        prior_C = raw_C.clamp(0.0, MAX_PRIOR)
        return PriorTerms(count_C, recency_C, window_C, raw_C - prior_C, prior_C)


def revisit_statistics(candidates: RevisitCandidates, log_recency_steps: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """alpha_t(d) = log(1 + n), exp(-r / tau), 1[d in W] (Eq. 21), each (C,)."""
    dtype = log_recency_steps.dtype
    log_count_C = torch.log1p(candidates.count_C.to(dtype))
    decay_C = torch.exp(-candidates.recency_steps_C.to(dtype) * torch.exp(-log_recency_steps))
    return log_count_C, decay_C, candidates.in_recent_window_C.to(dtype)


_NUM_STATISTICS = 3
_NUM_PAIR_FEATURES = 3
_NUM_TIME_FEATURES = 2 + 7


def _mlp(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.GELU(), nn.Linear(hidden, outputs))


class RevisitCalibration(nn.Module):
    """gamma_t(d) = tanh(MLP_g([q; v; q * v])) and Delta_t(d) = lambda_corr gamma_t(d) R_t(d) (Eqs. 12-13). With curves,
    the sum of those of past visits and times replaces R_t(d).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        width = config.calibration_dim
        self.query = _mlp(config.hidden_dim + _NUM_TIME_FEATURES, width, width)
        self.last_visit_time = TimeEmbedding()
        history_inputs = _NUM_STATISTICS + self.last_visit_time.output_dim + _NUM_PAIR_FEATURES
        self.history = _mlp(history_inputs, width, width)
        self.candidate = _mlp(config.poi_dim + width, width, width)
        self.gate = _mlp(3 * width, width, 1)
        self.scale = nn.Parameter(torch.tensor(1.0))
        if config.has_curves:  # Eq. 21 needs tau_rec
            self.log_recency_steps = nn.Parameter(torch.tensor(config.prior.recency_steps).log())

    def context_query(self, state_BD: Tensor, local_seconds_B: Tensor) -> Tensor:
        """q_t = MLP_q([h_t; t_t]) (Eq. 10); t_t is the hour on a circle and the weekday one-hot."""
        angle_B = 2 * math.pi * local_hour_fraction(local_seconds_B)
        weekday_B7 = nn.functional.one_hot(local_weekday(local_seconds_B), 7)
        time_BT = torch.cat([angle_B.cos()[:, None], angle_B.sin()[:, None], weekday_B7], dim=1)
        return self.query(torch.cat([state_BD, time_BT.to(state_BD.dtype)], dim=1))

    def history_features(self, histories: Histories, candidates: RevisitCandidates, statistics_C3: Tensor) -> Tensor:
        """phi_t(d) = MLP_hist([alpha; e_tod(last); e_dow(last); psi]) (Eqs. 21-23)."""
        now_C = histories.local_seconds_B[candidates.case_C]
        last_C = histories.checkins.local_seconds_T[candidates.last_row_C]
        angle_C = 2 * math.pi * (local_hour_fraction(now_C) - local_hour_fraction(last_C))
        same_weekday_C = (local_weekday(now_C) == local_weekday(last_C)).to(angle_C.dtype)
        pair_C3 = torch.stack([angle_C.cos(), angle_C.sin(), same_weekday_C], dim=1)
        features = [statistics_C3, self.last_visit_time(last_C), pair_C3.to(statistics_C3.dtype)]
        return self.history(torch.cat(features, dim=1))

    def forward(
        self,
        histories: Histories,
        candidates: RevisitCandidates,
        *,
        state_BD: Tensor,
        embedding_CE: Tensor,
        statistics_C3: Tensor,
    ) -> Tensor:
        """The signed gate gamma_t(d), (C,), in [-1, 1]."""
        query_BD = self.context_query(state_BD, histories.local_seconds_B)
        features_CD = self.history_features(histories, candidates, statistics_C3)
        candidate_CD = self.candidate(torch.cat([embedding_CE, features_CD], dim=1))
        # On several CPU threads, the gradient of query_BD[case_C] would add up in no fixed order.
        query_CD = F.embedding(candidates.case_C, query_BD)
        mixed = torch.cat([query_CD, candidate_CD, query_CD * candidate_CD], dim=1)
        return torch.tanh(self.gate(mixed)).squeeze(1)
