"""What a counterfactual does to one candidate: its logit, probability and rank before and after.

Shape suffixes: B variants, P POIs.
"""

from collections.abc import Sequence

import torch
from pydantic import Field

from analysis.explain.edited_case import Situation, rank_of
from recap.config import Config
from recap.counterfactuals import Variant


class Outcome(Config):
    """A candidate's score in a counterfactual, and the change from the case as it stands (after minus before)."""

    logit: float
    probability: float
    rank: float
    logit_change: float
    probability_change: float
    rank_change: float = Field(description="Positive is worse: the candidate fell.")


def standing(total_BP: torch.Tensor, poi: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Logit, softmax probability and mean rank of one POI in each row: three tensors (B,)."""
    logit_B = total_BP[:, poi]
    probability_B = torch.exp(logit_B - torch.logsumexp(total_BP, dim=1))
    better_B = (total_BP > logit_B[:, None]).sum(1)
    equal_B = (total_BP == logit_B[:, None]).sum(1)
    return logit_B, probability_B, better_B + (equal_B + 1) / 2


def outcomes(situation: Situation, variants: Sequence[Variant], candidate: int) -> list[Outcome]:
    """Score all variants in one go and compare each with the situation itself."""
    if not variants:
        return []
    total_BP = situation.predictor.score_variants(variants)
    return compare(situation, total_BP, candidate)


def compare(situation: Situation, total_BP: torch.Tensor, candidate: int) -> list[Outcome]:
    """Outcomes of totals that were already computed."""
    base_P = situation.total_P
    base_logit, base_rank = float(base_P[candidate]), rank_of(base_P, candidate)
    base_probability = float(torch.exp(base_P[candidate] - torch.logsumexp(base_P, dim=0)))
    logit_B, probability_B, rank_B = (values.tolist() for values in standing(total_BP, candidate))
    return [
        Outcome(
            logit=logit,
            probability=probability,
            rank=rank,
            logit_change=logit - base_logit,
            probability_change=probability - base_probability,
            rank_change=rank - base_rank,
        )
        for logit, probability, rank in zip(logit_B, probability_B, rank_B, strict=True)
    ]
