"""GETNext and ROTAN: Transformers over a trajectory.

Windows of many lengths are read without padding: most trajectories have two or three check-ins, a few have a hundred.
Attention takes windows of one length together.

Shape suffixes: B windows, K positions, N check-ins of all windows, or steps, P POIs, M distinct POIs, D features, G
windows of one length, L edges.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional as F

from recap.arithmetic.propagation import Propagation
from recap.arithmetic.ragged import expand_ranges
from recap.arithmetic.random_masks import WordDropout
from recap.history.graph import row_normalised
from recap.history.tensors import (
    SECONDS_PER_DAY,
    CaseBatch,
    CheckinTensors,
    Histories,
    local_hour_fraction,
    local_weekday,
)
from recap.published.configs import GetnextConfig, RotanConfig
from recap.published.network import City, SequenceNetwork, Time2Vec, rotate
from recap.published.windows import Windows


def sinusoids(length: int, like: Tensor) -> Tensor:
    """Sines and cosines of positions 0, 1, ..., (length, D), with D, dtype and device of ``like`` (Vaswani et al.,
    2017).
    """
    width = like.shape[-1]
    position_K1 = torch.arange(length, device=like.device, dtype=like.dtype)[:, None]
    steps = torch.arange(0, width, 2, device=like.device, dtype=like.dtype)
    angle_KH = position_K1 * torch.exp(steps * (-math.log(10_000.0) / width))
    return torch.stack([torch.sin(angle_KH), torch.cos(angle_KH)], dim=-1).reshape(length, -1)[:, :width]


@dataclass(frozen=True, eq=False)
class Packing:
    """The check-ins of windows, packed, the shortest windows first.

    Attributes:
        position_N: each check-in's position in its window.
        runs: number of consecutive windows, and their number of check-ins.
        index_BK: positions among N of the windows' check-ins, in the original order; past a window's end its last one.
    """

    checkins: CheckinTensors
    row_N: Tensor
    position_N: Tensor
    user_N: Tensor
    runs: tuple[tuple[int, int], ...]
    index_BK: Tensor

    @classmethod
    def of(cls, windows: Windows) -> "Packing":
        order_B = torch.argsort(windows.length_B, stable=True)
        length_B = windows.length_B[order_B]
        which_N, row_N = expand_ranges(windows.row_BK[order_B, 0], length_B)
        start_B = torch.empty_like(length_B)
        start_B[order_B] = length_B.cumsum(0) - length_B
        lengths, counts = torch.unique_consecutive(length_B, return_counts=True)
        offset_BK = windows.row_BK - windows.row_BK[:, :1]
        return cls(
            checkins=windows.checkins,
            row_N=row_N,
            position_N=row_N - windows.row_BK[order_B, 0][which_N],
            user_N=windows.user_B[order_B][which_N],
            runs=tuple(zip(counts.tolist(), lengths.tolist(), strict=True)),
            index_BK=start_B[:, None] + offset_BK,
        )


class PackedNetwork(SequenceNetwork):
    """A causal network that returns the states of all check-ins packed."""

    @abstractmethod
    def packed_states(self, packing: Packing) -> Tensor:
        """The state after each check-in, (N, D)."""

    def states(self, windows: Windows) -> Tensor:
        packing = Packing.of(windows)
        return self.packed_states(packing)[packing.index_BK]

    def states_at(self, windows: Windows, wanted_BK: Tensor) -> Tensor:
        packing = Packing.of(windows)
        return self.packed_states(packing)[packing.index_BK[wanted_BK]]


def encoder_of(width: int, heads: int, feedforward: int, dropout: float, layers: int) -> nn.TransformerEncoder:
    """A Transformer encoder (post-norm, ReLU, batch first) with fast dropout on a CPU."""
    layer = nn.TransformerEncoderLayer(width, heads, feedforward, dropout, batch_first=True)
    layer.dropout, layer.dropout1, layer.dropout2 = (WordDropout(dropout) for _ in range(3))  # type: ignore[assignment]
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


def encode(encoder: nn.TransformerEncoder, token_ND: Tensor, packing: Packing, dropout: nn.Module) -> Tensor:
    """The encoded windows under a causal mask, (N, D), with positions added to the tokens."""
    position_ND = sinusoids(packing.runs[-1][1], token_ND)[packing.position_N]
    x_ND = dropout(token_ND * token_ND.shape[-1] ** 0.5 + position_ND)
    for layer in encoder.layers:
        assert isinstance(layer, nn.TransformerEncoderLayer)
        x_ND = layer.norm1(x_ND + layer.dropout1(attend(layer.self_attn, x_ND, packing)))
        x_ND = layer.norm2(x_ND + layer.dropout2(layer.linear2(layer.dropout(F.relu(layer.linear1(x_ND))))))
    return x_ND


def attend(attention: nn.MultiheadAttention, x_ND: Tensor, packing: Packing) -> Tensor:
    """Causal self-attention within each window, (N, D)."""
    mixed_ND = F.linear(x_ND, attention.in_proj_weight, attention.in_proj_bias)
    heads, dropout = attention.num_heads, attention.dropout if attention.training else 0.0
    heard = []
    for part_ND, (windows, length) in zip(mixed_ND.split([g * k for g, k in packing.runs]), packing.runs, strict=True):
        if length == 1 and not dropout:
            heard.append(part_ND.chunk(3, dim=1)[2])  # a single check-in attends to itself
            continue
        three_3GHKE = part_ND.view(windows, length, 3, heads, -1).permute(2, 0, 3, 1, 4)
        query, key, value = three_3GHKE.unbind(0)
        heard_GHKE = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)
        heard.append(heard_GHKE.transpose(1, 2).reshape(windows * length, -1))
    return F.linear(torch.cat(heard), attention.out_proj.weight, attention.out_proj.bias)


class Getnext(PackedNetwork):
    """logits = W h + (LReLU of a rank-one map) * (transition probability + 1)."""

    config: GetnextConfig
    within_trajectory = True
    features_PF: Tensor
    start_P1: Tensor
    to_L: Tensor
    share_L: Tensor
    own_P: Tensor

    def __init__(self, config: GetnextConfig, city: City) -> None:
        super().__init__(config, city)
        dim, side, pois = config.dim, config.side_dim, city.num_pois
        features_PF = place_features(city, raw=config.raw_features)
        widths = [features_PF.shape[1], max(dim // 4, 1), max(dim // 2, 1), dim]
        self.convolutions = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))
        self.user_embedding = nn.Embedding(city.num_users, dim)
        self.category_embedding = nn.Embedding(city.num_categories, side)
        self.time = Time2Vec(side)
        self.fuse_user, self.fuse_side = nn.Linear(2 * dim, 2 * dim), nn.Linear(2 * side, 2 * side)
        width = 2 * (dim + side)
        self.encoder = encoder_of(width, 2, config.feedforward_dim, config.dropout, config.layers)
        self.output, self.next_time = nn.Linear(width, pois), nn.Linear(width, 1)
        self.next_category = nn.Linear(width, city.num_categories)
        nn.init.uniform_(self.output.weight, -0.1, 0.1)
        nn.init.zeros_(self.output.bias)
        self.map_features = nn.Linear(features_PF.shape[1], dim, bias=False)
        self.map_from, self.map_to = nn.Linear(dim, 1, bias=False), nn.Linear(dim, 1, bias=False)
        for linear in (self.map_features, self.map_from, self.map_to):
            nn.init.xavier_uniform_(linear.weight, gain=1.414)
        self.dropout = WordDropout(config.dropout)
        self.flow = Propagation(row_normalised(city.graph.counts + sparse.eye_array(pois)))
        self.hold(features_PF=features_PF, **flow_map(city))

    def places(self) -> Tensor:
        """Embeddings of all POIs after the graph convolutions, (P, D)."""
        x_PD, (*inner, last) = self.features_PF, [one for one in self.convolutions if isinstance(one, nn.Linear)]
        for convolution in inner:
            x_PD = F.leaky_relu(self.flow(x_PD @ convolution.weight.T) + convolution.bias, 0.2)
        return self.flow(self.dropout(x_PD) @ last.weight.T) + last.bias

    def packed_states(self, packing: Packing) -> Tensor:
        checkins, row_N = packing.checkins, packing.row_N
        poi_N = checkins.poi_T[row_N]
        place_ND, user_ND = F.embedding(poi_N, self.places()), self.user_embedding(packing.user_N)
        fused_ND = F.leaky_relu(self.fuse_user(torch.cat([user_ND, place_ND], dim=-1)), 0.2)
        category_ND = self.category_embedding(self.category_P[poi_N])
        time_ND = self.time(local_hour_fraction(checkins.local_seconds_T[row_N]))
        side_ND = F.leaky_relu(self.fuse_side(torch.cat([time_ND, category_ND], dim=-1)), 0.2)
        token_ND = torch.cat([fused_ND, side_ND], dim=-1)
        return encode(self.encoder, token_ND, packing, self.dropout)

    def step_logits(self, state_ND: Tensor, steps: Histories) -> Tensor:
        return self.output(state_ND) + self.transition_map(steps.source_B)

    def transition_map(self, source_N: Tensor) -> Tensor:
        """M_sd of the sources, (N, P): rank one under a leaky ReLU, times the flow map's row plus 1."""
        # Multiply the maps first: it is cheaper.
        ends_2F = torch.cat([self.map_from.weight, self.map_to.weight]) @ self.map_features.weight
        from_P, to_P = (self.features_PF @ ends_2F.T).unbind(1)
        plain_NP = F.leaky_relu(F.embedding(source_N, from_P[:, None]) + to_P, 0.2)
        # The flow map is sparse: add it at its edges only.
        start_N = self.start_P1[source_N]
        step_L, edge_L = expand_ranges(start_N, self.start_P1[source_N + 1] - start_N)
        own = torch.arange(len(source_N), device=source_N.device)
        row_L, to_L = torch.cat([step_L, own]), torch.cat([self.to_L[edge_L], source_N])
        added_L = plain_NP[row_L, to_L] * torch.cat([self.share_L[edge_L], self.own_P[source_N]])
        return plain_NP.index_put((row_L, to_L), added_L, accumulate=True)

    def step_loss(self, state_ND: Tensor, steps: CaseBatch) -> Tensor:
        """Cross-entropy of next place and category, and squared error of its time of day."""
        category_N = self.category_P[steps.target_B]
        time_N = local_hour_fraction(steps.target_local_seconds_B).to(state_ND.dtype)
        return (
            super().step_loss(state_ND, steps)
            + F.cross_entropy(self.next_category(state_ND), category_N)
            + self.config.time_weight * F.mse_loss(self.next_time(state_ND)[:, 0], time_N)
        )


def place_features(city: City, *, raw: bool) -> Tensor:
    """Training check-ins, one-hot category, latitude and longitude of every POI, (P, C + 3), float32.

    Unless raw, counts are logarithms, and counts and coordinates have mean 0 and deviation 1.
    """
    numbers_P3 = torch.cat([city.visits_P.double()[:, None], city.coordinates_P2], dim=1)
    if not raw:
        numbers_P3[:, 0] = torch.log1p(numbers_P3[:, 0])
        spread_3 = numbers_P3.std(0, correction=0)
        numbers_P3 = (numbers_P3 - numbers_P3.mean(0)) / torch.where(spread_3 > 0, spread_3, 1.0)
    one_hot_PC = F.one_hot(city.category_P, city.num_categories).double()
    return torch.cat([numbers_P3[:, :1], one_hot_PC, numbers_P3[:, 1:]], dim=1).float()


def flow_map(city: City) -> dict[str, Tensor]:
    """(D + I)^-1 (A + I) by its edges: those of row s are ``start_P1[s]`` to ``start_P1[s + 1]``, excluded. Returns
    ``to_L`` and ``share_L``, A_sd / (D_s + 1); ``own_P``, 1 / (D_s + 1).
    """
    counts = city.graph.counts
    total_P = counts.sum(axis=1) + 1.0
    share_L = counts.data / np.repeat(total_P, np.diff(counts.indptr))
    arrays = {"start_P1": counts.indptr.astype(np.int64), "to_L": counts.indices.astype(np.int64)}
    arrays |= {"share_L": share_L.astype(np.float32), "own_P": (1 / total_P).astype(np.float32)}
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


_LEVEL: Final = 25
"""Digits of a cell; one is 1.2 m wide at the equator."""
RUN: Final = 6
NUM_TOKENS: Final = 4**RUN
_MOST_LATITUDE: Final = 85.05112878


def quadkey_runs(coordinates_P2: Tensor) -> Tensor:
    """All runs of 6 consecutive digits of every place's 25-digit quadkey, as base-4 numbers, (P, 20)."""
    latitude_P, longitude_P = coordinates_P2.double().unbind(-1)
    sine_P = torch.sin(torch.deg2rad(latitude_P.clamp(-_MOST_LATITUDE, _MOST_LATITUDE)))
    across_P = (longitude_P + 180) / 360
    down_P = 0.5 - torch.log((1 + sine_P) / (1 - sine_P)) / (4 * math.pi)
    cells = 1 << _LEVEL
    x_P, y_P = ((share_P * cells).floor().long().clamp(0, cells - 1) for share_P in (across_P, down_P))
    bit_L = torch.arange(_LEVEL - 1, -1, -1, device=x_P.device)
    digit_PL = (x_P[:, None] >> bit_L & 1) + 2 * (y_P[:, None] >> bit_L & 1)
    power_R = 4 ** torch.arange(RUN - 1, -1, -1, device=x_P.device)
    return (digit_PL.unfold(1, RUN, 1) * power_R).sum(-1)


HOUR_SHARE: Final = 0.7
USER_SHARE: Final = 0.7
SLOTS: Final = 96
_CODE_LAYERS: Final = 2
_CODE_DROPOUT: Final = 0.3


class TimeTurn(nn.Module):
    """Vectors (2 D) rotated by D learned phases: .7 by the quarter of an hour, .3 by the weekday."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim, self.hour, self.day = dim, Time2Vec(dim), Time2Vec(dim)

    def forward(self, value: Tensor, local_seconds: Tensor) -> Tensor:
        quarter = local_seconds % SECONDS_PER_DAY // (SECONDS_PER_DAY // SLOTS)
        by_hour = rotate(value, self.hour(quarter / SLOTS), self.dim)
        by_day = rotate(value, self.day(local_weekday(local_seconds) / 7), self.dim)
        return HOUR_SHARE * by_hour + (1 - HOUR_SHARE) * by_day


class Rotan(PackedNetwork):
    """logits = .7 W_1 [turned h_1; E[p]] + .3 W_2 [turned h_2; code of p], biases included."""

    config: RotanConfig
    within_trajectory = True
    runs_PG: Tensor

    def __init__(self, config: RotanConfig, city: City) -> None:
        super().__init__(config, city)
        dim, pois = config.dim, city.num_pois
        self.poi_embedding, self.user_embedding = nn.Embedding(pois, dim), nn.Embedding(city.num_users, dim)
        self.run_embedding = nn.Embedding(NUM_TOKENS, dim)
        self.code_encoder = encoder_of(dim, 1, 2 * dim, _CODE_DROPOUT, _CODE_LAYERS)
        self.code_norm = nn.LayerNorm(dim)
        self.user_in, self.place_in, self.user_out, self.place_out = (TimeTurn(dim) for _ in range(4))
        self.user_encoder, self.place_encoder = (
            encoder_of(2 * dim, 2, config.feedforward_dim, config.dropout, config.layers) for _ in range(2)
        )
        self.user_output, self.place_output = nn.Linear(3 * dim, pois), nn.Linear(3 * dim, pois)
        for output in (self.user_output, self.place_output):
            nn.init.uniform_(output.weight, -0.1, 0.1)
            nn.init.zeros_(output.bias)
        self.dropout = WordDropout(config.dropout)
        self.hold(runs_PG=quadkey_runs(city.coordinates_P2))

    def codes(self, poi_M: Tensor) -> Tensor:
        """The code of some places' cells, (M, D)."""
        token_MGD = self.run_embedding(self.runs_PG[poi_M]) * self.config.dim**0.5
        return self.code_norm(self.code_encoder(token_MGD).mean(1))

    def packed_states(self, packing: Packing) -> Tensor:
        """Both encoders' states and the code of the place, (N, 5 D)."""
        poi_N = packing.checkins.poi_T[packing.row_N]
        poi_M, which_N = torch.unique(poi_N, return_inverse=True)
        place_ND, code_ND = self.poi_embedding(poi_N), F.embedding(which_N, self.codes(poi_M))
        user_ND, time_N = self.user_embedding(packing.user_N), packing.checkins.local_seconds_T[packing.row_N]
        first_ND = self.user_in(torch.cat([user_ND, place_ND], dim=-1), time_N)
        second_ND = self.place_in(torch.cat([place_ND, code_ND], dim=-1), time_N)
        parts = ((self.user_encoder, first_ND), (self.place_encoder, second_ND))
        states = [encode(encoder, token_ND, packing, self.dropout) for encoder, token_ND in parts]
        return torch.cat([*states, code_ND], dim=-1)

    def step_logits(self, state_ND: Tensor, steps: Histories) -> Tensor:
        dim, time_N = self.config.dim, steps.now_local_seconds_B
        first_ND, second_ND, code_ND = state_ND.split([2 * dim, 2 * dim, dim], dim=-1)
        place_ND = self.poi_embedding(steps.source_B)
        of_user_ND = torch.cat([self.user_out(first_ND, time_N), place_ND], dim=-1) * USER_SHARE
        of_place_ND = torch.cat([self.place_out(second_ND, time_N), code_ND], dim=-1) * (1 - USER_SHARE)
        # Weight before the products: a tenth of the numbers.
        bias_P = torch.lerp(self.place_output.bias, self.user_output.bias, USER_SHARE)
        logits = torch.addmm(bias_P, of_user_ND, self.user_output.weight.T)
        return torch.addmm(logits, of_place_ND, self.place_output.weight.T)
