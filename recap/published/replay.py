"""REPLAY: Flashback with hours of the week whose embeddings are smoothed over neighbouring hours.

Deng et al., REPLAY: Modeling Time-Varying Temporal Regularities of Human Mobility for Location Prediction over Sparse
Trajectories, IEEE TMC 2025. Departures: those of `recap.published.flashback`. ``target_time``, off by default, reads
the hour and weekday of the predicted check-in, as published.

Shape suffixes: B windows, K positions, N learned steps, P POIs, D features, S slots of the week (168).
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.history import Histories
from recap.published.city import City
from recap.published.configs import ReplayConfig
from recap.published.flashback import FlashbackAverages
from recap.published.network import SLOTS_OF_WEEK, slot_of_week, step_times
from recap.published.windows import Windows

_LEAST_BANDWIDTH: Final = 1e-3


class Replay(FlashbackAverages):
    """x_j = W_x [E[p_j]; tau(slot_j)]; logits = W [average; E_user; tau(slot)] + b."""

    config: ReplayConfig
    offset_SS: Tensor

    def __init__(self, config: ReplayConfig, city: City) -> None:
        super().__init__(config, city)
        half = config.dim // 2
        self.slot_embedding = nn.Embedding(SLOTS_OF_WEEK, half)
        self.bandwidth_S = nn.Parameter(torch.ones(SLOTS_OF_WEEK))
        self.mix = nn.Linear(config.dim + half, config.dim)
        self.output = nn.Linear(2 * config.dim + half, city.num_pois)
        slot_S = torch.arange(SLOTS_OF_WEEK)
        self.register_buffer("offset_SS", (slot_S[None] - slot_S[:, None] + 84) % SLOTS_OF_WEEK - 84, persistent=False)

    def smoothing(self) -> Tensor:
        """Row k: weights of the slots' embeddings in tau(k), normal in circular distance with its own width."""
        width_S1 = self.bandwidth_S.abs().clamp_min(_LEAST_BANDWIDTH)[:, None]
        return torch.softmax(-0.5 * (self.offset_SS / width_S1) ** 2, dim=1)

    def slot_table(self) -> Tensor:
        """tau of every slot, (S, d / 2)."""
        return self.smoothing() @ self.slot_embedding.weight

    def tokens(self, windows: Windows) -> Tensor:
        slots_BKD = F.embedding(slot_of_week(windows.local_seconds_BK), self.slot_table())
        return self.mix(torch.cat([self.poi_embedding(windows.poi_BK), slots_BKD], dim=-1))

    def step_logits(self, state_ND: Tensor, steps: Histories) -> Tensor:
        time_N = step_times(steps, target_time=self.config.target_time)
        user_ND = self.user_embedding(steps.user_B)
        slot_ND = F.embedding(slot_of_week(time_N), self.slot_table())
        return self.output(torch.cat([state_ND, user_ND, slot_ND], dim=-1))
