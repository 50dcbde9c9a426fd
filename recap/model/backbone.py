"""The Transformer encoder over user token, check-in tokens and graph token (Eqs. 3-5).

Shape suffixes: B cases, K suffix positions, S sequence slots, D hidden features, P POIs.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.model.config import ModelConfig
from recap.vocabulary import Match


class EncoderLayer(nn.Module):
    """A post-norm Transformer encoder layer, numerically equal to `torch.nn.TransformerEncoderLayer`. It can compute a
    single output slot, because the last layer needs only the prediction state.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.hidden_dim
        self.num_heads, self.attention_dropout = config.num_heads, config.dropout
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.attention_output = nn.Linear(width, width)
        self.feedforward = nn.Sequential(
            nn.Linear(width, config.feedforward_dim),
            nn.GELU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.feedforward_dim, width),
        )
        self.norm_attention, self.norm_feedforward = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(config.dropout)
        for part in (self.query, self.key_value, self.attention_output):
            nn.init.zeros_(part.bias)
        for weight_DD in (self.query.weight, *self.key_value.weight.chunk(2)):
            # The bound of a joint (3D, D) projection, as in torch.nn.MultiheadAttention.
            nn.init.uniform_(weight_DD, -((6 / (4 * width)) ** 0.5), (6 / (4 * width)) ** 0.5)

    def forward(self, input_BSD: Tensor, present_BS: Tensor, slot: int | None = None) -> Tensor:
        """Encode all slots (B, S, D), or one slot (B, 1, D); absent slots are not attended to."""
        own_BQD = input_BSD if slot is None else input_BSD[:, slot : slot + 1]
        query_BHQd = self._heads(self.query(own_BQD))
        key_BHSd, value_BHSd = (self._heads(part) for part in self.key_value(input_BSD).chunk(2, dim=-1))
        attended_BHQd = F.scaled_dot_product_attention(
            query_BHQd,
            key_BHSd,
            value_BHSd,
            attn_mask=present_BS[:, None, None, :],
            dropout_p=self.attention_dropout if self.training else 0.0,
        )
        attended_BQD = attended_BHQd.transpose(1, 2).flatten(2)
        hidden_BQD = self.norm_attention(own_BQD + self.dropout(self.attention_output(attended_BQD)))
        return self.norm_feedforward(hidden_BQD + self.dropout(self.feedforward(hidden_BQD)))

    def _heads(self, values_BSD: Tensor) -> Tensor:
        return values_BSD.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)


class Backbone(nn.Module):
    """h_t = TransformerEncoder([z_u; x_{t-k+1}; ...; x_t; g_t] + P) (Eqs. 3-4). Positions count from the end of the
    suffix, and missing check-ins are masked. An inactive graph token's slot is filled with zeros.
    """

    def __init__(self, config: ModelConfig, num_users: int) -> None:
        super().__init__()
        self.config = config
        self.user_embedding = nn.Embedding(num_users, config.hidden_dim)
        slots = 1 + config.suffix_length + int(config.has_token)
        self.position = nn.Parameter(torch.empty(slots, config.hidden_dim))
        nn.init.normal_(self.position, std=0.02)
        nn.init.normal_(self.user_embedding.weight, std=0.02)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_layers))

    def forward(
        self,
        user_B: Tensor,
        tokens_BKD: Tensor,
        present_BK: Tensor,
        graph_BD: Tensor | None,
        masked_BS: Tensor | None = None,
    ) -> Tensor:
        """The prediction state h_BD of the source's slot; for ``masked_BS`` see `Interventions`."""
        parts = [self.user_embedding(user_B)[:, None], tokens_BKD]
        present = [torch.ones_like(present_BK[:, :1]), present_BK]
        if graph_BD is not None:
            parts.append(graph_BD[:, None])
            present.append(present[0])
        present_BS = torch.cat(present, dim=1)
        content_BSD = torch.cat(parts, dim=1)
        slot = self.config.suffix_length
        if masked_BS is not None:
            content_BSD = content_BSD.masked_fill(masked_BS[..., None], 0.0)
            present_BS = present_BS & ~masked_BS
            present_BS[:, slot] = True
        hidden_BSD = content_BSD + self.position
        *earlier, last = self.layers
        for layer in earlier:
            hidden_BSD = layer(hidden_BSD, present_BS)
        return last(hidden_BSD, present_BS, slot)[:, 0]


class CoreScore(nn.Module):
    """l_core(d) = w_d . h_t + b_d for every POI d (Eq. 5). A place that is new to the weights of another dataset gets
    the log of the mean of exp(l_core) over the known ones.
    """

    is_new_P: Tensor | None

    def __init__(self, config: ModelConfig, num_pois: int, match: Match | None = None) -> None:
        super().__init__()
        self.dropout = nn.Dropout(config.output_dropout)
        self.output = nn.Linear(config.hidden_dim, num_pois)
        is_new_P = None if match is None or not match.new_places else torch.from_numpy(match.poi_P < 0)
        self.register_buffer("is_new_P", is_new_P, persistent=False)

    def forward(self, state_BD: Tensor) -> Tensor:
        """Core scores (B, P)."""
        core_BP: Tensor = self.output(self.dropout(state_BD))
        return core_BP if self.is_new_P is None else torch.where(self.is_new_P, self._of_new(core_BP), core_BP)

    def at(self, state_BD: Tensor, poi_B: Tensor) -> Tensor:
        """Core score of one POI per case, (B,)."""
        core_B = (state_BD * self.output.weight[poi_B]).sum(1) + self.output.bias[poi_B]
        if self.is_new_P is None or not self.is_new_P[poi_B].any():
            return core_B
        return torch.where(self.is_new_P[poi_B], self._of_new(self.output(state_BD))[:, 0], core_B)

    def _of_new(self, core_BP: Tensor) -> Tensor:
        assert self.is_new_P is not None
        known_BP = core_BP.masked_fill(self.is_new_P, -torch.inf)
        return torch.logsumexp(known_BP, 1, keepdim=True) - math.log(int((~self.is_new_P).sum()))
