"""What a counterfactual does to one candidate: its logit, probability and rank before and after.

Shape suffixes: B variants, P POIs.
"""

from collections.abc import Sequence

import torch
from pydantic import Field

from analysis.explain.edited_case import EditedCase
from analysis.records.removals import totals_without_two_hops
from recap.config import Config
from recap.counterfactuals import Counterfactual
from recap.evaluation.ranks import rank_of, rank_totals
from recap.predictor import variants_per_pass


class Effect(Config):
    """A candidate's score in a counterfactual, and the change from the case as it stands (after minus before)."""

    logit: float
    probability: float
    rank: float
    logit_change: float
    probability_change: float
    rank_change: float = Field(description="Positive is worse: the candidate fell.")


def rank_and_probability(total_BP: torch.Tensor, poi: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Logit, softmax probability and mean rank of one POI in each row: three tensors (B,)."""
    logit_B = total_BP[:, poi]
    probability_B = torch.exp(logit_B - torch.logsumexp(total_BP, dim=1))
    candidate_B = torch.full_like(total_BP[:, 0], poi, dtype=torch.int64)
    return logit_B, probability_B, rank_totals(total_BP, candidate_B).mean_B


def rank_without_two_hops(edited_case: EditedCase, candidate: int) -> float | None:
    """The candidate's rank with the graph token and all two-hop addends taken away for every place.

    As `analysis.records.removals` has it of every case; None in a model whose two hops do not act here.
    """
    predictor = edited_case.predictor
    batch, changes = predictor.batch([edited_case.row]), None
    if edited_case.edits:
        batch, changes = predictor.pack([edited_case.variant])
    total_BP = totals_without_two_hops(predictor, batch, changes, edited_case.inactive)
    return None if total_BP is None else rank_of(total_BP[0], candidate)


def effects(edited_case: EditedCase, variants: Sequence[Counterfactual], candidate: int) -> list[Effect]:
    """Score all variants, as many at a time as memory bears, and compare each with the edited case itself."""
    size, found = variants_per_pass(edited_case.ranker.dataset.num_pois), []
    for start in range(0, len(variants), size):
        total_BP = edited_case.ranker.score_counterfactuals(variants[start : start + size])
        found += compare(edited_case, total_BP, candidate)
    return found


def compare(edited_case: EditedCase, total_BP: torch.Tensor, candidate: int) -> list[Effect]:
    """Outcomes of totals that were already computed."""
    base_P = edited_case.total_P
    base_logit, base_rank = float(base_P[candidate]), rank_of(base_P, candidate)
    base_probability = float(torch.exp(base_P[candidate] - torch.logsumexp(base_P, dim=0)))
    logit_B, probability_B, rank_B = (values.tolist() for values in rank_and_probability(total_BP, candidate))
    return [
        Effect(
            logit=logit,
            probability=probability,
            rank=rank,
            logit_change=logit - base_logit,
            probability_change=probability - base_probability,
            rank_change=rank - base_rank,
        )
        for logit, probability, rank in zip(logit_B, probability_B, rank_B, strict=True)
    ]
