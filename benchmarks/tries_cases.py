"""Cases of the tries with every idea's features, computed once and kept as arrays; see `tries.py`.

Each case has candidates: the places of the user's past, where others went from the source, and the unvisited places
that the evidence ranker or the habits of similar users put first. Every other place keeps the evidence ranker's score,
so that ranks and the softmax are over the whole catalogue.

Own features read the user's check-ins up to and including the source. What others did comes from training check-ins of
other users alone. Shape suffixes: N cases, B cases of a block, P POIs, C candidates, H past check-ins, U users.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from benchmarks.tries_features import World, own_features, place_features, sparse_times, step_context
from recap.baselines.evidence import draw_cases
from recap.evidence.past import PastRows
from recap.evidence.two_hop import two_step_walks
from recap.scores import CaseBatch

_BLOCK = 512
_NEW_BY_EVIDENCE, _NEW_BY_USERS = 30, 40


@dataclass(eq=False)
class TryCases:
    """Cases of one split, packed.

    Attributes:
        row_N, user_N, target_N: source row, user, target POI.
        case_C, poi_C: candidates sorted by case and POI.
        target_C1: position of the target among the candidates, -1 where it is none.
        base_C, base_target_N: evidence_sessions' score of the candidates and of the target.
        base_others_C: the same with the popularity of other users' check-ins alone.
        rest_lse_N: log-sum-exp of its scores of the places that are no candidates.
        rest_N: (N, P) float32, the scores of these places in order, -inf for candidates in front.
        features: feature by name, float32 (C,).
        context: what is known of the step by name, float32 (N,).
    """

    row_N: np.ndarray
    user_N: np.ndarray
    target_N: np.ndarray
    case_C: np.ndarray
    poi_C: np.ndarray
    at_target_N: np.ndarray
    base_C: np.ndarray
    base_others_C: np.ndarray
    base_target_N: np.ndarray
    rest_lse_N: np.ndarray
    rest_NP: np.ndarray
    features: dict[str, np.ndarray]
    context: dict[str, np.ndarray]


def build(world: World, row_N: Tensor) -> TryCases:
    """Arrays of the cases whose source rows these are."""
    pieces = [_block(world, row_N[start : start + _BLOCK], start) for start in range(0, len(row_N), _BLOCK)]
    features = {name: np.concatenate([piece.features[name] for piece in pieces]) for name in pieces[0].features}
    context = {name: np.concatenate([piece.context[name] for piece in pieces]) for name in pieces[0].context}
    arrays = {
        name: np.concatenate([getattr(piece, name) for piece in pieces])
        for name in (
            "row_N",
            "user_N",
            "target_N",
            "case_C",
            "poi_C",
            "base_C",
            "base_others_C",
            "base_target_N",
            "rest_lse_N",
            "rest_NP",
        )
    }
    starts = np.cumsum([0, *(len(piece.case_C) for piece in pieces[:-1])])
    at = np.concatenate(
        [
            np.where(piece.at_target_N >= 0, piece.at_target_N + start, -1)
            for piece, start in zip(pieces, starts, strict=True)
        ]
    )
    return TryCases(**arrays, at_target_N=at, features=features, context=context)


def save(cases: TryCases, path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    for name, value in vars(cases).items():
        if isinstance(value, dict):
            np.savez(path / f"{name}.npz", **value)
        else:
            np.save(path / f"{name}.npy", value)


def load(path: Path) -> TryCases:
    arrays = {file.stem: np.load(file) for file in path.glob("*.npy") if file.stem in TryCases.__annotations__}
    features, context = (dict(np.load(path / f"{name}.npz")) for name in ("features", "context"))
    return TryCases(**arrays, features=features, context=context)


def chosen(cases: TryCases, keep_N: np.ndarray) -> TryCases:
    """Some of the cases."""
    keep_C = keep_N[cases.case_C]
    number_N = np.cumsum(keep_N) - 1
    place_C = np.cumsum(keep_C) - 1
    at_N = cases.at_target_N[keep_N]
    return TryCases(
        row_N=cases.row_N[keep_N],
        user_N=cases.user_N[keep_N],
        target_N=cases.target_N[keep_N],
        case_C=number_N[cases.case_C[keep_C]],
        poi_C=cases.poi_C[keep_C],
        at_target_N=np.where(at_N >= 0, place_C[np.maximum(at_N, 0)], -1),
        base_C=cases.base_C[keep_C],
        base_others_C=cases.base_others_C[keep_C],
        base_target_N=cases.base_target_N[keep_N],
        rest_lse_N=cases.rest_lse_N[keep_N],
        rest_NP=cases.rest_NP[:1],
        features={name: value[keep_C] for name, value in cases.features.items()},
        context={name: value[keep_N] for name, value in cases.context.items()},
    )


def fit_rows(world: World) -> Tensor:
    """The latest quarter of the training cases."""
    return draw_cases(world.dataset, world.ranker.config, 0)


def _block(world: World, row_B: Tensor, start: int) -> TryCases:
    checkins = world.checkins
    batch = CaseBatch(checkins, row_B)
    size, num_pois = len(batch), world.dataset.num_pois
    score_BP = world.ranker.score(batch).total
    past = PastRows.of(batch)
    past_poi_H = checkins.poi_T[past.row_H]
    user_B, source_B = batch.user_B, batch.source_B

    # Dense: what is said of every place, visited or not.
    profile_BP = torch.zeros(size, num_pois)
    profile_BP[past.case_H, past_poi_H] = 1.0
    assert world.features.surroundings is not None
    around = world.features.surroundings.of(batch, torch.log1p(world.distance_PP[source_B]))
    age_H = (past.row_H - row_B[past.case_H]).float()
    recent_BP = (
        torch.zeros(size * num_pois)
        .index_add_(0, past.case_H * num_pois + past_poi_H, torch.exp(age_H / 5.0))
        .view(size, -1)
    )
    own_UP = world.visited_UP
    recent_BP = torch.where(recent_BP > 1e-3, recent_BP, 0.0)
    both_BU = sparse_times(recent_BP, own_UP.T.contiguous())
    both_BU[torch.arange(size), user_B] = 0.0
    together_BP = (both_BU / (1.0 + own_UP.sum(1))) @ own_UP

    index_B = torch.arange(size)
    unvisited = torch.where(profile_BP > 0, -1e9, 0.0)
    by_evidence = (score_BP.float() + unvisited).topk(_NEW_BY_EVIDENCE, dim=1).indices
    mixed = around["visitors_alike"] - 0.8 * torch.log1p(world.distance_PP[source_B])
    by_users = (mixed + unvisited).topk(_NEW_BY_USERS, dim=1).indices
    evidence = world.features.of(batch)
    walks = two_step_walks(world.ranker.features.others, user_B, source_B)
    key = torch.cat(
        [
            evidence.case_C * num_pois + evidence.poi_C,
            (index_B[:, None] * num_pois + by_evidence).flatten(),
            (index_B[:, None] * num_pois + by_users).flatten(),
        ]
    )
    key_C = torch.unique(key)
    case_C = torch.div(key_C, num_pois, rounding_mode="floor")
    poi_C = key_C - case_C * num_pois
    at_E = torch.searchsorted(key_C, evidence.case_C * num_pois + evidence.poi_C)
    features: dict[str, Tensor] = {}
    for column, name in enumerate(world.features.config.packed_features):
        features[name] = torch.zeros(len(key_C)).index_add_(0, at_E, evidence.packed_CF[:, column].float())
    features["popularity"] = evidence.dense["popularity"][poi_C].float()
    features["distance"] = evidence.dense["distance"][case_C, poi_C].float()
    two_hop_BP = torch.zeros(size * num_pois).index_add_(
        0, walks.case_W * num_pois + walks.destination_W, walks.product_W.float()
    )
    features["two_hop"] = torch.log1p(200 * two_hop_BP[key_C])
    known_C = profile_BP[case_C, poi_C]
    features |= own_features(world, batch, past, key_C, case_C, poi_C)
    features |= place_features(world, batch, past, case_C, poi_C)
    features |= {name: value_BP[case_C, poi_C] for name, value_BP in around.items()}
    features["places_together"] = torch.log1p(20 * together_BP[case_C, poi_C])
    new_C = 1.0 - known_C
    features["new"] = new_C

    base_C = score_BP[case_C, poi_C].float()
    weights = world.ranker.dense_weights | world.ranker.packed_weights
    slope_C = weights["popularity"] + weights["known_popularity"] * known_C
    target_B = batch.target_B
    key_B = index_B * num_pois + target_B
    at_B = torch.searchsorted(key_C, key_B).clamp_max(len(key_C) - 1)
    at_B = torch.where(key_C[at_B] == key_B, at_B, -1)
    rest_BP = score_BP.float().clone()
    rest_BP[case_C, poi_C] = -torch.inf
    context = step_context(world, batch, past, profile_BP)
    arrays = {
        "row_N": row_B,
        "user_N": user_B,
        "target_N": target_B,
        "case_C": case_C + start,
        "poi_C": poi_C,
        "at_target_N": at_B,
        "base_C": base_C,
        "base_others_C": base_C + slope_C * (features["others_popularity"] - features["popularity"]),
        "base_target_N": score_BP[index_B, target_B].float(),
        "rest_lse_N": torch.logsumexp(rest_BP, 1),
        "rest_NP": rest_BP.sort(dim=1).values,
    }
    return TryCases(
        **{name: value.numpy() for name, value in arrays.items()},
        features={name: value.float().numpy() for name, value in features.items()},
        context={name: value.float().numpy() for name, value in context.items()},
    )
