"""Flashback: a plain recurrent network whose states are averaged by closeness in time and space.

Yang et al., Location Prediction over Sparse User Mobility Traces Using RNNs: Flashback in Hidden States!, IJCAI 2020.

Departures: the recurrent state starts again in every window; users with few check-ins and last, partial windows are
kept; a step holds windows of all users.

Shape suffixes: B windows, K positions, N learned steps, P POIs, D features.
"""

from abc import abstractmethod

import torch
from torch import Tensor, nn

from recap.history import Histories
from recap.published.city import City
from recap.published.configs import FlashbackConfig, RecurrentConfig
from recap.published.decay import average_past, degrees_apart, time_weights
from recap.published.network import SequenceNetwork
from recap.published.windows import Windows


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
