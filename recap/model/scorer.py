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

    def contributions(self, histories: Histories, poi_BK: Tensor, changes: Interventions = UNCHANGED) -> Tensor:
        """What each term adds to the score of some POIs of each case, (B, K, T); see `recap.scores.Explainable`."""
        with torch.inference_mode():
            model, size = self.model, len(histories)
            state_BD = model.encode(histories, self.stage, self.propagated_PE, changes)
            found, values = {CORE: model.score_core(histories, state_BD, changes).gather(1, poi_BK)}, None
            if model.curves is not None:
                values = model.features_of(histories, changes)
                if self.stage.prior:
                    key_BK = torch.arange(size, device=poi_BK.device)[:, None] * model.num_pois + poi_BK
                    points_FBK = model.curves.at_pairs(values, key_BK.view(-1)).view(-1, *poi_BK.shape)
                    names = [term.name for term in model.terms if term.name not in (CORE, CORRECTION)]
                    found |= dict(zip(names, points_FBK, strict=True))
            parts = model.revisit(histories, self.stage, state_BD, changes, values)
            if parts is not None:
                packed = {} if parts.correction_C is None else {CORRECTION: parts.correction_C}
                if parts.terms is not None:
                    shown = (parts.terms.count_C, parts.terms.recency_C, parts.terms.window_C)
                    packed |= dict(zip(PRIOR_TERMS, shown, strict=True)) | {CLIP: -parts.terms.clip_loss_C}
                at = (parts.candidates.case_C, parts.candidates.poi_C)
                for name, value_C in packed.items():
                    found[name] = value_C.new_zeros(size, model.num_pois).index_put(at, value_C).gather(1, poi_BK)
            zeros_BK = torch.zeros(poi_BK.shape, dtype=model.dtype, device=poi_BK.device)
            return torch.stack([found.get(term.name, zeros_BK) for term in model.terms], dim=2).double()

    def scores_without_each(
        self, histories: Histories, each: Iterable[Collection[str]], changes: Interventions = UNCHANGED
    ) -> Iterator[Tensor]:
        """Totals (B, P) without each of these sets of terms, which may hold `GRAPH_TOKEN` too; clip and correction are
        recomputed. Bitwise equal to `score` with these terms off; features, distances and states are computed once.
        """
        model, states, values = self.model, {}, None
        if model.curves is not None:
            with torch.inference_mode():
                distance = model.curves.locate_distances(histories.source_B)
                values = replace(model.features_of(histories, changes), distance=distance)
        for terms in each:
            left, has_token = replace(changes, off=frozenset(terms)), GRAPH_TOKEN not in terms
            with torch.inference_mode():
                if has_token not in states:
                    states[has_token] = model.encode(histories, self.stage, self.propagated_PE, left)
                kept = None if values is None else replace(values, off=left.off)
                yield model(histories, self.stage, None, left, kept, states[has_token]).total
