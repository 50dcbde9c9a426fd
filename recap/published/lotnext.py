"""LoTNext: attention over a window of graph-smoothed places, averaged by distance, with a loss for rare places.

Shape suffixes: B windows, K positions, N learned steps, U users, P POIs, G neighbours, L user-POI edges, E entities
(users, then POIs), M triples, D features.
"""

from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.history.tensors import CaseBatch, CheckinTensors, Histories
from recap.published.configs import LotnextConfig
from recap.published.network import SLOTS_OF_WEEK, City, SequenceNetwork, Time2Vec, places_near, slot_of_week
from recap.published.windows import Windows, average_past, causal_mask, kilometres_apart

POI_NEIGHBOURS: Final = 20
USER_NEIGHBOURS: Final = 100
_TIME_DIM: Final = 6
_KEEP_ABOVE: Final = 0.8
_SMALL: Final = 1e-4


class Lotnext(SequenceNetwork):
    """logits = W [distance-weighted average of encoded check-ins; E_user] + b."""

    config: LotnextConfig
    near_poi_PG: Tensor
    near_weight_PG: Tensor
    liked_poi_UG: Tensor
    liked_weight_UG: Tensor
    adjustment_P: Tensor

    def __init__(self, config: LotnextConfig, city: City) -> None:
        super().__init__(config, city)
        dim, width, pois = config.dim, config.dim + _TIME_DIM, city.num_pois
        self.poi_embedding, self.user_embedding = nn.Embedding(pois, dim), nn.Embedding(city.num_users, dim)
        self.keep_inner, self.keep_outer = nn.Linear(2 * dim, dim), nn.Linear(dim, 1)
        for linear in (self.keep_inner, self.keep_outer):
            linear.requires_grad_(not config.as_published)
        self.convolution = nn.Linear(dim, dim)
        self.time = Time2Vec(_TIME_DIM)
        self.token = nn.Linear(width, width)
        self.attention = nn.MultiheadAttention(width, 2, config.attention_dropout, batch_first=True)
        self.inner_norm, self.norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.feedforward = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(config.dropout), nn.Linear(2 * width, width)
        )
        self.dropout = nn.Dropout(config.dropout)
        self.next_slot, self.state = nn.Linear(width, 1), nn.Linear(width, dim)
        self.output = nn.Linear(2 * dim, pois)
        near, liked = min(POI_NEIGHBOURS, pois), min(USER_NEIGHBOURS, pois)
        self.register_buffer("near_poi_PG", torch.zeros(pois, near, dtype=torch.int64))
        self.register_buffer("near_weight_PG", torch.zeros(pois, near))
        self.register_buffer("liked_poi_UG", torch.zeros(city.num_users, liked, dtype=torch.int64))
        self.register_buffer("liked_weight_UG", torch.zeros(city.num_users, liked))
        self.register_buffer("adjustment_P", rarity(city.visits_P) * config.adjustment, persistent=False)

    def prepare(self, city: City) -> None:
        entity_ED, relation_3D = fit_translations(city, self.config.seed)
        user_UD, poi_PD = entity_ED.split([city.num_users, city.num_pois])
        near = closest_pois(poi_PD, relation_3D[_NEXT], poi_PD, POI_NEIGHBOURS)
        liked = closest_pois(user_UD, relation_3D[_VISITS], poi_PD, USER_NEIGHBOURS)
        kept = (self.near_poi_PG, self.near_weight_PG, self.liked_poi_UG, self.liked_weight_UG)
        for buffer, values in zip(kept, (*near, *liked), strict=True):
            buffer.copy_(values)

    def places(self) -> tuple[Tensor, Tensor]:
        """The vector of each place in a token, (P, D), and each user's preference v_u, (U, D)."""
        table_PD = self.poi_embedding.weight
        share_PG = self.near_weight_PG / (self.near_weight_PG.sum(1, keepdim=True) + 1)
        own_P1 = 1 / (self.near_weight_PG.sum(1, keepdim=True) + 1)
        smooth_PD = own_P1 * table_PD + weighted_sum(table_PD, self.near_poi_PG, share_PG)
        liked_UG = self.liked_weight_UG / self.liked_weight_UG.sum(1, keepdim=True).clamp_min(_SMALL)
        prefers_UD = weighted_sum(table_PD, self.liked_poi_UG, liked_UG)
        return (smooth_PD + self._convolve(smooth_PD, prefers_UD)) / 2, prefers_UD

    def _convolve(self, smooth_PD: Tensor, prefers_UD: Tensor) -> Tensor:
        """One graph convolution over user-POI edges, at the POIs (Kipf and Welling's normalisation)."""
        users, pois = len(prefers_UD), len(smooth_PD)
        user_L = torch.arange(users, device=smooth_PD.device).repeat_interleave(self.liked_poi_UG.shape[1])
        poi_L = self.liked_poi_UG.reshape(-1)
        keep_L = torch.sigmoid(self._keep_logits(prefers_UD, smooth_PD, user_L, poi_L))
        if self.config.as_published:
            kept_L = (keep_L > _KEEP_ABOVE) & (user_L < pois)
            user_L, poi_L, keep_L = user_L[kept_L], poi_L[kept_L], torch.ones_like(keep_L[kept_L])
            nodes_ED, poi_from = smooth_PD, 0
        else:
            nodes_ED, poi_from = torch.cat([prefers_UD, smooth_PD]), users
        end_L = poi_L + poi_from
        degree_E = torch.ones(len(nodes_ED), dtype=nodes_ED.dtype, device=nodes_ED.device).index_add(0, end_L, keep_L)
        scale_E = degree_E.rsqrt()
        sent_ED = self.convolution(nodes_ED)
        weight_L1 = (keep_L * scale_E[user_L] * scale_E[end_L])[:, None]
        convolved_ED = (sent_ED * (scale_E**2)[:, None]).index_add(0, end_L, weight_L1 * F.embedding(user_L, sent_ED))
        return convolved_ED[poi_from:]

    def _keep_logits(self, prefers_UD: Tensor, smooth_PD: Tensor, user_L: Tensor, poi_L: Tensor) -> Tensor:
        """The keeping network over [v_u; b_p]."""
        of_user_DU, of_poi_DP = self.keep_inner.weight.split(prefers_UD.shape[1], dim=1)
        user_UD, poi_PD = prefers_UD @ of_user_DU.T, smooth_PD @ of_poi_DP.T + self.keep_inner.bias
        return self.keep_outer(torch.relu(F.embedding(user_L, user_UD) + F.embedding(poi_L, poi_PD)))[:, 0]

    def states(self, windows: Windows) -> Tensor:
        """The averaged state and the predicted next slot as a fraction of the week, (B, K, D + 1)."""
        places_PD, prefers_UD = self.places()
        poi_BKD = F.embedding(windows.poi_BK, places_PD)  # plain indexing is slow backwards on a CPU
        slots_BK = slot_of_week(self._clock(windows.checkins)[windows.row_BK])
        time_BKD = self.time(slots_BK.to(poi_BKD.dtype) / SLOTS_OF_WEEK)
        x_BKD = F.leaky_relu(self.token(torch.cat([poi_BKD, time_BKD], dim=-1)), 0.2)
        hidden_KK = ~causal_mask(x_BKD.shape[1], x_BKD.device)
        attended_BKD, _ = self.attention(x_BKD, x_BKD, x_BKD, attn_mask=hidden_KK, need_weights=False)
        x_BKD = x_BKD + self.dropout(attended_BKD)
        x_BKD = self.norm(x_BKD + self.dropout(self.feedforward(self.inner_norm(x_BKD))))
        near_BKK = torch.exp(-self.config.space_decay * kilometres_apart(self.coordinates_P2[windows.poi_BK]))
        fit_BK = torch.exp(
            -torch.linalg.vector_norm(F.embedding(windows.user_B, prefers_UD)[:, None] - poi_BKD, dim=-1)
        )
        average_BKD = average_past(self.state(x_BKD), near_BKK * fit_BK[:, None, :])
        return torch.cat([average_BKD, self.next_slot(x_BKD)], dim=-1)

    def step_logits(self, state_ND: Tensor, steps: Histories) -> Tensor:
        return self.output(self._with_user(state_ND, steps))

    def step_loss(self, state_ND: Tensor, steps: CaseBatch) -> Tensor:
        """The mean of adjusted cross-entropy, plain cross-entropy and squared error of the next slot."""
        target_N, published = steps.target_B, self.config.as_published
        full_ND = self._with_user(state_ND, steps.histories())
        logits_NP = self.output(full_ND)
        moved_NP = logits_NP + (self.adjustment_P if published else -self.adjustment_P)
        weight_N = step_weights(F.cosine_similarity(full_ND, self.output.weight[target_N]).detach())
        adjusted_N = F.cross_entropy(moved_NP, target_N, reduction="none")
        rare = adjusted_N.mean() * weight_N.mean() if published else (adjusted_N * weight_N).mean()
        slot_N = slot_of_week(self._clock(steps.checkins)[steps.row_B + 1]).to(state_ND.dtype) / SLOTS_OF_WEEK
        return (rare + F.cross_entropy(logits_NP, target_N) + F.mse_loss(state_ND[:, -1], slot_N)) / 3

    def _with_user(self, state_ND: Tensor, steps: Histories) -> Tensor:
        return torch.cat([state_ND[:, :-1], self.user_embedding(steps.user_B)], dim=-1)

    def _clock(self, checkins: CheckinTensors) -> Tensor:
        return checkins.seconds_T if self.config.as_published else checkins.local_seconds_T


def weighted_sum(table_PD: Tensor, poi_RG: Tensor, weight_RG: Tensor) -> Tensor:
    """sum_g weight_rg table[poi_rg], (R, D)."""
    return F.embedding_bag(poi_RG, table_PD, per_sample_weights=weight_RG, mode="sum")


def rarity(visits_P: Tensor) -> Tensor:
    """1 - log(f + 1e-4) / log(f_max + 1e-4), float32.

    >>> rarity(torch.tensor([100, 10, 1])).round(decimals=2).tolist()
    [0.0, 0.5, 1.0]
    """
    log_P = torch.log(visits_P.double() + _SMALL)
    return (1 - log_P / torch.log(visits_P.max().clamp_min(2).double() + _SMALL)).float()


def step_weights(cosine_N: Tensor) -> Tensor:
    """1 - cos where cos < 0; 1 + the excess above the geometric mean of the positive ones; else 1.

    >>> step_weights(torch.tensor([-0.5, 0.1, 0.4])).tolist()  # the geometric mean of .1 and .4 is .2
    [1.5, 1.0, 1.2000000476837158]
    """
    positive_N = cosine_N > 0
    middle = torch.exp(torch.log(cosine_N[positive_N]).mean()) if positive_N.any() else cosine_N.new_tensor(1.0)
    return torch.where(cosine_N < 0, 1 - cosine_N, 1 + (cosine_N - middle).clamp_min(0))


_VISITS, _NEXT, _NEAR = 0, 1, 2
_DIM: Final = 64
_EPOCHS: Final = 15
_BATCH: Final = 4096
_RATE: Final = 0.1
_MARGIN: Final = 1.0
_NEAREST: Final = 50
_NEAR_KM: Final = 3.0
_CELLS_AT_ONCE: Final = 1 << 22


def triples_of(city: City) -> Tensor:
    """Distinct (head, relation, tail) of the training split, (M, 3), as in Graph-Flashback: a user visits a place, a
    place comes after a place, a place is near a place. POI p is entity U + p.
    """
    counts = city.graph.counts.tocoo()
    near_source, near_poi = places_near(city, _NEAREST, _NEAR_KM)
    users = city.num_users
    parts = [
        (city.train.user_T.numpy(), _VISITS, users + city.train.poi_T.numpy()),
        (users + counts.coords[0], _NEXT, users + counts.coords[1]),
        (users + near_source, _NEAR, users + near_poi),
    ]
    triples = np.concatenate([np.stack(np.broadcast_arrays(*part), axis=1) for part in parts])
    return torch.unique(torch.from_numpy(triples.astype(np.int64)), dim=0)


def fit_translations(city: City, seed: int) -> tuple[Tensor, Tensor]:
    """A small TransE (Bordes et al., Translating Embeddings for Modeling Multi-relational Data, NeurIPS 2013): entities
    (E, D) and relations (3, D), float32; reproducible on one machine.
    """
    generator = torch.Generator().manual_seed(seed)
    triples_M3 = triples_of(city)
    num_entities = city.num_users + city.num_pois
    entity_ED = (torch.rand(num_entities, _DIM, generator=generator) - 0.5) * (12 / _DIM**0.5)
    relation_3D = F.normalize((torch.rand(3, _DIM, generator=generator) - 0.5) * (12 / _DIM**0.5), dim=1)
    entity_ED, relation_3D = F.normalize(entity_ED, dim=1).requires_grad_(), relation_3D.requires_grad_()
    optimiser = torch.optim.Adagrad([entity_ED, relation_3D], lr=_RATE)
    for _ in range(_EPOCHS):
        order_M = torch.randperm(len(triples_M3), generator=generator)
        for index_B in order_M.split(_BATCH):
            head_B, relation_B, tail_B = triples_M3[index_B].unbind(1)
            other_B = torch.randint(city.num_pois, tail_B.shape, generator=generator) + city.num_users
            moved_BD = entity_ED[head_B] + relation_3D[relation_B]
            right_B = (moved_BD - entity_ED[tail_B]).abs().sum(1)
            wrong_B = (moved_BD - entity_ED[other_B]).abs().sum(1)
            loss = F.relu(_MARGIN + right_B - wrong_B).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        with torch.no_grad():
            entity_ED.copy_(F.normalize(entity_ED, dim=1))
    return entity_ED.detach(), relation_3D.detach()


def closest_pois(head_RD: Tensor, relation_D: Tensor, poi_PD: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The POIs d with the largest weight exp(-|head + relation - d|_1), and it divided by the row's largest, (R, G)."""
    block = max(1, _CELLS_AT_ONCE // len(poi_PD))
    nearest = [
        torch.cdist(piece_RD, poi_PD, p=1).topk(min(count, len(poi_PD)), dim=1, largest=False)
        for piece_RD in (head_RD + relation_D).split(block)
    ]
    distance_RG = torch.cat([near.values for near in nearest])
    return torch.cat([near.indices for near in nearest]), torch.exp(distance_RG[:, :1] - distance_RG)
