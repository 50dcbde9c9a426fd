"""Faithfulness: does taking away what is called important lower the probability more than other removals do?

With items ordered by leave-one-out (most supporting first), p the candidate's probability, n items and p(S) the
probability with the set S taken away (DeYoung et al., ERASER, ACL 2020; Samek et al., 2017):

- comprehensiveness: mean over j = 1..n of p - p(first j items): high is good.
- sufficiency: mean over j = 1..n of p - p(all but the first j items): low is good.
- deletion AUC: area under p(first j items) over j / n, by the trapezoid rule: low is good.
- random AUC: the same, mean over random orders; gain = random AUC - deletion AUC.

Most of a score with evidence is a sum, where leave-one-out cannot fail by its own removal. So beside these:

- additive AUC: the same where the terms of the sum that support come first, by size, and the rest at random.
- placebo gap: mean over j of p(placebo j) - p(first j), where placebo j is drawn at random to weigh as much, by
  leave-one-out, as the first j do. 0: the order says no more than the weights.
- infidelity (Yeh et al., NeurIPS 2019): mean over random sets S of (sum of weights in S - (logit - logit without S))^2;
  relative: divided by the mean of (logit - logit without S)^2. 0 where effects add up, 1 as bad as saying nothing.
- stability: rank correlation of the weights with those after a small change of the case: the clock half an hour
  earlier, half an hour later, the oldest visit gone.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
from pydantic import Field
from scipy.stats import spearmanr

from analysis.explain.edited_case import EditedCase, build_edited_case, without_visits
from analysis.explain.evidence_items import EvidenceItem, each_without, evidence_items, without
from analysis.formatting import percent, signed
from recap import columns as c
from recap.config import Config
from recap.counterfactuals import Counterfactual
from recap.predictor import Predictor

RANDOM_ORDERS: Final = 5
INFIDELITY_SETS: Final = 40
CLOCK_SHIFT_SECONDS: Final = 1800
MOSTLY: Final = 0.9
"""From this share of the gain on, what the additive terms alone reach is called most of it."""
CLEAR_GAIN: Final = 0.005
"""A smaller gain in probability is called no better than chance."""
_ENCODER: Final = ("checkin", "user", "graph_token")


class Faithfulness(Config):
    """Measures of one case, or means over several; probabilities, but for the last three."""

    n: int = Field(description="Cases behind the numbers.")
    comprehensiveness: float
    sufficiency: float
    deletion_auc: float
    random_auc: float
    gain: float = Field(description="random_auc - deletion_auc: above 0, the order beats chance.")
    additive_auc: float = Field(description="Supporting terms of the sum first, the rest at random.")
    gain_over_additive: float = Field(description="additive_auc - deletion_auc: above 0, the order knows more.")
    placebo_gap: float = Field(description="Above 0, the first items do more than random ones of equal weight.")
    infidelity: float = Field(description="Squared score points.")
    relative_infidelity: float | None = Field(description="None where removal changes nothing.")
    stability: float | None = Field(description="Rank correlation in [-1, 1]; None with fewer than three items.")


def describe_faithfulness(measured: Faithfulness) -> str:
    """The measures in one line, and one sentence about what they show."""
    numbers = (
        f"comprehensiveness {measured.comprehensiveness:.3f}, sufficiency {measured.sufficiency:.3f}, "
        f"deletion AUC {measured.deletion_auc:.3f}, additive terms first {measured.additive_auc:.3f}, "
        f"at random {measured.random_auc:.3f}, placebo gap {signed(measured.placebo_gap)}"
    )
    if measured.relative_infidelity is not None:
        numbers += f", relative infidelity {measured.relative_infidelity:.3f}"
    if measured.stability is not None:
        numbers += f", stability {measured.stability:.3f}"
    return f"{numbers}. {conclude(measured)}"


def conclude(measured: Faithfulness) -> str:
    """What the numbers show, in one sentence."""
    if measured.gain <= CLEAR_GAIN:
        return "The order of leave-one-out is no better than chance here."
    reached = (measured.random_auc - measured.additive_auc) / measured.gain
    told = f"Additive terms first, the rest at random, reach {percent(reached, 1)} of the gain over chance"
    if reached >= MOSTLY:
        return f"{told}: the number shows that the score is mostly a sum, and says little about the network."
    return f"{told}: the order also finds what matters inside the network."


def faithfulness(
    edited_case: EditedCase, candidate: int, *, seed: int = 0, orders: int = RANDOM_ORDERS
) -> Faithfulness:
    """Measure the leave-one-out order of one case; items are taken away as leave-one-out's masks and terms are."""
    items = evidence_items(edited_case, candidate)
    steps, n = len(items) + 1, len(items)
    weight_N = _weights(edited_case, candidate, items)
    ranking = np.argsort(-weight_N, kind="stable")
    generator = np.random.default_rng([seed, edited_case.case.number, candidate])
    shuffles = [generator.permutation(n) for _ in range(orders)]
    additive = [_additive_first(items, weight_N, shuffle) for shuffle in shuffles]
    placebos = [_equal_weight(weight_N, ranking[:j], shuffle) for shuffle in shuffles for j in range(1, steps)]
    sets = [np.flatnonzero(generator.random(n) < 0.5) for _ in range(INFIDELITY_SETS)]

    def gone(chosen: Sequence[int] | np.ndarray) -> Counterfactual:
        return without(edited_case, candidate, [items[i] for i in chosen])

    def deletions(order: np.ndarray) -> list[Counterfactual]:
        return [gone(order[:j]) for j in range(steps)]

    variants = deletions(ranking) + [gone(ranking[j:]) for j in range(1, steps)]
    for order in (*shuffles, *additive):
        variants += deletions(order)
    variants += [gone(chosen) for chosen in (*placebos, *sets)]
    after = edited_case.predictor.standings(variants, candidate)
    logit, probability = after.logit_M.numpy(), after.probability_M.numpy()
    ends = np.cumsum([steps, n, orders * steps, orders * steps, orders * n])
    curve, kept, random_curves, additive_curves, placebo, _ = np.split(probability, ends)
    deletion_auc = float(np.trapezoid(curve) / n)
    random_auc, additive_auc = (
        float(np.trapezoid(curves.reshape(orders, steps), axis=1).mean() / n)
        for curves in (random_curves, additive_curves)
    )
    lost = logit[0] - logit[ends[-1] :]
    said = np.array([weight_N[chosen].sum() for chosen in sets])
    infidelity, size = float(((said - lost) ** 2).mean()), float((lost**2).mean())
    return Faithfulness(
        n=1,
        comprehensiveness=float((curve[0] - curve[1:]).mean()),
        sufficiency=float((curve[0] - kept).mean()),
        deletion_auc=deletion_auc,
        random_auc=random_auc,
        gain=random_auc - deletion_auc,
        additive_auc=additive_auc,
        gain_over_additive=additive_auc - deletion_auc,
        placebo_gap=float((placebo.reshape(orders, n) - curve[1:]).mean()),
        infidelity=infidelity,
        relative_infidelity=infidelity / size if size else None,
        stability=_stability(edited_case, candidate, items, weight_N),
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
    means = pd.DataFrame(rows).astype(float).mean()
    told = {str(name): None if np.isnan(value) else float(value) for name, value in means.items()}
    return Faithfulness.parse(told | {"n": len(rows)})


def sample_tail(predictor: Predictor, size: int, seed: int = 0, tail_max_count: int = 1) -> list[int]:
    """Case numbers of up to ``size`` random tail test cases, in order."""
    tail = predictor.cases.loc[predictor.cases[c.TRANSITION_COUNT] <= tail_max_count, c.CASE].to_numpy()
    chosen = np.random.default_rng(seed).choice(tail, min(size, len(tail)), replace=False)
    return sorted(chosen.tolist())


def _weights(edited_case: EditedCase, candidate: int, items: list[EvidenceItem]) -> np.ndarray:
    """What the logit loses without each item alone."""
    variants = [edited_case.variant, *each_without(edited_case, candidate, items)]
    logit_M = edited_case.predictor.standings(variants, candidate).logit_M.numpy()
    return logit_M[0] - logit_M[1:]


def _additive_first(items: list[EvidenceItem], weight_N: np.ndarray, shuffle: np.ndarray) -> np.ndarray:
    """Supporting terms of the sum by size, then all others in a random order."""
    first = [i for i in np.argsort(-weight_N, kind="stable") if items[i].kind not in _ENCODER and weight_N[i] > 0]
    return np.array(first + [i for i in shuffle if i not in first], dtype=np.int64)


def _equal_weight(weight_N: np.ndarray, chosen: np.ndarray, shuffle: np.ndarray) -> np.ndarray:
    """The beginning of a random order whose weights come closest to those of the chosen items."""
    sums = np.concatenate([[0.0], np.cumsum(weight_N[shuffle])])
    return shuffle[: int(np.argmin(np.abs(sums - weight_N[chosen].sum())))]


def _stability(
    edited_case: EditedCase, candidate: int, items: list[EvidenceItem], weight_N: np.ndarray
) -> float | None:
    """Mean rank correlation of the weights with those of slightly changed cases, over the items that both have."""
    base, weight = edited_case.variant, {(item.kind, item.key): i for i, item in enumerate(items)}
    changed = []
    for shift in (-CLOCK_SHIFT_SECONDS, CLOCK_SHIFT_SECONDS):
        local_H = base.history.local_seconds_H.copy()
        local_H[-2] += shift
        shifted = replace(base, history=replace(base.history, local_seconds_H=local_H))
        changed.append(edited_case.perturbed(shifted, edited_case.visit_H))
    if len(base.history) > 3:
        shorter = without_visits(edited_case, [int(edited_case.visit_H[0])])[0]
        changed.append(edited_case.perturbed(shorter, edited_case.visit_H[1:]))
    agreed = []
    for other in changed:
        others = evidence_items(other, candidate)
        shared = [(weight[item.kind, item.key], j) for j, item in enumerate(others) if (item.kind, item.key) in weight]
        if len(shared) < 3:
            continue
        before, after = weight_N[[i for i, _ in shared]], _weights(other, candidate, others)[[j for _, j in shared]]
        if np.ptp(before) > 0 and np.ptp(after) > 0:
            agreed.append(float(spearmanr(before, after).statistic))
    return float(np.mean(agreed)) if agreed else None
