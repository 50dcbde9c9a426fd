"""The Transformer encoder over user token, check-in tokens and graph token (Eqs. 3-5).

Shape suffixes: B cases, K suffix positions, S sequence slots, D hidden features, P POIs.
"""

import torch
from torch import Tensor, nn

from recap.model.config import ModelConfig


class Backbone(nn.Module):
    """h_t = TransformerEncoder([z_u; x_{t-k+1}; ...; x_t; g_t] + P) (Eqs. 3-4).

    Positions count from the end of the suffix, so that the source always has the same one; missing check-ins are
    masked. The graph token keeps its slot, filled with zeros, while it is inactive.
    """

    def __init__(self, config: ModelConfig, num_users: int) -> None:
        super().__init__()
        self.config = config
        self.user_embedding = nn.Embedding(num_users, config.hidden_dim)
        slots = 1 + config.suffix_length + int(config.use_graph)
        self.position = nn.Parameter(torch.empty(slots, config.hidden_dim))
        nn.init.normal_(self.position, std=0.02)
        nn.init.normal_(self.user_embedding.weight, std=0.02)
        layer = nn.TransformerEncoderLayer(
            config.hidden_dim,
            config.num_heads,
            config.feedforward_dim,
            config.dropout,
            activation="gelu",
            batch_first=True,
        )
        self.encoder = nn.TransformerEncoder(layer, config.num_layers, enable_nested_tensor=False)

    def forward(self, user_B: Tensor, tokens_BKD: Tensor, present_BK: Tensor, graph_BD: Tensor | None) -> Tensor:
        """The prediction state h_BD."""
        parts = [self.user_embedding(user_B)[:, None], tokens_BKD]
        absent = [torch.zeros_like(present_BK[:, :1]), ~present_BK]
        if graph_BD is not None:
            parts.append(graph_BD[:, None])
            absent.append(torch.zeros_like(present_BK[:, :1]))
        absent_BS = torch.cat(absent, dim=1)
        encoded_BSD = self.encoder(torch.cat(parts, dim=1) + self.position, src_key_padding_mask=absent_BS)
        match self.config.state:
            case "last_checkin":
                return encoded_BSD[:, self.config.suffix_length]
            case "graph":
                return encoded_BSD[:, -1]
            case "user":
                return encoded_BSD[:, 0]
            case "mean":
                weight_BS = (~absent_BS).to(encoded_BSD.dtype)[..., None]
                return (encoded_BSD * weight_BS).sum(1) / weight_BS.sum(1)


class CoreScore(nn.Module):
    """l_core(d) = w_d . h_t + b_d for every POI d (Eq. 5)."""

    def __init__(self, config: ModelConfig, num_pois: int) -> None:
        super().__init__()
        self.dropout = nn.Dropout(config.output_dropout)
        self.output = nn.Linear(config.hidden_dim, num_pois)

    def forward(self, state_BD: Tensor) -> Tensor:
        """Core scores (B, P)."""
        return self.output(self.dropout(state_BD))
