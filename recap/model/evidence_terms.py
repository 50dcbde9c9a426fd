"""Evidence as exact addends beside the core: E_t(d) = sum over features of weight x feature (beyond the paper).

Every term is linear in a named feature, and the two-hop term is a sum over the single walks s -> m -> d, so that what a
visit habit or a path contributes is a number in the score and no counterfactual.

Shape suffixes: B cases, P POIs, C packed candidates, W two-step walks, F features, K cut walks.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn

from recap.evidence.config import DENSE_FEATURES, EvidenceConfig
from recap.evidence.features import Evidence, EvidenceFeatures
from recap.evidence.two_hop import TwoStepWalks, two_step_walks
from recap.model.interventions import Interventions
from recap.scores import CaseBatch

TWO_HOP: Final = "others_two_hop"
"""The feature (A^2)_sd of a graph without the user, in tenths."""

_TWO_HOP_UNITS: Final = 10.0


@dataclass(frozen=True, eq=False)
class EvidenceValues:
    """Features of a batch of cases before they are weighted."""

    evidence: Evidence
    walks: TwoStepWalks


class EvidenceTerms(nn.Module):
    """The evidence part of a model's score.

    Weights start at 0, see `start_from`.

    Args:
        features: of the model's dataset; they hold no parameter.
    """

    def __init__(self, features: EvidenceFeatures) -> None:
        super().__init__()
        self._features = features
        self.weight_F = nn.Parameter(torch.zeros(len(self.names)))

    @property
    def names(self) -> tuple[str, ...]:
        """Features in the order of their weights: of every POI, of two-step walks, of the case's candidates."""
        return evidence_names(self._features.config)

    def weights(self) -> dict[str, float]:
        """Weight by feature name."""
        return dict(zip(self.names, self.weight_F.detach().tolist(), strict=True))

    def start_from(self, weights: dict[str, float]) -> None:
        """Set weights by feature name; others stay."""
        with torch.no_grad():
            for name, weight in weights.items():
                self.weight_F[self.names.index(name)] = weight

    def values(self, batch: CaseBatch, changes: Interventions | None = None) -> EvidenceValues:
        """The features of a batch, with edited counts and cut walks where ``changes`` says so."""
        device = batch.row_B.device
        if self._features.others.start_P1.device != device:
            self._features = self._features.to(device)
        edits = None if changes is None else changes.edge_edits
        walks = two_step_walks(self._features.others, batch.user_B, batch.source_B, edits)
        if changes is not None and changes.cut_K3 is not None:
            walks = without_walks(walks, changes.cut_K3, self._features.others.num_pois)
        return EvidenceValues(self._features.of(batch, edits, self.weight_F.dtype), walks)

    def forward(self, batch: CaseBatch, changes: Interventions | None = None) -> Tensor:
        """E_t(d) of every POI, (B, P)."""
        values = self.values(batch, changes)
        evidence, walks, weight_F = values.evidence, values.walks, self.weight_F
        num_dense, num_pois = len(DENSE_FEATURES), self._features.others.num_pois
        total_BP = torch.zeros(len(batch), num_pois, dtype=weight_F.dtype, device=weight_F.device)
        for weight, name in zip(weight_F[:num_dense], DENSE_FEATURES, strict=True):
            total_BP = total_BP + weight * evidence.dense[name].to(weight_F.dtype)
        packed_C = evidence.packed_CF.to(weight_F.dtype) @ weight_F[num_dense + 1 :]
        walked_W = weight_F[num_dense] * _TWO_HOP_UNITS * walks.product_W.to(weight_F.dtype)
        place = torch.cat([evidence.case_C * num_pois + evidence.poi_C, walks.case_W * num_pois + walks.destination_W])
        total_BP = total_BP.reshape(-1).index_add(0, place, torch.cat([packed_C, walked_W])).view_as(total_BP)
        return total_BP if changes is None else self._intervene(total_BP, values, changes)

    def terms_at(self, values: EvidenceValues, poi_B: Tensor) -> Tensor:
        """Each term of one POI per case, (B, F); they add up to the evidence part of that POI."""
        evidence, walks = values.evidence, values.walks
        index_B = torch.arange(len(poi_B), device=poi_B.device)
        feature_BF = torch.zeros(len(poi_B), len(self.names), dtype=torch.float64, device=poi_B.device)
        for column, name in enumerate(DENSE_FEATURES):
            value = evidence.dense[name]
            feature_BF[:, column] = value[poi_B] if value.dim() == 1 else value[index_B, poi_B]
        here_W = walks.destination_W == poi_B[walks.case_W]
        two_hop_B = feature_BF.new_zeros(len(poi_B)).index_add(0, walks.case_W[here_W], walks.product_W[here_W])
        feature_BF[:, len(DENSE_FEATURES)] = _TWO_HOP_UNITS * two_hop_B
        here_C = evidence.poi_C == poi_B[evidence.case_C]
        feature_BF[evidence.case_C[here_C], len(DENSE_FEATURES) + 1 :] = evidence.packed_CF[here_C]
        return feature_BF * self.weight_F.detach()

    def walk_terms(self, walks: TwoStepWalks) -> Tensor:
        """What each walk adds to the score of its destination, (W,)."""
        return self.weight_F.detach()[len(DENSE_FEATURES)] * _TWO_HOP_UNITS * walks.product_W

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
    """Names of all terms, in order."""
    return (*DENSE_FEATURES, TWO_HOP, *config.packed_features)


def without_walks(walks: TwoStepWalks, cut_K3: Tensor, num_pois: int) -> TwoStepWalks:
    """Walks less the cut ones (case, middle, destination)."""
    keep_W = ~torch.isin(
        (walks.case_W * num_pois + walks.middle_W) * num_pois + walks.destination_W,
        (cut_K3[:, 0] * num_pois + cut_K3[:, 1]) * num_pois + cut_K3[:, 2],
    )
    return TwoStepWalks(*(column[keep_W] for column in vars(walks).values()))
