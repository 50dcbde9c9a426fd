"""ROTAN: two Transformers over a trajectory, of the user and of the place, both turned by hour and weekday.

Feng et al., ROTAN: A Rotation-based Temporal Attention Network for Time-Specific Next POI Recommendation, KDD 2024. Its
states are turned once more by the hour and weekday of the step to predict: that is ``target_time``, off by default; the
source's own stand there then.

Departures: places start from chance instead of from a RotatE over a graph of moves; a cell of the quadtree is that of
the place, without the half pixel that the public code adds; codes of places are computed once in a step, so that a
place has one dropout in it; trajectories of two check-ins are learned and first steps are scored.

Shape suffixes: B windows, K positions, N learned steps, P POIs, M distinct POIs, D features.
"""

from typing import Final

import torch
from torch import Tensor, nn

from recap.history import SECONDS_PER_DAY, CheckinTensors, local_weekday
from recap.rivals.city import City
from recap.rivals.configs import RotanConfig
from recap.rivals.lengths import by_length
from recap.rivals.positions import sinusoids
from recap.rivals.quadkey import NUM_TOKENS, quadkey_runs
from recap.rivals.rival import SequenceRival, causal_mask
from recap.rivals.rotation import rotate
from recap.rivals.time2vec import Time2Vec
from recap.rivals.windows import Windows

HOUR_SHARE: Final = 0.7
USER_SHARE: Final = 0.7
SLOTS: Final = 96
_CODE_LAYERS: Final = 2
_CODE_DROPOUT: Final = 0.3


class TimeTurn(nn.Module):
    """.7 of vectors of 2 D turned by the quarter of an hour, and .3 of them turned by the weekday; D learned phases."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim, self.hour, self.day = dim, Time2Vec(dim), Time2Vec(dim)

    def forward(self, value: Tensor, local_seconds: Tensor) -> Tensor:
        quarter = local_seconds % SECONDS_PER_DAY // (SECONDS_PER_DAY // SLOTS)
        by_hour = rotate(value, self.hour(quarter / SLOTS), self.dim)
        by_day = rotate(value, self.day(local_weekday(local_seconds) / 7), self.dim)
        return HOUR_SHARE * by_hour + (1 - HOUR_SHARE) * by_day


class Rotan(SequenceRival):
    """logits = .7 W_1 [turned h_1; E[p]] + .3 W_2 [turned h_2; code of p], biases included."""

    within_trajectory = True
    runs_PG: Tensor

    def __init__(self, config: RotanConfig, city: City) -> None:
        super().__init__()
        self.config: RotanConfig = config
        self.window = config.window
        dim, pois = config.dim, city.num_pois
        self.poi_embedding, self.user_embedding = nn.Embedding(pois, dim), nn.Embedding(city.num_users, dim)
        self.run_embedding = nn.Embedding(NUM_TOKENS, dim)
        code = nn.TransformerEncoderLayer(dim, 1, 2 * dim, _CODE_DROPOUT, batch_first=True)
        self.code_encoder = nn.TransformerEncoder(code, _CODE_LAYERS, enable_nested_tensor=False)
        self.code_norm = nn.LayerNorm(dim)
        self.user_in, self.place_in, self.user_out, self.place_out = (TimeTurn(dim) for _ in range(4))
        self.user_encoder, self.place_encoder = (self._encoder() for _ in range(2))
        self.user_output, self.place_output = nn.Linear(3 * dim, pois), nn.Linear(3 * dim, pois)
        for output in (self.user_output, self.place_output):
            nn.init.uniform_(output.weight, -0.1, 0.1)
            nn.init.zeros_(output.bias)
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("runs_PG", quadkey_runs(city.coordinates_P2), persistent=False)

    def _encoder(self) -> nn.TransformerEncoder:
        config = self.config
        layer = nn.TransformerEncoderLayer(2 * config.dim, 2, config.feedforward_dim, config.dropout, batch_first=True)
        return nn.TransformerEncoder(layer, config.layers, enable_nested_tensor=False)

    def codes(self, poi_M: Tensor) -> Tensor:
        """What the digits of some places' cells say of them, (M, D)."""
        token_MGD = self.run_embedding(self.runs_PG[poi_M]) * self.config.dim**0.5
        code_MD: Tensor = self.code_norm(self.code_encoder(token_MGD).mean(1))
        return code_MD

    def states(self, windows: Windows) -> Tensor:
        """Both encoders' states and the code of the place, (B, K, 5 D)."""
        poi_M = torch.unique(windows.poi_BK)
        code_MD = self.codes(poi_M)
        return by_length(windows, lambda group: self._states(group, poi_M, code_MD))

    def _states(self, windows: Windows, poi_M: Tensor, code_MD: Tensor) -> Tensor:
        place_BKD = self.poi_embedding(windows.poi_BK)
        code_BKD = nn.functional.embedding(torch.searchsorted(poi_M, windows.poi_BK), code_MD)
        user_BKD = self.user_embedding(windows.user_B)[:, None].expand_as(place_BKD)
        time_BK = windows.local_seconds_BK
        first_BKD = self.user_in(torch.cat([user_BKD, place_BKD], dim=-1), time_BK)
        second_BKD = self.place_in(torch.cat([place_BKD, code_BKD], dim=-1), time_BK)
        hidden_KK = ~causal_mask(time_BK.shape[1], time_BK.device)
        states = []
        for encoder, token_BKD in ((self.user_encoder, first_BKD), (self.place_encoder, second_BKD)):
            token_BKD = token_BKD * token_BKD.shape[-1] ** 0.5
            token_BKD = self.dropout(token_BKD + sinusoids(token_BKD.shape[1], token_BKD))
            states.append(encoder(token_BKD, mask=hidden_KK))
        return torch.cat([*states, code_BKD], dim=-1)

    def step_logits(self, state_ND: Tensor, checkins: CheckinTensors, row_N: Tensor) -> Tensor:
        dim = self.config.dim
        time_N = checkins.local_seconds_T[row_N + 1 if self.config.target_time else row_N]
        first_ND, second_ND, code_ND = state_ND.split([2 * dim, 2 * dim, dim], dim=-1)
        place_ND = self.poi_embedding(checkins.poi_T[row_N])
        of_user_NP = self.user_output(torch.cat([self.user_out(first_ND, time_N), place_ND], dim=-1))
        of_place_NP = self.place_output(torch.cat([self.place_out(second_ND, time_N), code_ND], dim=-1))
        logits: Tensor = torch.lerp(of_place_NP, of_user_NP, USER_SHARE)
        return logits
