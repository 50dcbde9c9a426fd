"""RECAP put together: l_t(d) = l_core(d) + R_t(d) + Delta_t(d) (Eq. 14), plus E_t(d) where evidence is configured.

Shape suffixes: B cases, P POIs, C packed candidates, D hidden features, E embedding features.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap import columns as c
from recap.data.dataset import Dataset
from recap.evidence.features import EvidenceFeatures
from recap.graph import TransitionGraph
from recap.history import RevisitCandidates, find_revisit_candidates
from recap.model.backbone import Backbone, CoreScore
from recap.model.calibration import RevisitCalibration
from recap.model.config import ModelConfig, Stage
from recap.model.evidence_terms import EvidenceTerms
from recap.model.graph_token import GraphToken
from recap.model.interventions import Interventions
from recap.model.revisit_prior import PriorTerms, RevisitPrior
from recap.model.tokens import CheckinTokens
from recap.scores import CaseBatch, Scores, past_rows

_BF16_ROWS = 1024
"""Packed candidates are computed in multiples of this many where bfloat16 kernels are compiled for every shape."""


@dataclass(frozen=True, eq=False)
class RevisitParts:
    """Prior, gate and correction of the packed candidates of a batch."""

    candidates: RevisitCandidates
    terms: PriorTerms
    gate_C: Tensor | None
    correction_C: Tensor | None

    @property
    def value_C(self) -> Tensor:
        """What each candidate gets: its prior with what the correction makes of it."""
        prior_C = self.terms.prior_C
        return prior_C if self.correction_C is None else torch.stack([prior_C, self.correction_C]).sum(0)


class Recap(nn.Module):
    """The model of the paper, over the users and POIs of one dataset.

    Args:
        category_P: int64 category of each POI.
        coordinates_P2: latitude and longitude in degrees.
        graph: training transitions; may be None when ``use_graph`` is off.
        evidence: features for ``config.evidence``; needed where it is set.
        dtype: of weights and adjacency; train in float32, ask for float64 where scores must not depend on the batch.
    """

    def __init__(
        self,
        config: ModelConfig,
        *,
        num_users: int,
        category_P: Tensor,
        coordinates_P2: Tensor,
        graph: TransitionGraph | None,
        evidence: EvidenceFeatures | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.config = config
        num_pois = len(category_P)
        self.poi_embedding = nn.Embedding(num_pois, config.poi_dim)
        nn.init.normal_(self.poi_embedding.weight, std=0.1)
        self.tokens = CheckinTokens(config, category_P, standardise(coordinates_P2))
        self.backbone = Backbone(config, num_users)
        self.core = CoreScore(config, num_pois)
        if config.use_graph:
            assert graph is not None
            self.graph_token: GraphToken | None = GraphToken(config, graph.adjacency)
        else:
            self.graph_token = None
        self.prior = RevisitPrior(config.prior) if config.use_history else None
        self.calibration = RevisitCalibration(config) if config.use_history else None
        self.evidence: EvidenceTerms | None = None
        if config.evidence is not None:
            assert evidence is not None
            self.evidence = EvidenceTerms(evidence, config.hidden_dim, config.output_dropout)
            # The core starts silent, so that training begins at what the evidence says alone.
            nn.init.zeros_(self.core.output.weight)
            nn.init.zeros_(self.core.output.bias)
        self.to(dtype)

    @classmethod
    def for_dataset(
        cls,
        config: ModelConfig,
        dataset: Dataset,
        graph: TransitionGraph | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> "Recap":
        """An untrained model for a dataset's users, POIs and training transitions."""
        if graph is None and (config.use_graph or config.evidence is not None):
            graph = TransitionGraph.from_dataset(dataset)
        evidence = None
        if config.evidence is not None:
            assert graph is not None
            evidence = EvidenceFeatures.from_dataset(dataset, graph, config.evidence)
        return cls(
            config,
            num_users=dataset.num_users,
            category_P=torch.tensor(dataset.pois[c.CATEGORY_INDEX].to_numpy(np.int64)),
            coordinates_P2=torch.tensor(dataset.pois[[c.LATITUDE, c.LONGITUDE]].to_numpy(np.float64)),
            graph=graph if config.use_graph else None,
            evidence=evidence,
            dtype=dtype,
        )

    def propagate(self) -> Tensor | None:
        """G^(N) of all POIs (P, E), or None without a graph branch; the same for every case under fixed weights."""
        return None if self.graph_token is None else self.graph_token.propagate(self.poi_embedding.weight)

    def encode(
        self,
        batch: CaseBatch,
        stage: Stage,
        propagated_PE: Tensor | None = None,
        changes: Interventions | None = None,
    ) -> Tensor:
        """The prediction state h_BD (Eqs. 1-4, 8); zeros where nothing reads it (`ModelConfig.reads_state`)."""
        if not self.config.reads_state:
            return self.core.output.weight.new_zeros(len(batch), self.config.hidden_dim)
        tokens_BKD, present_BK = self.tokens(batch, self.poi_embedding)
        graph_BD = None
        if self.graph_token is not None:
            if stage.graph_weight > 0:
                if changes is not None and changes.propagated_BE is not None:
                    propagated_BE = changes.propagated_BE
                else:
                    propagated_PE = self.propagate() if propagated_PE is None else propagated_PE
                    assert propagated_PE is not None
                    propagated_BE = F.embedding(batch.source_B, propagated_PE)  # indexing: see the calibration
                graph_BD = stage.graph_weight * self.graph_token(propagated_BE)
                if changes is not None and changes.graph_factor_B is not None:
                    graph_BD = graph_BD * changes.graph_factor_B[:, None]
            else:
                graph_BD = tokens_BKD.new_zeros(len(batch), self.config.hidden_dim)
        masked_BS = None if changes is None else changes.masked_BS
        return self.backbone(batch.user_B, tokens_BKD, present_BK, graph_BD, masked_BS)

    def score_core(self, batch: CaseBatch, state_BD: Tensor) -> Tensor:
        """The core scores (B, P) (Eq. 5), 0 at visited or at all places where ``core_scope`` says so."""
        if self.config.core_scope == "nowhere":
            return state_BD.new_zeros(len(batch), self.poi_embedding.num_embeddings)
        core_BP = self.core(state_BD)
        if self.config.core_scope == "everywhere":
            return core_BP
        case_H, row_H = past_rows(batch)
        unvisited_BP = torch.ones_like(core_BP)
        unvisited_BP[case_H, batch.checkins.poi_T[row_H]] = 0.0
        return core_BP * unvisited_BP

    def revisit(
        self, batch: CaseBatch, stage: Stage, state_BD: Tensor, changes: Interventions | None = None
    ) -> RevisitParts | None:
        """Prior and correction of the user's past POIs (Eqs. 9-13), or None while the prior is off."""
        if self.prior is None or self.calibration is None or not stage.prior:
            return None
        candidates = find_revisit_candidates(
            batch.checkins,
            batch.row_B,
            recent_window=self.config.recent_window,
            max_candidates=self.config.max_candidates,
        )
        factor_C4 = None if changes is None else changes.term_factors(candidates)
        terms = self.prior(candidates, None if factor_C4 is None else factor_C4[:, :3])
        if not stage.correction:
            return RevisitParts(candidates, terms, None, None)
        # In bfloat16 on a CPU every new number of rows has kernels compiled for it: let few numbers occur.
        rows = candidates.padded(_BF16_ROWS) if torch.is_autocast_enabled("cpu") else candidates
        gate_C = self.calibration(
            batch,
            rows,
            state_BD=state_BD,
            embedding_CE=self.poi_embedding(rows.poi_C),
            statistics_C3=torch.stack(self.prior.statistics(rows), dim=1),
        )[: len(candidates.case_C)]
        correction_C = self.calibration.scale * gate_C * terms.prior_C
        if factor_C4 is not None:
            correction_C = correction_C * factor_C4[:, 3]
        return RevisitParts(candidates, terms, gate_C, correction_C)

    def forward(
        self,
        batch: CaseBatch,
        stage: Stage,
        propagated_PE: Tensor | None = None,
        changes: Interventions | None = None,
    ) -> Scores:
        """Scores of all POIs with parts ``core``, ``prior`` and ``correction`` (zero where inactive).

        A model with evidence has the part ``evidence`` too, from the prior's first epoch on.
        """
        state_BD = self.encode(batch, stage, propagated_PE, changes)
        core_BP = self.score_core(batch, state_BD)
        dense = {"core": core_BP}
        if self.evidence is not None:
            dense["evidence"] = self.evidence(batch, changes, state_BD) if stage.prior else torch.zeros_like(core_BP)
        parts = self.revisit(batch, stage, state_BD, changes)
        if parts is None:
            empty = torch.zeros(0, dtype=torch.int64, device=core_BP.device)
            zeros = {"prior": core_BP.new_zeros(0), "correction": core_BP.new_zeros(0)}
            return Scores(dense, zeros, empty, empty)
        prior_C = parts.terms.prior_C
        correction_C = torch.zeros_like(prior_C) if parts.correction_C is None else parts.correction_C
        packed = {"prior": prior_C, "correction": correction_C}
        return Scores(dense, packed, parts.candidates.case_C, parts.candidates.poi_C)


class RecapScorer:
    """A model at one stage as a scorer: no gradients, no dropout, propagation done once."""

    def __init__(self, model: Recap, stage: Stage, name: str = "recap") -> None:
        self.model = model.eval()
        self.stage = stage
        self.name = name
        with torch.inference_mode():
            self.propagated_PE = model.propagate() if stage.graph_weight > 0 else None

    def score(self, batch: CaseBatch) -> Scores:
        """Score every POI for every case."""
        with torch.inference_mode():
            return self.model(batch, self.stage, self.propagated_PE)


def standardise(coordinates_P2: Tensor) -> Tensor:
    """Zero mean and unit variance over POIs; a constant coordinate becomes 0.

    Longitudes are unrolled around the city's middle first, so that a city across the date line stays in one piece.
    """
    longitude_P = torch.deg2rad(coordinates_P2[:, 1])
    middle = torch.atan2(longitude_P.sin().mean(), longitude_P.cos().mean())
    unrolled_P = torch.rad2deg(torch.remainder(longitude_P - middle + math.pi, 2 * math.pi) - math.pi)
    coordinates_P2 = torch.stack([coordinates_P2[:, 0], unrolled_P], dim=1)
    spread_2 = coordinates_P2.std(0, correction=0)
    scaled = (coordinates_P2 - coordinates_P2.mean(0)) / torch.where(spread_2 > 0, spread_2, 1.0)
    return scaled
