"""Exact score parts of a case, recomputed on their own and held against the total (Eqs. 5, 9, 13, 14)."""

import math
from collections.abc import Sequence

import numpy as np

from analysis.explain.edited_case import EditedCase, build_edited_case
from analysis.explain.edits import Edit
from analysis.explain.paths import two_hop_paths
from analysis.explain.types import CaseExplanation, ScoreDecomposition
from recap import columns as c
from recap.device import one_thread
from recap.evaluation.ranks import rank_of
from recap.predictor import Predictor


@one_thread()
def explain_case(
    predictor: Predictor,
    number: int,
    *,
    top: int = 10,
    extra: Sequence[int] = (),
    edits: tuple[Edit, ...] = (),
    split: int = c.TEST,
) -> CaseExplanation:
    """Explain one case: the best candidates and the target in parts, and the two-hop paths to the target.

    Args:
        number: case of the split, from 0 in records order.
        top: how many of the best candidates to list; the target is always among them.
        extra: further POIs to list.
        edits: what-if edits, applied in order; everything is told of the edited case.

    Raises:
        CaseError: no such case, an unknown POI among ``extra``, or an edit that does not fit.
    """
    return explain_edited_case(build_edited_case(predictor, number, edits, split), top=top, extra=extra)


def explain_edited_case(edited_case: EditedCase, *, top: int = 10, extra: Sequence[int] = ()) -> CaseExplanation:
    """What `explain_case` returns, of a case with its edits applied.

    Raises:
        CaseError: an unknown POI among ``extra``.
    """
    for poi in extra:
        edited_case.check_poi(poi)
    predictor, case, total_P = edited_case.predictor, edited_case.case, edited_case.total_P
    source, target = edited_case.source, edited_case.target
    best = total_P.topk(min(top, len(total_P))).indices.tolist()
    listed = list(dict.fromkeys([*best, target, *extra]))
    paths = two_hop_paths(edited_case, target)
    history = edited_case.variant.history
    is_edited = bool(edited_case.edits) or target != edited_case.truth  # the case table tells of the truth as it was
    graph = predictor.graph
    return CaseExplanation(
        case=case.number,
        user=case.user,
        source=source,
        source_name=predictor.dataset.poi_labels[source],
        target=target,
        target_name=predictor.dataset.poi_labels[target],
        target_rank=rank_of(total_P, target),
        transition_count=edited_case.transition_count(source, target),
        in_history=bool((history.poi_H[:-2] == target).any()) if is_edited else case.in_history,
        within_two_hops=(
            edited_case.transition_count(source, target) > 0 or len(paths) > 0 if is_edited else case.within_two_hops
        ),
        two_step_walk=len(paths) > 0 if is_edited else case.two_step_walk,
        inactive=[part for part in edited_case.inactive if part in ("graph_token", "prior", "correction", "evidence")],
        candidates=sorted(decompose_scores(edited_case, listed), key=lambda entry: entry.rank),
        paths=paths,
        a2_source_target=(
            sum(path.product for path in paths)
            if is_edited
            else float(graph.two_step_probability(np.array([source]), np.array([target]))[0])
        ),
        dataset_hash=predictor.dataset.hash,
        checkpoint_hash=predictor.checkpoint.hash,
    )


def decompose_scores(edited_case: EditedCase, pois: Sequence[int]) -> list[ScoreDecomposition]:
    """Score parts of chosen candidates.

    Visits, recency and window are counted from the check-ins themselves, not taken from the packed candidates.
    """
    predictor, total_P = edited_case.predictor, edited_case.total_P
    gates = edited_case.gates
    entries = []
    for poi in pois:
        count, recency, window = prior_terms(edited_case, poi)
        raw = count + recency + window
        prior = min(max(raw, 0.0), edited_case.config.prior.max_prior)
        correction = 0.0
        if poi in gates:
            assert predictor.model.calibration is not None
            correction = float(predictor.model.calibration.scale) * gates[poi] * prior
        core, total = edited_case.core_of(poi), float(total_P[poi])
        terms = edited_case.evidence_terms(poi)
        evidence = math.fsum(terms.values())
        entries.append(
            ScoreDecomposition(
                poi=poi,
                name=predictor.dataset.poi_labels[poi],
                category=str(predictor.dataset.pois[c.CATEGORY].iat[poi]),
                rank=rank_of(total_P, poi),
                probability=math.exp(total - float(edited_case.log_sum)),
                core=core,
                count=count,
                recency=recency,
                window=window,
                clip_loss=raw - prior,
                prior=prior,
                gate=gates.get(poi),
                correction=correction,
                evidence=evidence,
                evidence_terms=terms,
                total=total,
                residual=total - (core + prior + correction + evidence),
            )
        )
    return entries


def prior_terms(edited_case: EditedCase, poi: int) -> tuple[float, float, float]:
    """lambda_prior times each weighted statistic of one candidate (Eq. 9); zeros outside the history."""
    past_H = edited_case.variant.history.poi_H[:-2]
    visits = np.flatnonzero(past_H == poi)
    prior = edited_case.predictor.model.prior
    if len(visits) == 0 or prior is None or not edited_case.is_active("prior"):
        return 0.0, 0.0, 0.0
    last = int(visits[-1])
    if len(np.unique(past_H[last + 1 :])) >= edited_case.config.max_candidates:
        return 0.0, 0.0, 0.0  # so many other POIs were visited since that this one is not kept as a candidate
    steps = len(past_H) - last
    scale, tau = float(prior.scale), math.exp(float(prior.log_recency_steps))
    statistics = {
        "count": (prior.count_weight, math.log1p(len(visits))),
        "recency": (prior.recency_weight, math.exp(-steps / tau)),
        "window": (prior.window_weight, float(steps <= edited_case.config.recent_window)),
    }
    count, recency, window = (
        scale * float(weight) * value if weight is not None and edited_case.is_active(name) else 0.0
        for name, (weight, value) in statistics.items()
    )
    return count, recency, window
