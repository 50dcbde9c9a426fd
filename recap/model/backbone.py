"""The Transformer encoder and what it reads: check-in tokens, user token and graph token (Eqs. 1-8).

Shape suffixes: B cases, K suffix positions (oldest first), S sequence slots, D hidden features, P POIs, E features of a
POI embedding.
"""

import math

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional as F

from recap.arithmetic.propagation import Propagation
from recap.history.graph import rows_of_power
from recap.history.tensors import Histories, local_hour_fraction, local_weekday
from recap.model.config import ModelConfig
from recap.vocabulary import Match

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
            assert histories.next_local_seconds_B is not None
            time_BD = self.future_time(histories.next_local_seconds_B)
            features.append(time_BD[:, None].expand(-1, poi_BK.shape[1], -1))
        return self.mlp(torch.cat(features, dim=-1)), present_BK


class GraphToken(nn.Module):
    """g_t = LN(MLP_graph(G^(N)_{s_t})) with G^(0) = E_poi and G^(l+1) = A G^(l) (Eqs. 7-8). ``adjacency``:
    row-normalised A (Eq. 6) of shape (P, P); rows without out-edges are zero.
    """

    def __init__(self, config: ModelConfig, adjacency: sparse.csr_array) -> None:
        super().__init__()
        self.num_hops = config.num_hops
        self._adjacency = adjacency
        self.propagation = Propagation(adjacency)
        self.mlp = nn.Sequential(
            nn.Linear(config.poi_dim, config.graph_dim),
            nn.GELU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.graph_dim, config.hidden_dim),
        )
        self.norm = nn.LayerNorm(config.hidden_dim)

    def propagate(self, embedding_PE: Tensor) -> Tensor:
        """G^(N) (Eq. 7), shape (P, E)."""
        with torch.autocast(embedding_PE.device.type, enabled=False):  # no bfloat16 in sparse products
            for _ in range(self.num_hops):
                embedding_PE = self.propagation(embedding_PE)
        return embedding_PE

    def propagate_rows(self, embedding_PE: Tensor, source_B: Tensor) -> Tensor:
        """G^(N) of the sources alone, (B, E), with sparse gradients."""
        source_U, case_B = np.unique(source_B.cpu().numpy(), return_inverse=True)
        walks = rows_of_power(self._adjacency, source_U, self.num_hops)
        device = embedding_PE.device
        propagated_UE = F.embedding_bag(
            torch.from_numpy(walks.indices.astype(np.int64)).to(device),
            embedding_PE,
            torch.from_numpy(walks.indptr.astype(np.int64)).to(device),
            mode="sum",
            sparse=True,
            per_sample_weights=torch.from_numpy(walks.data).to(device, embedding_PE.dtype),
            include_last_offset=True,
        )
        return F.embedding(torch.from_numpy(case_B).to(device), propagated_UE)

    def forward(self, propagated_BE: Tensor) -> Tensor:
        """Graph tokens g_BD from the sources' rows of G^(N) (Eq. 8)."""
        return self.norm(self.mlp(propagated_BE))


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

    def user_vectors(self, user_B: Tensor) -> Tensor:
        """z_u, (B, D); a user of a higher number than those of training gets the mean of all."""
        if self.training:
            vector_BD: Tensor = self.user_embedding(user_B)
            return vector_BD
        known_UD = self.user_embedding.weight
        last = len(known_UD) - 1
        is_new_B = (user_B > last)[:, None]
        return torch.where(is_new_B, known_UD.mean(0), F.embedding(user_B.clamp(max=last), known_UD))

    def forward(self, user_B: Tensor, tokens_BKD: Tensor, present_BK: Tensor, graph_BD: Tensor | None) -> Tensor:
        """The prediction state h_BD of the source's slot."""
        parts = [self.user_vectors(user_B)[:, None], tokens_BKD]
        present = [torch.ones_like(present_BK[:, :1]), present_BK]
        if graph_BD is not None:
            parts.append(graph_BD[:, None])
            present.append(present[0])
        present_BS = torch.cat(present, dim=1)
        hidden_BSD = torch.cat(parts, dim=1) + self.position
        *earlier, last = self.layers
        for layer in earlier:
            hidden_BSD = layer(hidden_BSD, present_BS)
        return last(hidden_BSD, present_BS, self.config.suffix_length)[:, 0]


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
