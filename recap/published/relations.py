"""Self-attention that knows how long ago and how far away each check-in is (TiSASRec's, with distances).

Li et al., Time Interval Aware Self-Attention for Sequential Recommendation, WSDM 2020. Each interval has a vector that
is added to a key and one that is added to a value. With T intervals a product with their table and a look-up do for
K x K pairs what would take K x K vectors.

Shape suffixes: B windows, K positions (i the step, j <= i a past one), D features, T intervals.
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.published.network import causal_mask

_NEVER: Final = -1e30


class RelationAttention(nn.Module):
    """One head of causal attention over check-ins, their positions and any number of relations between them.

    Args:
        length: positions at most.
        intervals: number of values of each relation.
    """

    def __init__(self, dim: int, length: int, intervals: tuple[int, ...], dropout: float) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(dim, dim) for _ in range(3))
        self.position_key, self.position_value = nn.Embedding(length, dim), nn.Embedding(length, dim)
        self.relation_keys = nn.ModuleList(nn.Embedding(count, dim) for count in intervals)
        self.relation_values = nn.ModuleList(nn.Embedding(count, dim) for count in intervals)
        self.intervals, self.dropout = intervals, nn.Dropout(dropout)

    def forward(self, query_BKD: Tensor, x_BKD: Tensor, relations: list[Tensor]) -> Tensor:
        """What is attended to, (B, K, D); ``relations`` holds int64 (B, K, K) each."""
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
    """Attention whose query alone is normalised, then two layers with ReLU, each with a residual."""

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
        state: Tensor = self.norm(x_BKD)
        return state
