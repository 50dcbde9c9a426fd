"""DePOI: similarity to random places, split into a causal and a bias part, with time-aware attention.

Shape suffixes: B windows, K positions, N learned steps, P POIs, A anchors, U users, D features.
"""

from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.history.tensors import Histories
from recap.published.configs import DepoiConfig
from recap.published.network import City, SequenceNetwork
from recap.published.windows import Windows, causal_mask, kilometres_apart

_NEVER: Final = -1e30


class RelationAttention(nn.Module):
    """One head of causal attention over check-ins, their positions and relations between them.

    As in TiSASRec (Li et al., Time Interval Aware Self-Attention for Sequential Recommendation, WSDM 2020), with
    distances. Each interval has a vector added to keys and one added to values. ``intervals``: values of each relation.
    """

    def __init__(self, dim: int, length: int, intervals: tuple[int, ...], dropout: float) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(dim, dim) for _ in range(3))
        self.position_key, self.position_value = nn.Embedding(length, dim), nn.Embedding(length, dim)
        self.relation_keys = nn.ModuleList(nn.Embedding(count, dim) for count in intervals)
        self.relation_values = nn.ModuleList(nn.Embedding(count, dim) for count in intervals)
        self.intervals, self.dropout = intervals, nn.Dropout(dropout)

    def forward(self, query_BKD: Tensor, x_BKD: Tensor, relations: list[Tensor]) -> Tensor:
        """The attended values, (B, K, D); each of ``relations`` is int64 (B, K, K)."""
        length = x_BKD.shape[1]
        query_BKD = self.query(query_BKD)
        key_BKD = self.key(x_BKD) + self.dropout(self.position_key.weight[:length])
        value_BKD = self.value(x_BKD) + self.dropout(self.position_value.weight[:length])
        score_BKK = query_BKD @ key_BKD.transpose(1, 2)
        for table, relation_BKK in zip(self.relation_keys, relations, strict=True):
            score_BKK = score_BKK + (query_BKD @ self.dropout(table.weight).T).gather(2, relation_BKK)
        score_BKK = (score_BKK / x_BKD.shape[-1] ** 0.5).masked_fill(~causal_mask(length, x_BKD.device), _NEVER)
        weight_BKK = self.dropout(torch.softmax(score_BKK, dim=-1))
        attended_BKD: Tensor = weight_BKK @ value_BKD
        for table, count, relation_BKK in zip(self.relation_values, self.intervals, relations, strict=True):
            share_BKT = weight_BKK.new_zeros(*weight_BKK.shape[:2], count).scatter_add(2, relation_BKK, weight_BKK)
            attended_BKD = attended_BKD + share_BKT @ self.dropout(table.weight)
        return attended_BKD


class RelationBlock(nn.Module):
    """Attention with a normalised query, then two layers with ReLU, each with a residual."""

    def __init__(self, dim: int, length: int, intervals: tuple[int, ...], dropout: float) -> None:
        super().__init__()
        self.query_norm, self.inner_norm, self.norm = (nn.LayerNorm(dim) for _ in range(3))
        self.attention = RelationAttention(dim, length, intervals, dropout)
        self.inner, self.outer = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x_BKD: Tensor, relations: list[Tensor]) -> Tensor:
        """The state after each check-in, (B, K, D)."""
        query_BKD = self.query_norm(x_BKD)
        x_BKD = self.inner_norm(query_BKD + self.attention(query_BKD, x_BKD, relations))
        x_BKD = x_BKD + self.dropout(self.outer(F.relu(self.dropout(self.inner(x_BKD)))))
        return self.norm(x_BKD)


_LONGEST: Final = 256
"""Gaps and kilometres are cut here."""
_SMALL: Final = 1e-12

Views = tuple[Tensor, Tensor, Tensor, Tensor]
"""Causal and bias vectors of all POIs, then the causal ones of either graph, (P, D) each."""


class AnchorConvolution(nn.Module):
    """Places exchange vectors with similar anchors, by the causal and by the bias part of the similarity."""

    def __init__(self, pois: int, dim: int) -> None:
        super().__init__()
        self.poi_embedding = nn.Embedding(pois, dim)
        self.of_place, self.of_anchor = nn.Linear(dim, 1), nn.Linear(dim, 1, bias=False)

    def forward(self, anchor_poi_A: Tensor) -> tuple[Tensor, Tensor]:
        """Causal and bias vectors, (P, D) each."""
        x_PD = self.poi_embedding.weight
        anchor_AD = F.embedding(anchor_poi_A, x_PD)
        like_PA = F.relu(F.normalize(x_PD, dim=1) @ F.normalize(anchor_AD, dim=1).T)
        causal_PA = torch.sigmoid(self.of_place(x_PD) + self.of_anchor(anchor_AD).T) * like_PA
        return exchange(x_PD, causal_PA), exchange(x_PD, like_PA - causal_PA)


def exchange(x_PD: Tensor, like_PA: Tensor) -> Tensor:
    """x and one layer on it: each anchor takes the weighted mean of places, each place that of anchors."""
    anchor_AD = (like_PA.T @ x_PD) / like_PA.sum(0).clamp_min(_SMALL)[:, None]
    return 2 * x_PD + (like_PA @ anchor_AD) / like_PA.sum(1).clamp_min(_SMALL)[:, None]


class Depoi(SequenceNetwork):
    """The score of d is <causal state, causal vector of d>."""

    config: DepoiConfig
    anchor_poi_A: Tensor
    visits_P: Tensor
    gap_U: Tensor

    def __init__(self, config: DepoiConfig, city: City) -> None:
        super().__init__(config, city)
        dim, pois, anchors = config.dim, city.num_pois, min(config.anchors, city.num_pois)
        self.transition, self.geography = AnchorConvolution(pois, dim), AnchorConvolution(pois, dim)
        self.transition_pool, self.geography_pool = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.encoder = RelationBlock(dim, config.window, (_LONGEST + 1, _LONGEST + 1), config.dropout)
        self.dropout = nn.Dropout(config.dropout)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        self.register_buffer("anchor_poi_A", torch.arange(anchors))
        self.hold(visits_P=city.visits_P.clone(), gap_U=smallest_gaps(city))

    def begin_epoch(self, epoch: int, *, fresh: bool) -> None:
        """Draw new anchors; they are saved with the weights."""
        if fresh:
            drawn = np.random.default_rng([self.config.seed, epoch, 1]).permutation(len(self.visits_P))
            self.anchor_poi_A.copy_(torch.from_numpy(drawn[: len(self.anchor_poi_A)].copy()))

    def views(self) -> Views:
        causal_T, bias_T = self.transition(self.anchor_poi_A)
        causal_G, bias_G = self.geography(self.anchor_poi_A)
        return causal_T + causal_G, bias_T + bias_G, causal_T, causal_G

    def states(self, windows: Windows) -> Tensor:
        """Causal state, then bias state, after each check-in, (B, K, 2 D)."""
        return self._states(windows, self.views())

    def _states(self, windows: Windows, views: Views) -> Tensor:
        seconds_BK, gap_B = windows.seconds_BK, self.gap_U[windows.user_B]
        apart_BKK = (seconds_BK[:, :, None] - seconds_BK[:, None, :]).abs()
        far_BKK = kilometres_apart(self.coordinates_P2[windows.poi_BK]).long()
        relations = [of_BKK.clamp_max(_LONGEST) for of_BKK in (apart_BKK // gap_B[:, None, None], far_BKK)]
        tokens = [F.embedding(windows.poi_BK, view_PD) * self.config.dim**0.5 for view_PD in views[:2]]
        return torch.cat([self.encoder(self.dropout(token_BKD), relations) for token_BKD in tokens], dim=-1)

    def step_logits(self, state_ND: Tensor, steps: Histories) -> Tensor:
        return state_ND[:, : self.config.dim] @ self.views()[0].T

    def loss(self, batch: tuple[Windows, Tensor]) -> Tensor:
        """Cross-entropy, and losses that separate causal from bias vectors and the two graphs."""
        windows, learned_BK = batch
        views = causal_PD, bias_PD, transition_PD, geography_PD = self.views()
        state_ND, bias_ND = self._states(windows, views)[learned_BK].chunk(2, dim=-1)
        target_N = windows.checkins.poi_T[windows.row_BK[learned_BK] + 1]
        loss = F.cross_entropy(state_ND @ causal_PD.T, target_N)
        popular_P = self.popularity(loss.dtype)
        loss = loss + self.config.bias_weight * F.kl_div(
            F.log_softmax(bias_ND @ bias_PD.T, dim=1), popular_P.expand(len(bias_ND), -1), reduction="batchmean"
        )
        loss = loss + self.config.apart_weight * disagreement(causal_PD, bias_PD)
        pools = self.transition_pool(transition_PD.mean(0)), self.geography_pool(geography_PD.mean(0))
        contrast_P = F.softplus(transition_PD @ (pools[1] - pools[0])) + F.softplus(
            geography_PD @ (pools[0] - pools[1])
        )
        return loss + self.config.contrast_weight * contrast_P.mean()

    def popularity(self, dtype: torch.dtype) -> Tensor:
        visits_P = self.visits_P.to(dtype)
        return torch.softmax(visits_P, dim=0) if self.config.as_published else visits_P / visits_P.sum()


def disagreement(causal_PD: Tensor, bias_PD: Tensor) -> Tensor:
    """sum_p (|c_p - mean c|^2 - |c_p - mean b|^2)^2.

    >>> float(disagreement(torch.tensor([[0.0], [2.0]]), torch.tensor([[3.0], [3.0]])))  # (1 - 9)^2 + (1 - 1)^2
    64.0
    """
    to_causal_P = (causal_PD - causal_PD.mean(0)).square().sum(1)
    to_bias_P = (causal_PD - bias_PD.mean(0)).square().sum(1)
    return (to_causal_P - to_bias_P).square().sum()


def smallest_gaps(city: City) -> Tensor:
    """Each user's smallest positive time between consecutive training check-ins, seconds, (U,); 1 without any."""
    user_T, gap_N, largest = city.train.user_T, torch.diff(city.train.seconds_T), torch.iinfo(torch.int64).max
    counts_N = (user_T[1:] == user_T[:-1]) & (gap_N > 0)
    smallest_U = torch.full((city.num_users,), largest)
    smallest_U.scatter_reduce_(0, user_T[1:][counts_N], gap_N[counts_N], "amin")
    return torch.where(smallest_U == largest, 1, smallest_U)
