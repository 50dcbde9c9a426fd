"""RECAP: l_t(d) = l_core(d) + R_t(d) + Delta_t(d) (Eq. 14).

R_t is the paper's prior or a sum of learned curves.

Shape suffixes: B cases, P POIs, C packed candidates, D hidden features, E embedding features, K cut paths.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap import columns as c
from recap.data.dataset import Dataset
from recap.features.catalogue import PAST, PLACES
from recap.features.values import Features
from recap.history.graph import TransitionGraph
from recap.history.tensors import Histories, RevisitCandidates, find_revisit_candidates
from recap.model.backbone import Backbone, CheckinTokens, CoreScore, GraphToken
from recap.model.config import MAX_CANDIDATES, ModelConfig, Stage
from recap.model.curve_prior import NEW_PLACES, CurvePrior, CurveValues
from recap.model.revisit_prior import PRIOR_TERMS, PriorTerms, RevisitCalibration, RevisitPrior, revisit_statistics
from recap.scores import GRAPH_TOKEN, Scores, Term
from recap.vocabulary import Match

CORE: Final = "core"
CLIP: Final = "clip"
CORRECTION: Final = "correction"

_BF16_ROWS = 1024
"""Packed candidates are computed in multiples of this many where bfloat16 kernels are compiled for every shape."""


@dataclass(frozen=True, eq=False)
class Interventions:
    """Changes to a batch of cases other than edited check-ins.

    ``off`` are left out: names of `Recap.terms`, or `GRAPH_TOKEN`, whose slot is then zero; ``propagated_BE`` replaces
    G^(N)_{s_t} (Eq. 7); ``graph`` has changed training counts, for the features of others' transitions; ``cut_K3`` are
    two-hop paths (case, middle, destination) that the features lack.
    """

    off: frozenset[str] = frozenset()
    propagated_BE: Tensor | None = None
    graph: TransitionGraph | None = None
    cut_K3: Tensor | None = None


UNCHANGED: Final = Interventions()


@dataclass(frozen=True, eq=False)
class RevisitParts:
    """Prior, gate and correction of the packed candidates of a batch; with curves without ``terms`` of a prior."""

    candidates: RevisitCandidates
    terms: PriorTerms | None
    gate_C: Tensor | None
    correction_C: Tensor | None

    @property
    def packed(self) -> dict[str, Tensor]:
        """Points of each candidate, by part."""
        parts = {} if self.terms is None else {"prior": self.terms.prior_C}
        return parts if self.correction_C is None else parts | {"correction": self.correction_C}

    @property
    def value_C(self) -> Tensor:
        """The sum of `packed`."""
        return torch.stack(list(self.packed.values())).sum(0)


class Recap(nn.Module):
    """The model of the paper, over the users and POIs of one dataset; untrained, or with ``match`` for the weights of
    another dataset. Disabled parts have no parameters: without core and correction there is no encoder. In float64,
    scores do not depend on the batch.
    """

    def __init__(
        self,
        config: ModelConfig,
        dataset: Dataset,
        graph: TransitionGraph | None = None,
        dtype: torch.dtype = torch.float32,
        match: Match | None = None,
    ) -> None:
        super().__init__()
        self.config, self.num_pois, self.dtype = config, dataset.num_pois, dtype
        if graph is None and (config.has_token or config.has_curves):
            graph = TransitionGraph.from_dataset(dataset)
        self.core: CoreScore | None = None
        self.graph_token: GraphToken | None = None
        self.prior: RevisitPrior | None = None
        self.curves: CurvePrior | None = None
        category_P = torch.tensor(dataset.pois[c.CATEGORY_INDEX].to_numpy(np.int64))
        if config.has_encoder:
            self.poi_embedding = nn.Embedding(self.num_pois, config.poi_dim)
            nn.init.normal_(self.poi_embedding.weight, std=0.1)
            coordinates_P2 = torch.tensor(dataset.pois[[c.LATITUDE, c.LONGITUDE]].to_numpy(np.float64))
            like_Q2 = coordinates_P2 if match is None else torch.tensor(match.coordinates_Q2)
            self.tokens = CheckinTokens(config, category_P, standardise(coordinates_P2, like_Q2))
            self.backbone = Backbone(config, dataset.num_users)
            self.core = CoreScore(config, self.num_pois, match) if config.has_core else None
            if config.has_token:
                assert graph is not None
                self.graph_token = GraphToken(config, graph.adjacency)
        if config.has_curves:
            assert graph is not None
            features, timed = Features.from_dataset(dataset, graph), config.prior.given_time
            self.curves = CurvePrior(features, given_time=timed, with_history=config.use_history)
            if config.prior.start == "pretrained" and not len(category_P.unique()) > 1:
                self.curves.curves.disable(self.curves.of.of_categories)
            if self.core is not None:
                # The core starts at 0, so training begins with the curves.
                nn.init.zeros_(self.core.output.weight)
                nn.init.zeros_(self.core.output.bias)
        elif config.use_history:
            self.prior = RevisitPrior(config.prior)
        self.calibration = RevisitCalibration(config) if config.has_correction else None
        self.to(dtype)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Terms of the score in order: core; count, recency, window and clip, or one per feature and a shift of new
        places; correction.
        """
        terms = [Term(CORE, CORE)] if self.config.has_core else []
        if self.curves is not None:
            terms += [Term(feature.name, feature.group) for feature in self.curves.of.features]
            terms += [Term(NEW_PLACES, PLACES)] if self.curves.new_places is not None else []
        elif self.config.use_history:
            terms += [Term(name, PAST) for name in (*PRIOR_TERMS, CLIP)]
        return (*terms, *([Term(CORRECTION, CORRECTION)] if self.config.has_correction else []))

    def features_of(self, histories: Histories, changes: Interventions = UNCHANGED) -> CurveValues:
        """Features of a batch for the curves, under changes."""
        assert self.curves is not None
        return self.curves.features_of(histories, changes.graph, changes.cut_K3, changes.off)

    def propagate(self) -> Tensor | None:
        """G^(N) of all POIs (P, E); None without a graph branch."""
        return None if self.graph_token is None else self.graph_token.propagate(self.poi_embedding.weight)

    def encode(
        self,
        histories: Histories,
        stage: Stage,
        propagated_PE: Tensor | None = None,
        changes: Interventions = UNCHANGED,
    ) -> Tensor:
        """The prediction state h_BD (Eqs. 1-4, 8); (B, 0) without an encoder."""
        if not self.config.has_encoder:
            return torch.zeros(len(histories), 0, dtype=self.dtype, device=histories.row_B.device)
        tokens_BKD, present_BK = self.tokens(histories, self.poi_embedding)
        graph_BD = None
        if self.graph_token is not None and (stage.graph_weight == 0 or GRAPH_TOKEN in changes.off):
            graph_BD = tokens_BKD.new_zeros(len(histories), self.config.hidden_dim)
        elif self.graph_token is not None:
            propagated_BE = changes.propagated_BE
            if propagated_BE is None:
                propagated_PE = self.propagate() if propagated_PE is None else propagated_PE
                assert propagated_PE is not None
                propagated_BE = F.embedding(histories.source_B, propagated_PE)  # indexing: see the calibration
            graph_BD = stage.graph_weight * self.graph_token(propagated_BE)
        return self.backbone(histories.user_B, tokens_BKD, present_BK, graph_BD)

    def score_core(self, histories: Histories, state_BD: Tensor, changes: Interventions = UNCHANGED) -> Tensor:
        """The core scores (B, P) (Eq. 5), 0 where ``core_scope`` leaves them out."""
        if self.core is None or CORE in changes.off:
            return state_BD.new_zeros(len(histories), self.num_pois)
        core_BP = self.core(state_BD)
        if self.config.core_scope == "everywhere":
            return core_BP
        return core_BP.masked_fill(histories.known_places(self.num_pois), 0.0)

    def revisit(
        self,
        histories: Histories,
        stage: Stage,
        state_BD: Tensor,
        changes: Interventions = UNCHANGED,
        values: CurveValues | None = None,
    ) -> RevisitParts | None:
        """Prior terms and correction of the user's past POIs (Eqs. 9-13); None if neither acts. ``values``: the
        features, for a prior made of curves.
        """
        corrects = self.calibration is not None and stage.correction
        if not stage.prior or (self.prior is None and not corrects):
            return None
        candidates = find_revisit_candidates(
            histories,
            recent_window=self.config.recent_window,
            max_candidates=None if self.curves is not None else MAX_CANDIDATES,
        )
        terms = None if self.prior is None else self.prior(candidates, changes.off)
        if self.calibration is None or not corrects:
            return RevisitParts(candidates, terms, None, None)
        # bfloat16 on a CPU compiles kernels for every new number of rows: let few numbers occur.
        rows = candidates.padded(_BF16_ROWS) if torch.is_autocast_enabled("cpu") else candidates
        log_steps = self.prior.log_recency_steps if self.prior is not None else self.calibration.log_recency_steps
        gate_C = self.calibration(
            histories,
            rows,
            state_BD=state_BD,
            embedding_CE=self.poi_embedding(rows.poi_C),
            statistics_C3=torch.stack(revisit_statistics(rows, log_steps), dim=1),
        )[: len(candidates.case_C)]
        if terms is not None:
            corrected_C = terms.prior_C
        else:
            assert self.curves is not None and values is not None
            corrected_C = self.curves.visits_and_time(values, candidates.case_C * self.num_pois + candidates.poi_C)
        correction_C = self.calibration.scale * gate_C * corrected_C
        if CORRECTION in changes.off:
            correction_C = torch.zeros_like(correction_C)
        return RevisitParts(candidates, terms, gate_C, correction_C)

    def forward(
        self,
        histories: Histories,
        stage: Stage,
        propagated_PE: Tensor | None = None,
        changes: Interventions = UNCHANGED,
        values: CurveValues | None = None,
        state_BD: Tensor | None = None,
    ) -> Scores:
        """Scores of all POIs with parts ``core``, ``prior`` and ``correction`` (zero where inactive). Disabled parts
        are absent; only ``prior`` and ``correction`` of the paper's model are then 0. Features (``values``) and
        prediction state are computed if None.
        """
        state_BD = self.encode(histories, stage, propagated_PE, changes) if state_BD is None else state_BD
        dense = {}
        if self.core is not None or self.curves is None:
            dense["core"] = self.score_core(histories, state_BD, changes)
        if self.curves is not None:
            values = self.features_of(histories, changes) if values is None else values
            nothing_BP = torch.zeros(len(histories), self.num_pois, dtype=self.dtype, device=histories.row_B.device)
            dense["prior"] = self.curves(values) if stage.prior else nothing_BP
        parts = self.revisit(histories, stage, state_BD, changes, values)
        names = [*(["prior"] if self.curves is None else []), "correction"]
        if parts is None:
            empty = torch.zeros(0, dtype=torch.int64, device=histories.row_B.device)
            return Scores(dense, {name: empty.to(state_BD.dtype) for name in names}, empty, empty)
        zeros_C = state_BD.new_zeros(len(parts.candidates.case_C))
        packed = {name: parts.packed.get(name, zeros_C) for name in names}
        return Scores(dense, packed, parts.candidates.case_C, parts.candidates.poi_C)


def standardise(coordinates_P2: Tensor, like_Q2: Tensor) -> Tensor:
    """Coordinates in degrees, with the mean and variance of ``like_Q2`` made 0 and 1; a constant one becomes 0.
    Longitudes are unrolled around the middle of ``like_Q2``, so a city may lie across the date line.
    """
    longitude_Q = torch.deg2rad(like_Q2[:, 1])
    middle = torch.atan2(longitude_Q.sin().mean(), longitude_Q.cos().mean())
    unrolled_P2, unrolled_Q2 = (_unrolled(degrees_N2, middle) for degrees_N2 in (coordinates_P2, like_Q2))
    spread_2 = unrolled_Q2.std(0, correction=0)
    return (unrolled_P2 - unrolled_Q2.mean(0)) / torch.where(spread_2 > 0, spread_2, 1.0)


def _unrolled(degrees_N2: Tensor, middle: Tensor) -> Tensor:
    away_N = torch.remainder(torch.deg2rad(degrees_N2[:, 1]) - middle + math.pi, 2 * math.pi) - math.pi
    return torch.stack([degrees_N2[:, 0], torch.rad2deg(away_N)], dim=1)
