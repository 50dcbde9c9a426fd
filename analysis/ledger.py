"""Exact score parts of one case, recomputed on their own and held against the total (Eqs. 5, 9, 13, 14)."""

import math

import numpy as np
import torch

from analysis.explanation import CandidateLedger, CaseExplanation, PathLedger
from recap import columns as c
from recap.errors import CaseError
from recap.predictor import Predictor


def explain_case(predictor: Predictor, number: int, *, top: int = 10, extra: tuple[int, ...] = ()) -> CaseExplanation:
    """Explain one test case: the best candidates and the target in parts, and the two-hop paths to the target.

    Args:
        number: test case, from 0 in records order.
        top: how many of the best candidates to list; the target is always among them.
        extra: further POIs to list.

    Raises:
        CaseError: no such case, or an unknown POI among ``extra``.
    """
    case = predictor.case(number)
    for poi in extra:
        if not 0 <= poi < predictor.dataset.num_pois:
            raise CaseError(f"there is no POI {poi}; this dataset has POIs 0 to {predictor.dataset.num_pois - 1}")
    source, target = int(case["source"]), int(case["target"])
    total_P = predictor.score(predictor.batch([int(case["row"])])).total[0]
    best = total_P.topk(min(top, len(total_P))).indices.tolist()
    listed = list(dict.fromkeys([*best, target, *extra]))
    candidates = sorted(ledger(predictor, int(case["row"]), listed, total_P), key=lambda entry: entry.rank)
    paths = predictor.graph.two_hop_paths(source, target)
    dataset = predictor.dataset
    return CaseExplanation(
        case=number,
        user=int(case["user"]),
        source=source,
        source_name=dataset.poi_label(source),
        target=target,
        target_name=dataset.poi_label(target),
        target_rank=_rank(total_P, target),
        transition_count=int(case["transition_count"]),
        in_history=bool(case["in_history"]),
        within_two_hops=bool(case["within_two_hops"]),
        two_step_walk=bool(case["two_step_walk"]),
        inactive=predictor.checkpoint.inactive_parts,
        candidates=candidates,
        paths=[
            PathLedger.parse({"name": dataset.poi_label(int(path["middle"]))} | {str(k): v for k, v in path.items()})
            for path in paths.to_dict(orient="records")
        ],
        a2_source_target=float(predictor.graph.two_step_probability(np.array([source]), np.array([target]))[0]),
        dataset_hash=dataset.hash,
        checkpoint_hash=predictor.checkpoint.hash,
    )


def ledger(predictor: Predictor, row: int, pois: list[int], total_P: torch.Tensor) -> list[CandidateLedger]:
    """Score parts of chosen candidates of the case at a source row.

    Visits, recency and window are counted from the check-in table itself, not taken from the packed candidates.
    """
    batch = predictor.batch([row])
    state_BD, core_BP = predictor.core_scores(batch)
    revisit = predictor.revisit_parts(batch, state_BD)
    gates: dict[int, float] = {}
    if revisit is not None and revisit.gate_C is not None:
        gates = dict(zip(revisit.candidates.poi_C.tolist(), revisit.gate_C.tolist(), strict=True))
    probability_P = torch.softmax(total_P, dim=0)
    entries = []
    for poi in pois:
        count, recency, window = _prior_terms(predictor, row, poi) if revisit is not None else (0.0, 0.0, 0.0)
        raw = count + recency + window
        prior = min(max(raw, 0.0), predictor.checkpoint.manifest.train.model.prior.max_prior)
        correction = 0.0
        if poi in gates:
            assert predictor.model.calibration is not None
            correction = float(predictor.model.calibration.scale) * gates[poi] * prior
        core, total = float(core_BP[0, poi]), float(total_P[poi])
        entries.append(
            CandidateLedger(
                poi=poi,
                name=predictor.dataset.poi_label(poi),
                category=str(predictor.dataset.pois[c.CATEGORY].iat[poi]),
                rank=_rank(total_P, poi),
                probability=float(probability_P[poi]),
                core=core,
                count=count,
                recency=recency,
                window=window,
                clip_loss=raw - prior,
                prior=prior,
                gate=gates.get(poi),
                correction=correction,
                total=total,
                residual=total - (core + prior + correction),
            )
        )
    return entries


def _prior_terms(predictor: Predictor, row: int, poi: int) -> tuple[float, float, float]:
    """lambda_prior times each weighted statistic of one candidate (Eq. 9); zeros outside the history."""
    first = int(predictor.checkins.first_T[row])
    visits = first + np.flatnonzero(predictor.checkins.poi_T[first:row].numpy() == poi)
    config = predictor.checkpoint.manifest.train.model
    prior = predictor.model.prior
    if len(visits) == 0 or prior is None or _beyond_cap(predictor, row, int(visits[-1]), config.max_candidates):
        return 0.0, 0.0, 0.0
    steps = row - int(visits[-1])
    scale, tau = float(prior.scale), math.exp(float(prior.log_recency_steps))
    count = scale * float(prior.count_weight) * math.log1p(len(visits)) if prior.count_weight is not None else 0.0
    recency = scale * float(prior.recency_weight) * math.exp(-steps / tau) if prior.recency_weight is not None else 0.0
    in_window = steps <= config.recent_window
    window = scale * float(prior.window_weight) * in_window if prior.window_weight is not None else 0.0
    return count, recency, window


def _beyond_cap(predictor: Predictor, row: int, last_visit: int, max_candidates: int) -> bool:
    """Whether so many other POIs were visited more recently that this one is not kept as a candidate."""
    newer = predictor.checkins.poi_T[last_visit + 1 : row]
    return len(torch.unique(newer)) >= max_candidates


def _rank(total_P: torch.Tensor, poi: int) -> float:
    better, equal = int((total_P > total_P[poi]).sum()), int((total_P == total_P[poi]).sum())
    return better + (equal + 1) / 2
