"""What a counterfactual does to one candidate: its logit, probability and rank before and after.

Shape suffixes: P POIs, M variants.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from pydantic import Field

from analysis.explain.edited_case import EditedCase
from analysis.records.removals import totals_without_two_hops
from recap.config import Config
from recap.counterfactuals import Counterfactual
from recap.evaluation.ranks import rank_of


class Effect(Config):
    """A candidate's score in a counterfactual, and the change from the case as it stands (after minus before)."""

    logit: float
    probability: float
    rank: float
    logit_change: float
    probability_change: float
    rank_change: float = Field(description="Positive is worse: the candidate fell.")


def two_hops_off(edited_case: EditedCase) -> Counterfactual | None:
    """The case without its token, where that takes all two-hop evidence away: no addends of evidence beside it."""
    if edited_case.is_active("evidence") or not edited_case.is_active("graph_token"):
        return None
    return replace(edited_case.variant, off=edited_case.variant.off | {"graph_token"})


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
    """Score all variants and compare each with the edited case itself."""
    if not variants:
        return []
    base_P = edited_case.total_P
    base_logit, base_rank = float(base_P[candidate]), rank_of(base_P, candidate)
    base_probability = float(torch.exp(base_P[candidate] - edited_case.log_sum))
    distinct = {variant.content: variant for variant in variants}  # a path is an item and a cut: scored once
    after = edited_case.ranker.standings(list(distinct.values()), candidate)
    columns = (after.logit_M.tolist(), after.probability_M.tolist(), after.rank_M.tolist())
    outcomes = [
        Effect(
            logit=logit,
            probability=probability,
            rank=rank,
            logit_change=logit - base_logit,
            probability_change=probability - base_probability,
            rank_change=rank - base_rank,
        )
        for logit, probability, rank in zip(*columns, strict=True)
    ]
    at = {content: number for number, content in enumerate(distinct)}
    return [outcomes[at[variant.content]] for variant in variants]
