"""A trained RECAP at one stage of its curriculum as a scorer."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from recap.history.tensors import Histories
from recap.model.config import Stage
from recap.model.recap import CLIP, CORE, CORRECTION, UNCHANGED, Interventions, Recap
from recap.model.revisit_prior import PRIOR_TERMS
from recap.scores import GRAPH_TOKEN, Scores, Term


class RecapScorer:
    """Scores without gradients and dropout; propagates once."""

    def __init__(self, model: Recap, stage: Stage, name: str = "recap") -> None:
        self.model = model.eval()
        self.stage = stage
        self.name = name
        with torch.inference_mode():
            self.propagated_PE = model.propagate() if stage.graph_weight > 0 else None

    @property
    def terms(self) -> tuple[Term, ...]:
        return self.model.terms

    @property
    def reads_target_time(self) -> bool:
        return self.model.config.reads_target_time

    @property
    def supported_edits(self) -> frozenset[str]:
        """Kinds of edits that can change its scores: ``visits`` (check-ins added, removed or moved to another place),
        ``times``, ``source`` (the current place); if it reads them ``transitions`` (training counts) and ``paths``
        (single two-hop paths).
        """
        config = self.model.config
        found = {"visits", "times", "source"}
        found |= {"transitions"} if config.has_token or config.has_curves else set()
        found |= {"paths"} if config.has_curves or (config.has_token and config.num_hops == 2) else set()
        return frozenset(found)

    def score(self, histories: Histories, changes: Interventions = UNCHANGED) -> Scores:
        with torch.inference_mode():
            return self.model(histories, self.stage, self.propagated_PE, changes)

    def contributions(self, histories: Histories, poi_B: Tensor, changes: Interventions = UNCHANGED) -> Tensor:
        """What each term adds to the score of one POI per case, (B, T); see `recap.scores.Explainable`."""
        with torch.inference_mode():
            model, index_B = self.model, torch.arange(len(histories), device=poi_B.device)
            state_BD = model.encode(histories, self.stage, self.propagated_PE, changes)
            found: dict[str, Tensor] = {}
            if model.core is not None and CORE not in changes.off:
                core_B = model.core.at(state_BD, poi_B)
                if model.config.core_scope == "unvisited":
                    case_H, row_H = histories.past_rows()
                    visited_H = histories.checkins.poi_T[row_H] == poi_B[case_H]
                    core_B = core_B.index_fill(0, case_H[visited_H], 0.0)
                found[CORE] = core_B
            values = None
            if model.curves is not None:
                values = model.features_of(histories, changes)
                if self.stage.prior:
                    points_FB = model.curves.at_pairs(values, index_B * model.num_pois + poi_B)
                    names = [term.name for term in model.terms if term.name not in (CORE, CORRECTION)]
                    found |= dict(zip(names, points_FB, strict=True))
            parts = model.revisit(histories, self.stage, state_BD, changes, values)
            if parts is not None:
                here_C = parts.candidates.poi_C == poi_B[parts.candidates.case_C]
                case_C = parts.candidates.case_C[here_C]
                packed = {} if parts.correction_C is None else {CORRECTION: parts.correction_C}
                if parts.terms is not None:
                    shown = (parts.terms.count_C, parts.terms.recency_C, parts.terms.window_C)
                    packed |= dict(zip(PRIOR_TERMS, shown, strict=True)) | {CLIP: -parts.terms.clip_loss_C}
                for name, value_C in packed.items():
                    found[name] = value_C.new_zeros(len(histories)).index_add(0, case_C, value_C[here_C])
            zeros_B = torch.zeros(len(histories), dtype=model.dtype, device=poi_B.device)
            return torch.stack([found.get(term.name, zeros_B) for term in model.terms], dim=1).double()

    def scores_without_each(self, histories: Histories, each: Iterable[Collection[str]]) -> Iterator[Tensor]:
        """Totals (B, P) without each of these sets of terms, which may hold `GRAPH_TOKEN` too; clip and correction are
        recomputed. Bitwise equal to `score` with these terms off; features and states are computed once.
        """
        model, states = self.model, {}
        values = None if model.curves is None else model.features_of(histories)
        for terms in each:
            left, has_token = Interventions(frozenset(terms)), GRAPH_TOKEN not in terms
            with torch.inference_mode():
                if has_token not in states:
                    states[has_token] = model.encode(histories, self.stage, self.propagated_PE, left)
                kept = None if values is None else replace(values, off=left.off)
                yield model(histories, self.stage, None, left, kept, states[has_token]).total
