"""Faithfulness: does taking away what is called important lower the probability more than random removal does?

With items ordered by leave-one-out (most supporting first), p the candidate's probability, n items and p(S) the
probability with the set S taken away (DeYoung et al., ERASER, ACL 2020; Samek et al., 2017):

- comprehensiveness: mean over j = 1..n of p - p(first j items): high is good.
- sufficiency: mean over j = 1..n of p - p(all but the first j items): low is good.
- deletion AUC: area under p(first j items) over j / n, by the trapezoid rule: low is good.
- random AUC: the same, mean over random orders; gain = random AUC - deletion AUC.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from pydantic import Field

from analysis.explain.edited_case import EditedCase, build_edited_case
from analysis.explain.effects import rank_and_probability
from analysis.explain.evidence_items import each_without, evidence_items, without
from recap import columns as c
from recap.config import Config
from recap.counterfactuals import Counterfactual
from recap.predictor import Predictor

RANDOM_ORDERS = 5


class Faithfulness(Config):
    """Measures of one case, or means over several; all in units of probability."""

    n: int = Field(description="Cases behind the numbers.")
    comprehensiveness: float
    sufficiency: float
    deletion_auc: float
    random_auc: float
    gain: float = Field(description="random_auc - deletion_auc: above 0, the order beats chance.")


def describe_faithfulness(measured: Faithfulness) -> str:
    """The four measures in one line."""
    return (
        f"comprehensiveness {measured.comprehensiveness:.3f}, sufficiency {measured.sufficiency:.3f}, "
        f"deletion AUC {measured.deletion_auc:.3f}, at random {measured.random_auc:.3f}"
    )


def faithfulness(
    edited_case: EditedCase, candidate: int, *, seed: int = 0, orders: int = RANDOM_ORDERS
) -> Faithfulness:
    """Measure the leave-one-out order of one case, in two batches of forward passes."""
    items = evidence_items(edited_case, candidate)
    loo = rank_and_probability(
        edited_case.predictor.score_counterfactuals(each_without(edited_case, candidate, items)), candidate
    )[0]
    ranking = np.argsort(loo.numpy(), kind="stable")
    generator = np.random.default_rng([seed, int(edited_case.case[c.CASE]), candidate])
    shuffles = [generator.permutation(len(items)) for _ in range(orders)]

    def deletions(order: np.ndarray) -> list[Counterfactual]:
        return [without(edited_case, candidate, [items[i] for i in order[:j]]) for j in range(len(items) + 1)]

    kept = [without(edited_case, candidate, [items[i] for i in ranking[j:]]) for j in range(1, len(items) + 1)]
    variants = [*deletions(ranking), *kept, *(variant for order in shuffles for variant in deletions(order))]
    probability = rank_and_probability(edited_case.predictor.score_counterfactuals(variants), candidate)[1].numpy()
    steps = len(items) + 1
    curve, kept_curve = probability[:steps], probability[steps : 2 * steps - 1]
    random_curves = probability[2 * steps - 1 :].reshape(orders, steps)
    deletion_auc = float(np.trapezoid(curve) / len(items))
    random_auc = float(np.trapezoid(random_curves, axis=1).mean() / len(items))
    return Faithfulness(
        n=1,
        comprehensiveness=float((curve[0] - curve[1:]).mean()),
        sufficiency=float((curve[0] - kept_curve).mean()),
        deletion_auc=deletion_auc,
        random_auc=random_auc,
        gain=random_auc - deletion_auc,
    )


def mean_faithfulness(
    predictor: Predictor, numbers: Sequence[int], *, seed: int = 0, split: int = c.TEST
) -> Faithfulness:
    """Means over cases, each measured for its target.

    Raises:
        CaseError: no such case.
    """
    rows = []
    for number in numbers:
        edited_case = build_edited_case(predictor, int(number), split=split)
        rows.append(faithfulness(edited_case, edited_case.target, seed=seed).model_dump())
    means = {str(name): float(value) for name, value in pd.DataFrame(rows).mean().items()}
    return Faithfulness.parse(means | {"n": len(rows)})


def sample_tail(predictor: Predictor, size: int, seed: int = 0, tail_max_count: int = 1) -> list[int]:
    """Case numbers of up to ``size`` random tail test cases, in order."""
    tail = predictor.cases.loc[predictor.cases[c.TRANSITION_COUNT] <= tail_max_count, c.CASE].to_numpy()
    chosen = np.random.default_rng(seed).choice(tail, min(size, len(tail)), replace=False)
    return sorted(chosen.tolist())
