"""Totals of one case for many states of its encoder: core and gates follow the state, prior and evidence stand still.

Shape suffixes: M states, P POIs, C revisit candidates of the case, D hidden features, G features of the gate.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from analysis.explain.edited_case import EditedCase
from recap.evaluation.standings import Addends, ScoreBlocks
from recap.model.recap import RevisitParts
from recap.predictor import variants_per_pass
from recap.scores import CaseBatch

_STATES_AND_CANDIDATES = 1 << 15
Report = Callable[[int, int], None]


class StateTotals:
    """What `recap.model.recap.Recap` scores for states that only the encoder's tokens tell apart.

    Attributes:
        fixed_P: prior and evidence of every place; the prior alone where the state weighs the evidence.
        poi_C: candidates that a correction acts on; none where it is inactive.
    """

    def __init__(self, edited_case: EditedCase) -> None:
        predictor = edited_case.predictor
        self._output, self._factor_P = predictor.model.core.output, edited_case.core_factors
        with torch.inference_mode():
            batch, changes = predictor.pack([edited_case.variant])
            revisit = predictor.revisit_parts(batch, predictor.state(batch, changes), changes)
            evidence = predictor.model.evidence
            self.fixed_P = torch.zeros_like(self._output.bias)
            acts = evidence is not None and edited_case.is_active("evidence")
            self._weighed = edited_case if acts and predictor.weighs_clues else None
            if evidence is not None and acts and self._weighed is None:
                self.fixed_P = self.fixed_P + evidence(batch, changes)[0]
            if revisit is not None:
                self.fixed_P = self.fixed_P.index_add(0, revisit.candidates.poi_C, revisit.terms.prior_C)
            self._gates = None
            if revisit is not None and revisit.gate_C is not None and edited_case.is_active("correction"):
                self._gates = _Gates(edited_case, batch, revisit)
        self.poi_C = torch.zeros(0, dtype=torch.int64) if self._gates is None else self._gates.poi_C

    def of(self, state_MD: Tensor, core_MP: Tensor) -> tuple[Tensor, Tensor]:
        """Totals (M, P) of states and their core scores, and the candidates' gates (M, C)."""
        total_MP = core_MP + self.fixed_P
        if self._weighed is not None:
            total_MP = total_MP + _weighed_evidence(self._weighed, state_MD)
        if self._gates is None:
            return total_MP, core_MP.new_zeros(len(state_MD), 0)
        gate_MC = self._gates.of(state_MD)
        total_MP[:, self.poi_C] += gate_MC * self._gates.factor_C
        return total_MP, gate_MC

    def log_probability(self, state_MD: Tensor, poi: int, report: Report | None = None) -> Tensor:
        """Log of one place's softmax probability in each state, (M,); totals of all places are never laid out.

        Args:
            report: told (places done, places in all).
        """
        if self._weighed is not None:  # the evidence of every place differs from state to state
            parts = state_MD.split(variants_per_pass(len(self.fixed_P)))
            totals = [self.of(part_MD, self._core(part_MD))[0] for part_MD in parts]
            return torch.cat([total_MP[:, poi] - torch.logsumexp(total_MP, dim=1) for total_MP in totals])
        size, addends = len(state_MD), Addends.none(self.fixed_P.dtype)
        if self._gates is not None:
            value_MC = self._gates.of(state_MD) * self._gates.factor_C
            scoring_M1 = torch.arange(size)[:, None]
            addends = Addends(scoring_M1.expand_as(value_MC).flatten(), self.poi_C.repeat(size), value_MC.flatten())
        blocks = ScoreBlocks(self._output, state_MD, addends, fixed_P=self.fixed_P, factor_P=self._factor_P)
        own_M, sums, num_pois = self.fixed_P.new_zeros(size), [], len(self.fixed_P)
        for start, total_MB in blocks:
            end = start + total_MB.shape[1]
            sums.append(torch.logsumexp(total_MB, dim=1))
            if start <= poi < end:
                own_M = total_MB[:, poi - start]
            if report is not None:
                report(end, num_pois)
        return own_M - torch.logsumexp(torch.stack(sums), dim=0)

    def _core(self, state_MD: Tensor) -> Tensor:
        core_MP = self._output(state_MD)
        return core_MP if self._factor_P is None else core_MP * self._factor_P


def _weighed_evidence(edited_case: EditedCase, state_MD: Tensor) -> Tensor:
    """Evidence (M, P) of a case's history as each state weighs it."""
    predictor = edited_case.predictor
    evidence = predictor.model.evidence
    assert evidence is not None
    batch, changes = predictor.pack([edited_case.variant] * len(state_MD))
    return evidence(batch, changes, state_MD)


class _Gates:
    """Gates of all candidates of one case for many states: only the context query depends on the state (Eqs. 10-12)."""

    def __init__(self, edited_case: EditedCase, batch: CaseBatch, revisit: RevisitParts) -> None:
        model = edited_case.predictor.model
        assert model.calibration is not None and model.prior is not None
        self._calibration, candidates = model.calibration, revisit.candidates
        statistics_C3 = torch.stack(model.prior.statistics(candidates), dim=1)
        features_CD = self._calibration.history_features(batch, candidates, statistics_C3)
        embedding_CE = model.poi_embedding(candidates.poi_C)
        self._candidate_CG = self._calibration.candidate(torch.cat([embedding_CE, features_CD], dim=1))
        self._now_1 = batch.checkins.local_seconds_T[batch.row_B]
        self.poi_C = candidates.poi_C
        self.factor_C = self._calibration.scale * revisit.terms.prior_C

    def of(self, state_MD: Tensor) -> Tensor:
        """Gates (M, C)."""
        query_MG = self._calibration.context_query(state_MD, self._now_1.expand(len(state_MD)))
        size = max(1, _STATES_AND_CANDIDATES // max(1, len(self.poi_C)))
        return torch.cat([self._calibration.gates(part_MG, self._candidate_CG) for part_MG in query_MG.split(size)])
