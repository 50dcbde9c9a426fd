"""ROTAN: two Transformers over a trajectory, of user and of place, both rotated by hour and weekday.

Feng et al., ROTAN: A Rotation-based Temporal Attention Network for Time-Specific Next POI Recommendation, KDD 2024.
``target_time``, off by default, rotates states by the hour and weekday of the predicted check-in, as published; else by
the source's.

Departures: place embeddings start random, not from a RotatE; a quadtree cell is that of the place, without the public
code's half pixel; codes of places are computed once a step; trajectories of two check-ins are learned and first steps
are scored.

Shape suffixes: N check-ins or steps, P POIs, M distinct POIs, D features.
"""

import math
from typing import Final

import torch
from torch import Tensor, nn

from recap.history import SECONDS_PER_DAY, Histories, local_weekday
from recap.published.city import City
from recap.published.configs import RotanConfig
from recap.published.network import Time2Vec, rotate, step_times
from recap.published.packed import PackedNetwork, Packing, encode, encoder_of, sinusoids
from recap.random_masks import WordDropout

LEVEL: Final = 25
"""Digits of a cell; one is 1.2 m wide at the equator."""
RUN: Final = 6
RUNS: Final = LEVEL - RUN + 1
NUM_TOKENS: Final = 4**RUN
_MOST_LATITUDE: Final = 85.05112878


def quadkey_runs(coordinates_P2: Tensor) -> Tensor:
    """All runs of 6 consecutive digits of every place's 25-digit quadkey, as base-4 numbers, (P, 20).

    >>> quadkey_runs(torch.tensor([[0.0, 0.0]], dtype=torch.float64))[0, :3].tolist()  # 3000...: 3 * 4 ** 5
    [3072, 0, 0]
    """
    latitude_P, longitude_P = coordinates_P2.double().unbind(-1)
    sine_P = torch.sin(torch.deg2rad(latitude_P.clamp(-_MOST_LATITUDE, _MOST_LATITUDE)))
    across_P = (longitude_P + 180) / 360
    down_P = 0.5 - torch.log((1 + sine_P) / (1 - sine_P)) / (4 * math.pi)
    cells = 1 << LEVEL
    x_P, y_P = ((share_P * cells).floor().long().clamp(0, cells - 1) for share_P in (across_P, down_P))
    bit_L = torch.arange(LEVEL - 1, -1, -1, device=x_P.device)
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
        super().__init__(config, city, config.window)
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
        self.register_buffer("runs_PG", quadkey_runs(city.coordinates_P2), persistent=False)

    def codes(self, poi_M: Tensor) -> Tensor:
        """The code of some places' cells, (M, D)."""
        token_MGD = self.run_embedding(self.runs_PG[poi_M]) * self.config.dim**0.5
        return self.code_norm(self.code_encoder(token_MGD).mean(1))

    def packed_states(self, packing: Packing) -> Tensor:
        """Both encoders' states and the code of the place, (N, 5 D)."""
        poi_N = packing.checkins.poi_T[packing.row_N]
        poi_M, which_N = torch.unique(poi_N, return_inverse=True)
        place_ND, code_ND = self.poi_embedding(poi_N), nn.functional.embedding(which_N, self.codes(poi_M))
        user_ND, time_N = self.user_embedding(packing.user_N), packing.checkins.local_seconds_T[packing.row_N]
        first_ND = self.user_in(torch.cat([user_ND, place_ND], dim=-1), time_N)
        second_ND = self.place_in(torch.cat([place_ND, code_ND], dim=-1), time_N)
        position_ND = sinusoids(packing.runs[-1][1], first_ND)[packing.position_N]
        states = []
        for encoder, token_ND in ((self.user_encoder, first_ND), (self.place_encoder, second_ND)):
            token_ND = self.dropout(token_ND * token_ND.shape[-1] ** 0.5 + position_ND)
            states.append(encode(encoder, token_ND, packing))
        return torch.cat([*states, code_ND], dim=-1)

    def step_logits(self, state_ND: Tensor, steps: Histories) -> Tensor:
        dim = self.config.dim
        time_N = step_times(steps, target_time=self.config.target_time)
        first_ND, second_ND, code_ND = state_ND.split([2 * dim, 2 * dim, dim], dim=-1)
        place_ND = self.poi_embedding(steps.source_B)
        of_user_ND = torch.cat([self.user_out(first_ND, time_N), place_ND], dim=-1) * USER_SHARE
        of_place_ND = torch.cat([self.place_out(second_ND, time_N), code_ND], dim=-1) * (1 - USER_SHARE)
        # Weight before the products: a tenth of the numbers.
        bias_P = torch.lerp(self.place_output.bias, self.user_output.bias, USER_SHARE)
        logits = torch.addmm(bias_P, of_user_ND, self.user_output.weight.T)
        return torch.addmm(logits, of_place_ND, self.place_output.weight.T)
