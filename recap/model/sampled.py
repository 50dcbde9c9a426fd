"""Scores of a few places per case, for training on large catalogues.

The target and each case's candidates are scored; places sampled for the batch stand for the others. Embedding rows that
no case uses get no gradient.

Shape suffixes: B cases, P POIs, I scored pairs of a case and a place, U sampled places, D hidden features.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from recap.arithmetic.ragged import found_in
from recap.history.tensors import CaseBatch
from recap.model.config import Stage
from recap.model.curve_prior import CurveValues
from recap.model.recap import UNCHANGED, Interventions, Recap


@dataclass(frozen=True, eq=False)
class SampledScores:
    """Scores for a sampled softmax, of scored pairs (targets and candidates, each once, sorted by ``case_I``) and of
    the sampled places: ``core``, and ``rest``, prior with correction (None if sampled places have no prior).
    ``target_B`` is the target's place among I; ``is_scored_BU`` says which sampled places are already among a case's
    pairs.
    """

    case_I: Tensor
    target_B: Tensor
    core_I: Tensor
    rest_I: Tensor
    core_BU: Tensor
    rest_BU: Tensor | None
    is_scored_BU: Tensor


def sampled_scores(model: Recap, cases: CaseBatch, stage: Stage, poi_U: Tensor) -> SampledScores:
    """Scores of targets, candidates and sampled places. Candidates are the user's past places and, with curves, other
    users' direct and two-hop destinations. ``poi_U``: ascending, each once.
    """
    histories = cases.histories(target_time=model.config.reads_target_time)
    changes = UNCHANGED
    if model.graph_token is not None and stage.graph_weight > 0:
        propagated_BE = model.graph_token.propagate_rows(model.poi_embedding.weight, histories.source_B)
        changes = Interventions(propagated_BE=propagated_BE)
    state_BD = model.encode(histories, stage, changes=changes)
    values = None if model.curves is None else model.curves.features_of(histories)
    parts = model.revisit(histories, stage, state_BD, values=values)
    num_pois, size = model.num_pois, len(histories)
    keys = [torch.arange(size, device=histories.row_B.device) * num_pois + cases.target_B]
    if values is not None:
        keys += [pairs.key_C for pairs in values.features.sparse if pairs is not values.features.similar_users]
    key_C, value_C = keys[0][:0], state_BD.new_zeros(0)
    if parts is not None and parts.packed:
        key_C, value_C = parts.candidates.case_C * num_pois + parts.candidates.poi_C, parts.value_C
    key_I, place = torch.unique(torch.cat([*keys, key_C]), return_inverse=True)
    case_I = torch.div(key_I, num_pois, rounding_mode="floor")
    rest_I = value_C.new_zeros(len(key_I)).index_add(0, place[len(place) - len(key_C) :], value_C)
    rest_BU = None
    if model.curves is not None and values is not None and stage.prior:
        rest_I = rest_I + model.curves.at_pairs(values, key_I).sum(0)
        rest_BU = model.curves.at_drawn(values, poi_U)
    core_I, core_BU = _core(model, state_BD, case_I, key_I, poi_U, values)
    is_scored_BU = torch.zeros(core_BU.shape, dtype=torch.bool, device=core_BU.device)
    is_drawn_I, at_I = found_in(poi_U, key_I - case_I * num_pois)
    is_scored_BU[case_I[is_drawn_I], at_I[is_drawn_I]] = True
    return SampledScores(case_I, place[:size], core_I, rest_I, core_BU, rest_BU, is_scored_BU)


def _core(
    model: Recap, state_BD: Tensor, case_I: Tensor, key_I: Tensor, poi_U: Tensor, values: CurveValues | None
) -> tuple[Tensor, Tensor]:
    """Core scores of pairs and of sampled places; 0 outside ``core_scope``."""
    if model.core is None:
        return state_BD.new_zeros(len(key_I)), state_BD.new_zeros(len(state_BD), len(poi_U))
    hidden_BD, output = model.core.dropout(state_BD), model.core.output
    poi_I = key_I - case_I * model.num_pois
    weight_ID, weight_UD = (F.embedding(poi, output.weight, sparse=True) for poi in (poi_I, poi_U))
    core_I = (F.embedding(case_I, hidden_BD) * weight_ID).sum(1) + output.bias[poi_I]
    if model.config.core_scope == "unvisited":
        assert values is not None
        core_I = core_I * ~values.features.is_known(key_I)
    return core_I, hidden_BD @ weight_UD.T + output.bias[poi_U]
