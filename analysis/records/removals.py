"""Ranks of every case's truth with one source of evidence taken away for all places, and the points of each row.

What a source takes away (`analysis.records.score_rows`):

- ``graph_token``: the token's content is zero, as before its first epoch; core and correction follow.
- ``two_hop_addends``, ``own_transitions``, ``others_transitions``, ``hour_and_weekday``, ``distance``, ``popularity``:
  their evidence terms. ``two_hops``: token and two-hop addends.
- ``own_revisits``: prior, correction and every evidence term that rests on the user's visits. The check-ins that the
  encoder reads stay.
- ``core``: the core score; the state behind it still feeds the gate. ``correction``: the correction.
- ``clip``: the prior stands unclipped, the correction scales it so.

Totals are added up anew from what is left and never by subtraction, so that places which nothing tells apart stay tied.

Shape suffixes: B cases, P POIs, C packed candidates, F evidence terms.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from analysis.records.score_rows import ROWS, SOURCES, row_of_term, terms_of_source
from recap import columns as c
from recap.device import one_thread
from recap.evidence.config import DENSE_FEATURES
from recap.model.evidence_terms import TWO_HOP, EvidenceTerms, EvidenceValues
from recap.model.interventions import Interventions
from recap.model.recap import RevisitParts
from recap.predictor import Predictor
from recap.scores import CaseBatch

CASES_PER_BATCH = 128
COLUMNS = (
    c.CASE,
    c.RANK,
    "first",
    "gates",
    "negative_gates",
    *(f"without_{source}" for source in SOURCES),
    *(f"points_{row}" for row in ROWS),
)
GRAPH_POINTS = "points_graph_token"


def describe_removals(predictor: Predictor, cases: pd.DataFrame) -> pd.DataFrame:
    """Rank of the truth as it is and without each source, and the truth's points by row.

    Args:
        cases: rows of `Predictor.cases_of`.

    Returns:
        One row per case: ``case, rank`` (mean over ties), ``first`` (the first place), ``gates, negative_gates`` (of
        its candidates; 0 while the correction is inactive), ``without_<source>`` (rank; NaN where the model has no such
        source, or it is inactive), ``points_<row>`` (the row's points of the truth less
        their mean over all places; NaN likewise) and ``points_graph_token`` (what the token, no addend, adds to the
        truth's log probability).
    """
    starts = range(0, len(cases), CASES_PER_BATCH)
    with one_thread():
        pieces = [_describe(predictor, cases.iloc[start : start + CASES_PER_BATCH]) for start in starts]
    columns = pd.Index([*COLUMNS, GRAPH_POINTS])
    return pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame(columns=columns, dtype=np.float64)


def removed_totals(predictor: Predictor, batch: CaseBatch) -> dict[str, Tensor]:
    """Totals (B, P) without each source that the model has, by name."""
    return _totals(predictor, batch, _read(predictor, batch))


def totals_without_two_hops(
    predictor: Predictor,
    batch: CaseBatch,
    changes: Interventions | None = None,
    inactive: Sequence[str] | None = None,
) -> Tensor | None:
    """Totals (B, P) without token and two-hop addends, as `removed_totals` has them; None in a model with neither.

    Args:
        changes: of counterfactual copies, see `Predictor.pack`.
        inactive: parts that play no role there; the checkpoint's by default.
    """
    return _without_two_hops(_read(predictor, batch, changes, inactive))


@dataclass(frozen=True, eq=False)
class _Read:
    """One forward pass taken apart: with the token, and (None where there is none) without it."""

    core_BP: Tensor
    revisit: RevisitParts | None
    core_off_BP: Tensor | None
    revisit_off: RevisitParts | None
    terms: EvidenceTerms | None
    values: EvidenceValues | None
    values_off: EvidenceValues | None


def _read(
    predictor: Predictor,
    batch: CaseBatch,
    changes: Interventions | None = None,
    inactive: Sequence[str] | None = None,
) -> _Read:
    inactive, terms = predictor.checkpoint.inactive_parts if inactive is None else inactive, predictor.model.evidence
    state_BD, core_BP = predictor.core_scores(batch, changes)
    revisit = predictor.revisit_parts(batch, state_BD, changes)
    core_off_BP, revisit_off, state_off_BD = None, None, None
    if "graph_token" not in inactive:
        no_token_B = torch.zeros(len(batch), dtype=core_BP.dtype)
        off = replace(changes or Interventions(), graph_factor_B=no_token_B)
        state_off_BD, core_off_BP = predictor.core_scores(batch, off)
        revisit_off = predictor.revisit_parts(batch, state_off_BD, changes)
    if terms is None or "evidence" in inactive:
        return _Read(core_BP, revisit, core_off_BP, revisit_off, None, None, None)
    values = values_off = predictor.evidence_values(batch, changes, state_BD)
    if terms.reads_state and state_off_BD is not None:  # without the token other clues count
        values_off = predictor.evidence_values(batch, changes, state_off_BD)
    return _Read(core_BP, revisit, core_off_BP, revisit_off, terms, values, values_off)


def _totals(predictor: Predictor, batch: CaseBatch, read: _Read) -> dict[str, Tensor]:
    core_BP, revisit = read.core_BP, read.revisit
    nothing_BP = torch.zeros_like(core_BP)
    evidence_BP = _evidence(read, frozenset(), nothing_BP)
    revisit_C = _revisit(revisit)
    totals = {}

    if read.core_off_BP is not None:
        off_BP = _evidence(replace(read, values=read.values_off), frozenset(), nothing_BP)
        totals["graph_token"] = _added(read.core_off_BP, off_BP, read.revisit_off, _revisit(read.revisit_off))
    if read.terms is not None:
        for source in SOURCES:
            gone = terms_of_source(source, read.terms.names)
            if gone and source not in ("own_revisits", "two_hops", "core"):
                totals[source] = _added(core_BP, _evidence(read, gone, nothing_BP), revisit, revisit_C)
    without_two_hops = _without_two_hops(read)
    if without_two_hops is not None:
        totals["two_hops"] = without_two_hops
    if revisit is not None or read.terms is not None:
        own = frozenset() if read.terms is None else terms_of_source("own_revisits", read.terms.names)
        totals["own_revisits"] = _added(core_BP, _evidence(read, own, nothing_BP), None, None)
    network = frozenset() if read.terms is None else terms_of_source("core", read.terms.names)
    other_BP = _evidence(read, network, nothing_BP) if network else evidence_BP
    totals["core"] = _added(nothing_BP, other_BP, revisit, revisit_C)
    if revisit is not None:
        if revisit.gate_C is not None:
            totals["correction"] = _added(core_BP, evidence_BP, revisit, revisit.terms.prior_C)
        totals["clip"] = _added(core_BP, evidence_BP, revisit, _unclipped(predictor, revisit))
    return {source: totals[source] for source in SOURCES if source in totals}


def _without_two_hops(read: _Read) -> Tensor | None:
    if read.core_off_BP is None and read.terms is None:
        return None
    core_BP, parts = read.core_BP, read.revisit
    if read.core_off_BP is not None:
        core_BP, parts, read = read.core_off_BP, read.revisit_off, replace(read, values=read.values_off)
    evidence_BP = _evidence(read, frozenset({TWO_HOP}), torch.zeros_like(core_BP))
    return _added(core_BP, evidence_BP, parts, _revisit(parts))


def _added(core_BP: Tensor, evidence_BP: Tensor, revisit: RevisitParts | None, value_C: Tensor | None) -> Tensor:
    """Core and evidence of all places with what packed candidates have beside, (B, P)."""
    total_BP = core_BP + evidence_BP
    if revisit is None or value_C is None:
        return total_BP
    index_C = revisit.candidates.case_C * total_BP.shape[1] + revisit.candidates.poi_C
    return total_BP.reshape(-1).index_add_(0, index_C, value_C).view_as(total_BP)


def _revisit(revisit: RevisitParts | None) -> Tensor | None:
    if revisit is None:
        return None
    prior_C = revisit.terms.prior_C
    return prior_C if revisit.correction_C is None else torch.stack([prior_C, revisit.correction_C]).sum(0)


def _unclipped(predictor: Predictor, revisit: RevisitParts) -> Tensor:
    raw_C = revisit.terms.count_C + revisit.terms.recency_C + revisit.terms.window_C
    if revisit.gate_C is None or predictor.model.calibration is None:
        return raw_C
    return raw_C + predictor.model.calibration.scale.detach() * revisit.gate_C * raw_C


def _evidence(read: _Read, gone: frozenset[str], nothing_BP: Tensor) -> Tensor:
    """E_t(d) of every POI (B, P) without some terms."""
    if read.terms is None or read.values is None:
        return nothing_BP
    kept_F = torch.tensor([name not in gone for name in read.terms.names], dtype=read.values.weight_BF.dtype)
    return read.terms.total(read.values, kept_F).detach()


def _describe(predictor: Predictor, cases: pd.DataFrame) -> pd.DataFrame:
    batch = predictor.batch(cases[c.ROW].tolist())
    target_B = torch.tensor(cases[c.TARGET].to_numpy(np.int64))
    total_BP = predictor.score(batch).total  # what the records rank by, to the last digit
    read = _read(predictor, batch)
    totals = _totals(predictor, batch, read)
    columns: dict[str, np.ndarray] = {
        c.CASE: cases[c.CASE].to_numpy(np.int64),
        c.RANK: mean_ranks(total_BP, target_B),
        "first": total_BP.argmax(1).numpy(),
        "gates": np.zeros(len(cases), dtype=np.int64),
        "negative_gates": np.zeros(len(cases), dtype=np.int64),
    }
    if read.revisit is not None and read.revisit.gate_C is not None:
        case_C, is_negative_C = read.revisit.candidates.case_C, read.revisit.gate_C < 0
        columns["gates"] = torch.bincount(case_C, minlength=len(cases)).numpy()
        columns["negative_gates"] = torch.bincount(case_C[is_negative_C], minlength=len(cases)).numpy()
    missing = np.full(len(cases), np.nan)
    for source in SOURCES:
        known = source in totals
        columns[f"without_{source}"] = mean_ranks(totals[source], target_B) if known else missing
    points = _points(batch, read, target_B)
    columns |= {f"points_{row}": points[row].numpy() if row in points else missing for row in ROWS}
    if "graph_token" in totals:
        gained_B = log_probability(total_BP, target_B) - log_probability(totals["graph_token"], target_B)
        columns[GRAPH_POINTS] = gained_B.numpy()
    else:
        columns[GRAPH_POINTS] = missing
    return pd.DataFrame(columns)


def _points(batch: CaseBatch, read: _Read, target_B: Tensor) -> dict[str, Tensor]:
    """The truth's points of each row less the row's mean over all places, (B,) each."""
    num_pois, size = read.core_BP.shape[1], len(batch)
    points = {"core": centred(read.core_BP, target_B)}

    def packed(case_C: Tensor, poi_C: Tensor, value_C: Tensor) -> Tensor:
        own_C = torch.where(poi_C == target_B[case_C], value_C, 0.0) - value_C / num_pois
        return torch.zeros(size, dtype=torch.float64).index_add_(0, case_C, own_C.double())

    if read.revisit is not None:
        where = read.revisit.candidates.case_C, read.revisit.candidates.poi_C
        points["own_visits"] = packed(*where, read.revisit.terms.prior_C)
        if read.revisit.correction_C is not None:
            points["correction"] = packed(*where, read.revisit.correction_C)
    if read.terms is not None and read.values is not None:
        for row, points_B in evidence_points(read.terms, read.values, target_B, num_pois).items():
            points[row] = points[row] + points_B if row in points else points_B
    return points


def evidence_points(terms: EvidenceTerms, values: EvidenceValues, poi_B: Tensor, num_pois: int) -> dict[str, Tensor]:
    """Points of the evidence by row, of one place of each case, less their mean over all places: (B,) each."""
    evidence, walks, weight_BF = values.evidence, values.walks, values.weight_BF.detach()
    size = len(poi_B)

    def packed(case_C: Tensor, place_C: Tensor, value_C: Tensor) -> Tensor:
        own_C = torch.where(place_C == poi_B[case_C], value_C, 0.0) - value_C / num_pois
        return torch.zeros(size, dtype=torch.float64).index_add_(0, case_C, own_C.double())

    points: dict[str, Tensor] = {}
    for at, name in enumerate(terms.names):
        if name in evidence.dense:
            points_B = centred((weight_BF[:, at, None] * evidence.dense[name]).expand(size, num_pois), poi_B)
        elif name == TWO_HOP:
            points_B = packed(walks.case_W, walks.destination_W, terms.walk_terms(values))
        else:
            column_C = evidence.packed_CF[:, at - len(DENSE_FEATURES) - 1]
            points_B = packed(evidence.case_C, evidence.poi_C, weight_BF[evidence.case_C, at] * column_C)
        row = row_of_term(name)
        points[row] = points[row] + points_B if row in points else points_B
    return points


def centred(value_BP: Tensor, poi_B: Tensor) -> Tensor:
    """One place's value in each row less the mean over all places, (B,)."""
    return value_BP.gather(1, poi_B[:, None])[:, 0] - value_BP.mean(1)


def log_probability(total_BP: Tensor, poi_B: Tensor) -> Tensor:
    """Log of one place's softmax probability in each row, (B,)."""
    return total_BP.gather(1, poi_B[:, None])[:, 0] - torch.logsumexp(total_BP, dim=1)


def mean_ranks(total_BP: Tensor, poi_B: Tensor) -> np.ndarray:
    """Rank of one place in each row, 1 is best; the mean rank where totals are equal."""
    own_B1 = total_BP.gather(1, poi_B[:, None])
    better_B, equal_B = (total_BP > own_B1).sum(1), (total_BP == own_B1).sum(1)
    return (better_B + (equal_B + 1) / 2).double().numpy()
