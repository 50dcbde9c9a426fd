"""A case with every choice of encoder items masked: what all other places score, and what the candidate's parts are.

A mask changes the encoder's state, and with it every place's core score and gate. Revisit and evidence terms belong to
the candidate alone, so that for a fixed mask all other places stand still: the K-th best of them is a bar that the
candidate's own sum is above or below.

Shape suffixes: M masks, P POIs, C revisit candidates of the case, D hidden features.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from analysis.explain.edited_case import EditedCase
from recap.device import one_thread
from recap.model.recap import RevisitParts
from recap.scores import CaseBatch

_MASKS_PER_PASS = 256
_MASKS_AND_CANDIDATES = 1 << 15


@dataclass(frozen=True, eq=False)
class EncoderPasses:
    """What masks leave of a candidate and of the others.

    Attributes:
        core_M: the candidate's core score.
        gate_M: its gate; 0 where no correction acts on it.
        bar_M: the K-th best total among the other places; -inf where there are fewer.
        tied_drops_M: whether a candidate that equals the bar stands above K (mean rank over ties).
    """

    core_M: np.ndarray
    gate_M: np.ndarray
    bar_M: np.ndarray
    tied_drops_M: np.ndarray


def encoder_passes(edited_case: EditedCase, candidate: int, masks: Sequence[frozenset[int]], k: int) -> EncoderPasses:
    """One encoder pass for each set of masked slots.

    Args:
        masks: encoder slots, see `recap.counterfactuals.Counterfactual.masked`.
        k: of the bar.
    """
    predictor, base = edited_case.predictor, edited_case.variant
    pieces: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []
    with one_thread(), torch.inference_mode():
        batch, changes = predictor.pack([base])
        state_1D, core_1P = predictor.core_scores(batch, changes)
        revisit = predictor.revisit_parts(batch, state_1D, changes)
        evidence = predictor.model.evidence
        fixed_P = torch.zeros_like(core_1P[0])
        if evidence is not None and edited_case.is_active("evidence"):
            fixed_P = fixed_P + evidence(batch, changes)[0]
        if revisit is not None:
            fixed_P = fixed_P.index_add(0, revisit.candidates.poi_C, revisit.terms.prior_C)
        gates = None if revisit is None or revisit.gate_C is None else _Gates(edited_case, batch, revisit)
        for start in range(0, len(masks), _MASKS_PER_PASS):
            variants = [replace(base, masked=base.masked | mask) for mask in masks[start : start + _MASKS_PER_PASS]]
            state_MD, core_MP = predictor.core_scores(*predictor.pack(variants))
            total_MP = core_MP + fixed_P
            gate_M = core_MP.new_zeros(len(variants))
            if gates is not None:
                gate_MC = gates.of(state_MD)
                total_MP[:, gates.poi_C] += gate_MC * gates.factor_C
                own = (gates.poi_C == candidate).nonzero().flatten()
                gate_M = gate_MC[:, own].sum(1) if len(own) else gate_M
            pieces.append((core_MP[:, candidate].clone(), gate_M, *_bars(total_MP, candidate, k)))
    return EncoderPasses(*(torch.cat(values).numpy() for values in zip(*pieces, strict=True)))


def _bars(total_MP: Tensor, candidate: int, k: int) -> tuple[Tensor, Tensor]:
    """The K-th best other total, and whether its equal would stand above K; overwrites the candidate's totals."""
    if k > total_MP.shape[1] - 1:
        nowhere_M = total_MP.new_full((len(total_MP),), -torch.inf)
        return nowhere_M, torch.zeros(len(total_MP), dtype=torch.bool)
    total_MP[:, candidate] = -torch.inf
    bar_M = total_MP.topk(k, dim=1).values[:, -1]
    better_M = (total_MP > bar_M[:, None]).sum(1)
    equal_M = (total_MP == bar_M[:, None]).sum(1)
    return bar_M, better_M + equal_M / 2 + 1 > k


class _Gates:
    """Gates of all candidates of one case for many states: only the context query depends on the state (Eqs. 10-12)."""

    def __init__(self, edited_case: EditedCase, batch: CaseBatch, revisit: RevisitParts) -> None:
        model = edited_case.predictor.model
        assert model.calibration is not None and model.prior is not None
        self._calibration, candidates = model.calibration, revisit.candidates
        statistics_C3 = torch.stack(model.prior.statistics(candidates), dim=1)
        features_CD = self._calibration.history_features(batch, candidates, statistics_C3)
        embedding_CE = model.poi_embedding(candidates.poi_C)
        self._candidate_CD = self._calibration.candidate(torch.cat([embedding_CE, features_CD], dim=1))
        self._now_1 = batch.checkins.local_seconds_T[batch.row_B]
        self.poi_C = candidates.poi_C
        is_on = "correction" not in edited_case.variant.off
        self.factor_C = self._calibration.scale * revisit.terms.prior_C * float(is_on)

    def of(self, state_MD: Tensor) -> Tensor:
        """Gates (M, C)."""
        query_MD = self._calibration.context_query(state_MD, self._now_1.expand(len(state_MD)))
        size = max(1, _MASKS_AND_CANDIDATES // max(1, len(self.poi_C)))
        return torch.cat([self._mixed(part_MD) for part_MD in query_MD.split(size)])

    def _mixed(self, query_MD: Tensor) -> Tensor:
        query_MCD = query_MD[:, None].expand(-1, len(self.poi_C), -1)
        candidate_MCD = self._candidate_CD.expand(len(query_MD), -1, -1)
        mixed = torch.cat([query_MCD, candidate_MCD, query_MCD * candidate_MCD], dim=2)
        return torch.tanh(self._calibration.gate(mixed)).squeeze(2)
