"""Evidence as exact addends beside the core: E_t(d) = sum over features of weight x feature (beyond the paper).

Every term is linear in a named feature, and the two-hop term is a sum over the single walks s -> m -> d, so that what a
visit habit or a path contributes is a number in the score and no counterfactual. A weight is one number for all steps.
Where the configuration weighs by the step, a linear function of the step's pace and of h_t is added to it: the core
says how much each clue counts now, and every term stays an addend. A small network may read a candidate's clues
together, and some numbers of h_t with them; what it says is one more term, ``together``.

Shape suffixes: B cases, P POIs, C packed candidates, W two-step walks, F features, K cut walks, Z numbers of a step,
D hidden features.
"""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.evidence.config import DENSE_FEATURES, EvidenceConfig
from recap.evidence.features import Evidence, EvidenceFeatures, dense_at
from recap.evidence.steps import STEP_NUMBERS, step_numbers
from recap.evidence.two_hop import TwoStepWalks, two_step_walks
from recap.model.clue_network import ClueNetwork
from recap.model.interventions import Interventions
from recap.scores import CaseBatch

TWO_HOP: Final = "others_two_hop"
"""The feature (A^2)_sd of a graph without the user, in tenths."""

TOGETHER: Final = "together"
"""What the network says of a candidate's clues."""

_TWO_HOP_UNITS: Final = 10.0


@dataclass(frozen=True, eq=False)
class EvidenceValues:
    """Features of a batch of cases, and what they weigh.

    Attributes:
        weight_BF: of each case's features, in the order of `evidence_names`; equal rows where nothing weighs them.
    """

    evidence: Evidence
    walks: TwoStepWalks
    weight_BF: Tensor


class EvidenceTerms(nn.Module):
    """The evidence part of a model's score.

    Weights start at 0, see `start_from`.

    Args:
        features: of the model's dataset; they hold no parameter.
        state_dim: size of h_t.
        dropout: on h_t where it is read.
    """

    def __init__(self, features: EvidenceFeatures, state_dim: int = 0, dropout: float = 0.0) -> None:
        super().__init__()
        self._features = features
        self.weight_F = nn.Parameter(torch.zeros(len(self.names)))
        weighing = features.config.weighing
        self.step_ZF: nn.Parameter | None = None
        self.state_DF: nn.Parameter | None = None
        if weighing is not None and weighing.by_step:
            self.step_ZF = nn.Parameter(torch.zeros(len(STEP_NUMBERS), len(self.names)))
        if weighing is not None and weighing.by_state:
            self.state_DF = nn.Parameter(torch.zeros(state_dim, len(self.names)))
        self._dropout = nn.Dropout(dropout)
        self.network: ClueNetwork | None = None
        self.reading: nn.Linear | None = None
        if weighing is not None and weighing.network is not None:
            config, read = features.config, weighing.state_numbers or 0
            self.network = ClueNetwork(
                len(config.packed_features) + len(DENSE_FEATURES) + len(config.surrounding_features),
                len(STEP_NUMBERS) + read,
                weighing.network,
                weighing.layers or 1,
                scaled=bool(weighing.scaled),
            )
            if read:
                self.reading = nn.Linear(state_dim, read)
            with torch.no_grad():
                self.weight_F[self.names.index(TOGETHER)] = 1.0

    @property
    def names(self) -> tuple[str, ...]:
        """Features in the order of their weights, see `evidence_names`."""
        return evidence_names(self._features.config)

    def start_from(self, weights: dict[str, float]) -> None:
        """Set weights by feature name; others stay."""
        with torch.no_grad():
            for name, weight in weights.items():
                self.weight_F[self.names.index(name)] = weight

    def scale_by(self, batch: CaseBatch) -> None:
        """Let the network, where it is to, read clues in units of their deviations over a batch's candidates."""
        if self.network is not None:
            self.network.scale_by(self._clues(self._features_on(batch).of(batch, None, self.weight_F.dtype)))

    @property
    def reads_state(self) -> bool:
        """Whether h_t weighs the evidence or is read beside it."""
        weighing = self._features.config.weighing
        return weighing is not None and weighing.reads_state

    def values(
        self, batch: CaseBatch, changes: Interventions | None = None, state_BD: Tensor | None = None
    ) -> EvidenceValues:
        """The features of a batch, with edited counts and cut walks where ``changes`` says so.

        Args:
            state_BD: h_t, needed where `reads_state`.
        """
        features = self._features_on(batch)
        edits = None if changes is None else changes.edge_edits
        walks = two_step_walks(features.others, batch.user_B, batch.source_B, edits)
        if changes is not None and changes.cut_K3 is not None:
            walks = without_walks(walks, changes.cut_K3, features.others.num_pois)
        evidence = features.of(batch, edits, self.weight_F.dtype)
        number_BZ = step_numbers(batch, features.config.burst_minutes).to(self.weight_F.dtype)
        if state_BD is not None and self.reads_state:
            state_BD = self._dropout(state_BD).to(self.weight_F.dtype)
        if self.network is not None:
            told_C1 = self.network(self._clues(evidence), self._numbers_read(number_BZ, state_BD), evidence.case_C)
            packed_CF = torch.cat([evidence.packed_CF.to(self.weight_F.dtype), told_C1.to(self.weight_F.dtype)], 1)
            evidence = replace(evidence, packed_CF=packed_CF)
        return EvidenceValues(evidence, walks, self._weights_of(number_BZ, state_BD))

    def _features_on(self, batch: CaseBatch) -> EvidenceFeatures:
        device = batch.row_B.device
        if self._features.others.start_P1.device != device:
            self._features = self._features.to(device)
        return self._features

    def _clues(self, evidence: Evidence) -> Tensor:
        """The packed features and those of every POI, of each candidate, (C, F)."""
        dense = [dense_at(value, evidence.case_C, evidence.poi_C) for value in evidence.dense.values()]
        dtype = self.weight_F.dtype
        return torch.cat([evidence.packed_CF.to(dtype), torch.stack(dense, 1).to(dtype)], 1)

    def _numbers_read(self, number_BZ: Tensor, state_BD: Tensor | None) -> Tensor:
        """What the network reads of a step: its numbers, and those of h_t."""
        if self.reading is None:
            return number_BZ
        assert state_BD is not None
        return torch.cat([number_BZ, torch.tanh(self.reading(state_BD)).to(number_BZ.dtype)], 1)

    def _weights_of(self, number_BZ: Tensor, state_BD: Tensor | None) -> Tensor:
        weight_BF = self.weight_F.expand(len(number_BZ), -1)
        if self.step_ZF is not None:
            weight_BF = weight_BF + number_BZ @ self.step_ZF
        if self.state_DF is not None:
            assert state_BD is not None
            # h_t is layer-normalised: of length 1 it moves the weights as slowly as a number of the step does.
            weight_BF = weight_BF + (state_BD / sqrt(state_BD.shape[1])) @ self.state_DF
        return weight_BF

    def forward(self, batch: CaseBatch, changes: Interventions | None = None, state_BD: Tensor | None = None) -> Tensor:
        """E_t(d) of every POI, (B, P); ``state_BD`` is h_t, needed where `reads_state`."""
        values = self.values(batch, changes, state_BD)
        total_BP = self.total(values)
        return total_BP if changes is None else self._intervene(total_BP, values, changes)

    def total(self, values: EvidenceValues, kept_F: Tensor | None = None) -> Tensor:
        """E_t(d) of every POI (B, P), of the features where ``kept_F`` is True alone."""
        evidence, walks, weight_BF = values.evidence, values.walks, values.weight_BF
        if kept_F is not None:
            weight_BF = weight_BF * kept_F
        num_packed, num_pois = evidence.packed_CF.shape[1], self._features.others.num_pois
        first = len(DENSE_FEATURES) + 1
        total_BP = torch.zeros(len(weight_BF), num_pois, dtype=weight_BF.dtype, device=weight_BF.device)
        for column, name in enumerate(self.names):
            if name in evidence.dense:
                total_BP = total_BP + weight_BF[:, column, None] * evidence.dense[name].to(weight_BF.dtype)
        packed_CF = evidence.packed_CF.to(weight_BF.dtype)
        if self._features.config.weighing is None:  # one weight for all cases: a product is enough
            weight_F = self.weight_F if kept_F is None else self.weight_F * kept_F
            packed_C = packed_CF @ weight_F[first : first + num_packed]
        else:
            packed_C = (packed_CF * F.embedding(evidence.case_C, weight_BF[:, first : first + num_packed])).sum(1)
        two_hop_W = weight_BF[:, len(DENSE_FEATURES)][walks.case_W]
        walked_W = two_hop_W * _TWO_HOP_UNITS * walks.product_W.to(weight_BF.dtype)
        place = torch.cat([evidence.case_C * num_pois + evidence.poi_C, walks.case_W * num_pois + walks.destination_W])
        return total_BP.reshape(-1).index_add(0, place, torch.cat([packed_C, walked_W])).view_as(total_BP)

    def terms_at(self, values: EvidenceValues, poi_B: Tensor) -> Tensor:
        """Each term of one POI per case, (B, F); they add up to the evidence part of that POI."""
        evidence, walks = values.evidence, values.walks
        index_B = torch.arange(len(poi_B), device=poi_B.device)
        feature_BF = torch.zeros(len(poi_B), len(self.names), dtype=torch.float64, device=poi_B.device)
        for column, name in enumerate(self.names):
            if name in evidence.dense:
                feature_BF[:, column] = dense_at(evidence.dense[name], index_B, poi_B)
        here_W = walks.destination_W == poi_B[walks.case_W]
        two_hop_B = feature_BF.new_zeros(len(poi_B)).index_add(0, walks.case_W[here_W], walks.product_W[here_W])
        feature_BF[:, len(DENSE_FEATURES)] = _TWO_HOP_UNITS * two_hop_B
        here_C = evidence.poi_C == poi_B[evidence.case_C]
        first = len(DENSE_FEATURES) + 1
        packed = slice(first, first + evidence.packed_CF.shape[1])
        feature_BF[evidence.case_C[here_C], packed] = evidence.packed_CF[here_C]
        return feature_BF * values.weight_BF.detach()

    def walk_terms(self, values: EvidenceValues) -> Tensor:
        """What each walk adds to the score of its destination, (W,)."""
        weight_W = values.weight_BF.detach()[values.walks.case_W, len(DENSE_FEATURES)]
        return weight_W * _TWO_HOP_UNITS * values.walks.product_W

    def _intervene(self, total_BP: Tensor, values: EvidenceValues, changes: Interventions) -> Tensor:
        """Switch the part off for whole cases, or single terms of one candidate of each case."""
        if changes.focus_B is not None and changes.focus_evidence_off_BF is not None:
            lost_BF = self.terms_at(values, changes.focus_B.clamp_min(0)) * changes.focus_evidence_off_BF
            lost_B = torch.where(changes.focus_B >= 0, lost_BF.sum(1), 0.0).to(total_BP.dtype)
            total_BP = total_BP.scatter_add(1, changes.focus_B.clamp_min(0)[:, None], -lost_B[:, None])
        if changes.evidence_factor_B is not None:
            total_BP = total_BP * changes.evidence_factor_B[:, None]
        return total_BP


def evidence_names(config: EvidenceConfig) -> tuple[str, ...]:
    """Names of all terms, in order: of every POI, of walks, of candidates (the network's last), of new POIs."""
    network = () if config.weighing is None or config.weighing.network is None else (TOGETHER,)
    return (*DENSE_FEATURES, TWO_HOP, *config.packed_features, *network, *config.surrounding_features)


def without_walks(walks: TwoStepWalks, cut_K3: Tensor, num_pois: int) -> TwoStepWalks:
    """Walks less the cut ones (case, middle, destination)."""
    keep_W = ~torch.isin(
        (walks.case_W * num_pois + walks.middle_W) * num_pois + walks.destination_W,
        (cut_K3[:, 0] * num_pois + cut_K3[:, 1]) * num_pois + cut_K3[:, 2],
    )
    return TwoStepWalks(*(column[keep_W] for column in vars(walks).values()))
