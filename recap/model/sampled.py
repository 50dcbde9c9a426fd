"""RECAP's scores of a few places of each case, for training where a catalogue is too large for every score.

The target and the places of the user's past are scored for each case; places drawn for the batch stand for the others.
Rows of the embedding tables that no case touches get no gradient.

Shape suffixes: B cases, P POIs, I scored pairs of a case and a place, U places drawn, D hidden features.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from recap.model.config import Stage
from recap.model.interventions import Interventions
from recap.model.recap import Recap
from recap.scores import CaseBatch


@dataclass(frozen=True, eq=False)
class SampledScores:
    """Scores that a sampled softmax is made from.

    Attributes:
        case_I: the case of each scored pair with a place, sorted, each pair once: targets and revisit candidates.
        target_B: the target's place among I.
        core_I, rest_I: core scores, and prior with correction (zero where the place is no candidate).
        core_BU: core scores of the places drawn.
        is_scored_BU: whether a place drawn is among a case's pairs already.
    """

    case_I: Tensor
    target_B: Tensor
    core_I: Tensor
    rest_I: Tensor
    core_BU: Tensor
    is_scored_BU: Tensor


def sampled_scores(model: Recap, batch: CaseBatch, stage: Stage, poi_U: Tensor) -> SampledScores:
    """Scores of targets, revisit candidates and the places drawn.

    Args:
        poi_U: ascending, each once.
    """
    changes = None
    if model.graph_token is not None and stage.graph_weight > 0:
        propagated_BE = model.graph_token.propagate_rows(model.poi_embedding.weight, batch.source_B)
        changes = Interventions(propagated_BE=propagated_BE)
    state_BD = model.encode(batch, stage, changes=changes)
    parts = model.revisit(batch, stage, state_BD)
    num_pois, size = model.poi_embedding.num_embeddings, len(batch)
    key = torch.arange(size, device=state_BD.device) * num_pois + batch.target_B
    rest_C = state_BD.new_zeros(0)
    if parts is not None:
        key = torch.cat([key, parts.candidates.case_C * num_pois + parts.candidates.poi_C])
        rest_C = parts.terms.prior_C
        rest_C = rest_C if parts.correction_C is None else rest_C + parts.correction_C
    key_I, place = torch.unique(key, return_inverse=True)
    case_I = torch.div(key_I, num_pois, rounding_mode="floor")
    poi_I = key_I - case_I * num_pois
    rest_I = rest_C.new_zeros(len(key_I)).index_add(0, place[size:], rest_C)

    hidden_BD, output = model.core.dropout(state_BD), model.core.output
    weight_ID, weight_UD = (F.embedding(poi, output.weight, sparse=True) for poi in (poi_I, poi_U))
    core_I = (F.embedding(case_I, hidden_BD) * weight_ID).sum(1) + output.bias[poi_I]
    core_BU = hidden_BD @ weight_UD.T + output.bias[poi_U]

    is_scored_BU = torch.zeros(core_BU.shape, dtype=torch.bool, device=core_BU.device)
    if len(poi_U):
        at_I = torch.searchsorted(poi_U, poi_I).clamp_max_(len(poi_U) - 1)
        is_drawn_I = poi_U[at_I] == poi_I
        is_scored_BU[case_I[is_drawn_I], at_I[is_drawn_I]] = True
    return SampledScores(case_I, place[:size], core_I, rest_I, core_BU, is_scored_BU)
