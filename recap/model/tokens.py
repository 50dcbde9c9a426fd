"""Check-in tokens of the recent suffix (Eqs. 1-2).

Shape suffixes: B cases, K suffix positions (oldest first), D hidden features, P POIs.
"""

import torch
from torch import Tensor, nn

from recap.history import Histories, TimedHistories, local_hour_fraction, local_weekday
from recap.model.config import ModelConfig

HOUR_BINS = 24
_TIME_DIM = 16


def suffix_rows(histories: Histories, length: int) -> tuple[Tensor, Tensor]:
    """Rows of B_t = (p_{t-k+1}, ..., p_t) (Eq. 1) and which of them exist. Returns row_BK (int64; missing ones are the
    source row) and present_BK (bool; missing ones come first).
    """
    offset_K = torch.arange(length - 1, -1, -1, device=histories.row_B.device)
    row_BK = histories.row_B[:, None] - offset_K
    present_BK = row_BK >= histories.first_B[:, None]
    row_BK = torch.where(present_BK, row_BK, histories.row_B[:, None])
    return row_BK, present_BK


class TimeEmbedding(nn.Module):
    """Embeds local hour (24 bins) and weekday (Eq. 23)."""

    def __init__(self) -> None:
        super().__init__()
        self.hour = nn.Embedding(HOUR_BINS, _TIME_DIM)
        self.weekday = nn.Embedding(7, _TIME_DIM)
        self.output_dim = 2 * _TIME_DIM

    def forward(self, local_seconds: Tensor) -> Tensor:
        """Local seconds of any shape to (..., 32)."""
        hour = (local_hour_fraction(local_seconds) * HOUR_BINS).long().clamp_(0, HOUR_BINS - 1)
        return torch.cat([self.hour(hour), self.weekday(local_weekday(local_seconds))], dim=-1)


class CheckinTokens(nn.Module):
    """x_j = MLP_tok([e_p; a_p; lat; lon]) (Eq. 2), with the target's time appended if given. ``category_P``: int64
    category of each POI; ``coordinates_P2``: float latitude and longitude, standardised over POIs.
    """

    category_P: Tensor
    coordinates_P2: Tensor

    def __init__(self, config: ModelConfig, category_P: Tensor, coordinates_P2: Tensor) -> None:
        super().__init__()
        self.config = config
        self.category_embedding = nn.Embedding(int(category_P.max()) + 1, config.category_dim)
        self.register_buffer("category_P", category_P, persistent=False)
        self.register_buffer("coordinates_P2", coordinates_P2, persistent=False)
        self.future_time = TimeEmbedding() if config.use_future_time else None
        inputs = config.poi_dim + config.category_dim + 2 + (self.future_time.output_dim if self.future_time else 0)
        self.mlp = nn.Sequential(
            nn.Linear(inputs, config.hidden_dim), nn.GELU(), nn.Linear(config.hidden_dim, config.hidden_dim)
        )
        self.dropout = nn.Dropout(config.embedding_dropout)

    def forward(self, histories: Histories, poi_embedding: nn.Embedding) -> tuple[Tensor, Tensor]:
        """Tokens x_BKD and present_BK (False where the user has fewer than k check-ins)."""
        row_BK, present_BK = suffix_rows(histories, self.config.suffix_length)
        poi_BK = histories.checkins.poi_T[row_BK]
        features = [
            self.dropout(torch.cat([poi_embedding(poi_BK), self.category_embedding(self.category_P[poi_BK])], -1)),
            self.coordinates_P2[poi_BK],
        ]
        if self.future_time is not None:
            assert isinstance(histories, TimedHistories)
            time_BD = self.future_time(histories.next_local_seconds_B)
            features.append(time_BD[:, None].expand(-1, poi_BK.shape[1], -1))
        return self.mlp(torch.cat(features, dim=-1)), present_BK
