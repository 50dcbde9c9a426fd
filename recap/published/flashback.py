"""Flashback and REPLAY: a plain recurrent network whose states are averaged by closeness in time and space.

Yang et al., Location Prediction over Sparse User Mobility Traces Using RNNs: Flashback in Hidden States!, IJCAI 2020.
Deng et al., REPLAY: Modeling Time-Varying Temporal Regularities of Human Mobility for Location Prediction over Sparse
Trajectories, IEEE TMC 2025. ``target_time``, off by default, reads the hour and weekday of the predicted check-in, as
published.

Departures: the recurrent state starts again in every window; users with few check-ins and last, partial windows are
kept; a step holds windows of all users.

Shape suffixes: B windows, K positions, N learned steps, P POIs, D features, S slots of the week (168).
"""

from abc import abstractmethod
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.history import Histories
from recap.published.city import City
from recap.published.configs import FlashbackConfig, RecurrentConfig, ReplayConfig
from recap.published.network import SLOTS_OF_WEEK, SequenceNetwork, slot_of_week, step_times
from recap.published.windows import Windows, average_past, degrees_apart, time_weights

_LEAST_BANDWIDTH: Final = 1e-3


class FlashbackAverages(SequenceNetwork):
    """Recurrent states over a window, averaged by time and distance; subclasses define input and output."""

    config: RecurrentConfig
    start_D: Tensor

    def __init__(self, config: RecurrentConfig, city: City) -> None:
        super().__init__(config, city, config.window)
        self.poi_embedding = nn.Embedding(city.num_pois, config.dim)
        self.user_embedding = nn.Embedding(city.num_users, config.dim)
        self.recurrent = nn.RNN(config.dim, config.dim, batch_first=True)
        self.register_buffer("start_D", torch.randn(config.dim) / config.dim)

    @abstractmethod
    def tokens(self, windows: Windows) -> Tensor:
        """Input of the recurrent network, (B, K, D)."""

    def states(self, windows: Windows) -> Tensor:
        start_1BD = self.start_D.expand(1, len(windows), -1).contiguous()
        states_BKD, _ = self.recurrent(self.tokens(windows), start_1BD)
        near_BKK = torch.exp(-self.config.space_decay * degrees_apart(self.coordinates_P2[windows.poi_BK]))
        time_BKK = time_weights(windows.seconds_BK, self.config.time_decay, states_BKD.dtype)
        return average_past(states_BKD, time_BKK * near_BKK)


class Flashback(FlashbackAverages):
    """x_j = E[p_j]; logits = W [average; E_user] + b."""

    def __init__(self, config: FlashbackConfig, city: City) -> None:
        super().__init__(config, city)
        self.output = nn.Linear(2 * config.dim, city.num_pois)

    def tokens(self, windows: Windows) -> Tensor:
        return self.poi_embedding(windows.poi_BK)

    def step_logits(self, state_ND: Tensor, steps: Histories) -> Tensor:
        return self.output(torch.cat([state_ND, self.user_embedding(steps.user_B)], dim=-1))


class Replay(FlashbackAverages):
    """Flashback with hours of the week whose embeddings tau are smoothed over neighbouring hours.

    x_j = W_x [E[p_j]; tau(slot_j)]; logits = W [average; E_user; tau(slot)] + b.
    """

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
