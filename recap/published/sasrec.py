"""SASRec: self-attention over a user's last check-ins, scored against the places' own embeddings.

Kang and McAuley, Self-Attentive Sequential Recommendation, ICDM 2018; the backbone of MELT. Departure: positions are
counted from a window's beginning.

Shape suffixes: B windows, K positions, N learned steps, P POIs, D features.
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.history import CaseBatch, Histories
from recap.published.city import City
from recap.published.configs import SelfAttentionConfig
from recap.published.network import SequenceNetwork, causal_mask
from recap.published.windows import Windows
from recap.ragged import found_in

_TRIES: Final = 20
"""A user who has been to nearly every place keeps a visited one after so many draws."""


class UnvisitedSampler(nn.Module):
    """Samples unvisited places with torch's CPU generator."""

    visited_V: Tensor

    def __init__(self, city: City) -> None:
        super().__init__()
        self.num_pois = city.num_pois
        self.register_buffer("visited_V", torch.unique(city.user_N * city.num_pois + city.poi_N), persistent=False)

    def draw(self, user_N: Tensor) -> Tensor:
        """A place for each user, uniform over those not visited in training."""
        poi_N = torch.randint(self.num_pois, user_N.shape).to(user_N.device)
        for _ in range(_TRIES):
            again_N, _ = found_in(self.visited_V, user_N * self.num_pois + poi_N)
            if not again_N.any():
                break
            poi_N[again_N] = torch.randint(self.num_pois, (int(again_N.sum()),)).to(user_N.device)
        return poi_N


class Block(nn.Module):
    """Attention with a normalised query, then two 1 x 1 convolutions, each with a residual."""

    def __init__(self, dim: int, dropout: float) -> None:
        super().__init__()
        self.query_norm, self.norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = nn.MultiheadAttention(dim, 1, dropout, batch_first=True)
        self.inner, self.outer = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x_BKD: Tensor, hidden_KK: Tensor) -> Tensor:
        """``hidden_KK`` is True where a position must not be attended to."""
        query_BKD = self.query_norm(x_BKD)
        attended_BKD, _ = self.attention(query_BKD, x_BKD, x_BKD, attn_mask=hidden_KK, need_weights=False)
        x_BKD = self.norm(query_BKD + attended_BKD)
        return x_BKD + self.dropout(self.outer(torch.relu(self.dropout(self.inner(x_BKD)))))


class Sasrec(SequenceNetwork):
    """f = LN(blocks(E[p] sqrt(d) + position)); the score of d is <f, E[d]>."""

    config: SelfAttentionConfig

    def __init__(self, config: SelfAttentionConfig, city: City) -> None:
        super().__init__(config, city, config.window)
        self.poi_embedding = nn.Embedding(city.num_pois, config.dim)
        self.position_embedding = nn.Embedding(config.window, config.dim)
        for table in (self.poi_embedding, self.position_embedding):
            nn.init.xavier_normal_(table.weight)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config.dim, config.dropout) for _ in range(config.blocks))
        self.norm = nn.LayerNorm(config.dim)
        self.unvisited = UnvisitedSampler(city)

    def states(self, windows: Windows) -> Tensor:
        poi_BK = windows.poi_BK
        position_K = torch.arange(poi_BK.shape[1], device=poi_BK.device)
        x_BKD = self.poi_embedding(poi_BK) * self.config.dim**0.5 + self.position_embedding(position_K)
        x_BKD, hidden_KK = self.dropout(x_BKD), ~causal_mask(poi_BK.shape[1], poi_BK.device)
        for block in self.blocks:
            x_BKD = block(x_BKD, hidden_KK)
        return self.norm(x_BKD)

    def step_logits(self, state_ND: Tensor, steps: Histories) -> Tensor:
        return state_ND @ self.poi_embedding.weight.T

    def step_loss(self, state_ND: Tensor, steps: CaseBatch) -> Tensor:
        if self.config.objective == "softmax":
            return super().step_loss(state_ND, steps)
        target_ND = self.poi_embedding(steps.target_B)
        other_ND = self.poi_embedding(self.unvisited.draw(steps.histories().user_B))
        return -(F.logsigmoid((state_ND * target_ND).sum(-1)) + F.logsigmoid(-(state_ND * other_ND).sum(-1))).mean()
