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
    return _totals(predictor, _read(predictor, batch))


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
    terms = _acting_evidence(predictor, inactive)
    has_token = "graph_token" not in (predictor.checkpoint.inactive_parts if inactive is None else inactive)
    if not has_token and terms is None:
        return None
    changes = _without_token(batch, changes) if has_token else changes
    return _without_two_hops(terms, _parts(predictor, batch, changes, terms))


@dataclass(frozen=True, eq=False)
class _Parts:
    """One forward pass taken apart."""

    core_BP: Tensor
    revisit: RevisitParts | None
    values: EvidenceValues | None


@dataclass(frozen=True, eq=False)
class _Read:
    """The parts with the graph token, and (None where there is none) without it."""

    parts: _Parts
    off: _Parts | None
    terms: EvidenceTerms | None


def _read(predictor: Predictor, batch: CaseBatch) -> _Read:
    inactive, terms = predictor.checkpoint.inactive_parts, _acting_evidence(predictor)
    parts, off = _parts(predictor, batch, None, terms), None
    if "graph_token" not in inactive:
        # Without the token other clues count only where h_t weighs them.
        known = None if terms is None or terms.reads_state else parts.values
        off = _parts(predictor, batch, _without_token(batch, None), terms, known)
    return _Read(parts, off, terms)


def _acting_evidence(predictor: Predictor, inactive: Sequence[str] | None = None) -> EvidenceTerms | None:
    inactive = predictor.checkpoint.inactive_parts if inactive is None else inactive
    return None if "evidence" in inactive else predictor.model.evidence


def _without_token(batch: CaseBatch, changes: Interventions | None) -> Interventions:
    return replace(changes or Interventions(), graph_factor_B=torch.zeros(len(batch), dtype=torch.float64))


def _parts(
    predictor: Predictor,
    batch: CaseBatch,
    changes: Interventions | None,
    terms: EvidenceTerms | None,
    values: EvidenceValues | None = None,
) -> _Parts:
    state_BD, core_BP = predictor.core_scores(batch, changes)
    if terms is not None and values is None:
        values = predictor.evidence_values(batch, changes, state_BD)
    return _Parts(core_BP, predictor.revisit_parts(batch, state_BD, changes), values)


def _totals(predictor: Predictor, read: _Read) -> dict[str, Tensor]:
    core_BP, revisit, terms, values = read.parts.core_BP, read.parts.revisit, read.terms, read.parts.values
    nothing_BP = torch.zeros_like(core_BP)
    evidence_BP = _evidence(terms, values, frozenset(), nothing_BP)
    revisit_C = _revisit(revisit)
    totals = {}

    if read.off is not None:
        off_BP = _evidence(terms, read.off.values, frozenset(), nothing_BP)
        totals["graph_token"] = _added(read.off.core_BP, off_BP, read.off.revisit, _revisit(read.off.revisit))
    if terms is not None:
        for source in SOURCES:
            gone = terms_of_source(source, terms.names)
            if gone and source not in ("own_revisits", "two_hops", "core"):
                totals[source] = _added(core_BP, _evidence(terms, values, gone, nothing_BP), revisit, revisit_C)
    if read.off is not None or terms is not None:
        totals["two_hops"] = _without_two_hops(terms, read.off or read.parts)
    if revisit is not None or terms is not None:
        own = frozenset() if terms is None else terms_of_source("own_revisits", terms.names)
        totals["own_revisits"] = _added(core_BP, _evidence(terms, values, own, nothing_BP), None, None)
    network = frozenset() if terms is None else terms_of_source("core", terms.names)
    other_BP = _evidence(terms, values, network, nothing_BP) if network else evidence_BP
    totals["core"] = _added(nothing_BP, other_BP, revisit, revisit_C)
    if revisit is not None:
        if revisit.gate_C is not None:
            totals["correction"] = _added(core_BP, evidence_BP, revisit, revisit.terms.prior_C)
        totals["clip"] = _added(core_BP, evidence_BP, revisit, _unclipped(predictor, revisit))
    return {source: totals[source] for source in SOURCES if source in totals}


def _without_two_hops(terms: EvidenceTerms | None, off: _Parts) -> Tensor:
    evidence_BP = _evidence(terms, off.values, frozenset({TWO_HOP}), torch.zeros_like(off.core_BP))
    return _added(off.core_BP, evidence_BP, off.revisit, _revisit(off.revisit))


def _added(core_BP: Tensor, evidence_BP: Tensor, revisit: RevisitParts | None, value_C: Tensor | None) -> Tensor:
    """Core and evidence of all places with what packed candidates have beside, (B, P)."""
    total_BP = core_BP + evidence_BP
    if revisit is None or value_C is None:
        return total_BP
    index_C = revisit.candidates.case_C * total_BP.shape[1] + revisit.candidates.poi_C
    return total_BP.reshape(-1).index_add_(0, index_C, value_C).view_as(total_BP)


def _revisit(revisit: RevisitParts | None) -> Tensor | None:
    return None if revisit is None else revisit.value_C


def _unclipped(predictor: Predictor, revisit: RevisitParts) -> Tensor:
    raw_C = revisit.terms.count_C + revisit.terms.recency_C + revisit.terms.window_C
    if revisit.gate_C is None or predictor.model.calibration is None:
        return raw_C
    return raw_C + predictor.model.calibration.scale.detach() * revisit.gate_C * raw_C


def _evidence(
    terms: EvidenceTerms | None, values: EvidenceValues | None, gone: frozenset[str], nothing_BP: Tensor
) -> Tensor:
    """E_t(d) of every POI (B, P) without some terms."""
    if terms is None or values is None:
        return nothing_BP
    kept_F = torch.tensor([name not in gone for name in terms.names], dtype=values.weight_BF.dtype)
    return terms.total(values, kept_F).detach()


def _describe(predictor: Predictor, cases: pd.DataFrame) -> pd.DataFrame:
    batch = predictor.batch(cases[c.ROW].tolist())
    target_B = torch.tensor(cases[c.TARGET].to_numpy(np.int64))
    total_BP = predictor.score(batch).total  # what the records rank by, to the last digit
    read = _read(predictor, batch)
    totals, revisit = _totals(predictor, read), read.parts.revisit
    columns: dict[str, np.ndarray] = {
        c.CASE: cases[c.CASE].to_numpy(np.int64),
        c.RANK: mean_ranks(total_BP, target_B),
        "first": total_BP.argmax(1).numpy(),
        "gates": np.zeros(len(cases), dtype=np.int64),
        "negative_gates": np.zeros(len(cases), dtype=np.int64),
    }
    if revisit is not None and revisit.gate_C is not None:
        case_C, is_negative_C = revisit.candidates.case_C, revisit.gate_C < 0
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
    core_BP, revisit, values = read.parts.core_BP, read.parts.revisit, read.parts.values
    num_pois, size = core_BP.shape[1], len(batch)
    points = {"core": centred(core_BP, target_B)}

    def packed(case_C: Tensor, poi_C: Tensor, value_C: Tensor) -> Tensor:
        own_C = torch.where(poi_C == target_B[case_C], value_C, 0.0) - value_C / num_pois
        return torch.zeros(size, dtype=torch.float64).index_add_(0, case_C, own_C.double())

    if revisit is not None:
        where = revisit.candidates.case_C, revisit.candidates.poi_C
        points["own_visits"] = packed(*where, revisit.terms.prior_C)
        if revisit.correction_C is not None:
            points["correction"] = packed(*where, revisit.correction_C)
    if read.terms is not None and values is not None:
        for row, points_B in evidence_points(read.terms, values, target_B, num_pois).items():
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
