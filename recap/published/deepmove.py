"""DeepMove: a recurrent network over the current trajectory that attends to a user's merged past.

Feng et al., DeepMove: Predicting Human Mobility with Attentional Recurrent Networks, WWW 2018; the variant
attn_avg_long_user.

Departures: the LSTM and the history see the latest ``window`` check-ins, not all; trajectories are the dataset's, not
cut at ten check-ins; a user's first trajectory is learned too; batches of many trajectories.

Shape suffixes: B windows, K positions, N learned steps, P POIs, R runs of check-ins, D features.
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.data.dataset import Dataset
from recap.history.tensors import CheckinTensors, Histories
from recap.published.city import City
from recap.published.configs import DeepmoveConfig
from recap.published.network import SequenceNetwork, mean_within, slot_of_day
from recap.published.windows import TrainingWindows, Windows

HOURS: Final = 24
_NEVER: Final = -1e30


class Deepmove(SequenceNetwork):
    """logits = W [h_t; sum_m softmax(h_t . g_m) g_m; E_user] + b, with g_m of entries before the trajectory."""

    config: DeepmoveConfig

    def __init__(self, config: DeepmoveConfig, city: City) -> None:
        super().__init__(config, city)
        token = config.dim + config.slot_dim
        self.poi_embedding = nn.Embedding(city.num_pois, config.dim)
        self.slot_embedding = nn.Embedding(2 * HOURS, config.slot_dim)
        self.user_embedding = nn.Embedding(city.num_users, config.user_dim)
        self.recurrent = nn.LSTM(token, config.hidden_dim, batch_first=True)
        self.history = nn.Linear(token, config.hidden_dim)
        self.output = nn.Linear(2 * config.hidden_dim + config.user_dim, city.num_pois)
        self.dropout = nn.Dropout(config.dropout)

    def examples(self, dataset: Dataset, checkins: CheckinTensors) -> TrainingWindows:
        return TrainingWindows.of(dataset, checkins, self.config.window, learn_across=False)

    def states(self, windows: Windows) -> Tensor:
        """Recurrent state and attended history, (B, K, 2 D)."""
        poi_BKD = self.poi_embedding(windows.poi_BK)
        slot_BK = slot_of_day(windows.local_seconds_BK, HOURS)
        slot_BKD = self.slot_embedding(slot_BK)
        state_BKD, _ = self.recurrent(self.dropout(torch.cat([poi_BKD, slot_BKD], dim=-1)))
        walk_BK = changes(windows.checkins.trajectory_T[windows.row_BK]).cumsum(1)
        run_BK = (changes(slot_BK) | changes(walk_BK)).cumsum(1)
        merged_BKD = torch.cat([average_runs(poi_BKD, run_BK), slot_BKD], dim=-1)
        entry_BKD = torch.tanh(self.history(merged_BKD))
        ends_BK = changes(run_BK.flip(1)).flip(1)
        past_BKK = (walk_BK[:, None, :] < walk_BK[:, :, None]) & ends_BK[:, None, :]
        score_BKK = (state_BKD @ entry_BKD.transpose(1, 2)).masked_fill(~past_BKK, _NEVER)
        weight_BKK = torch.softmax(score_BKK, dim=-1) * past_BKK  # a first trajectory has no past
        return torch.cat([state_BKD, weight_BKK @ entry_BKD], dim=-1)

    def step_logits(self, state_ND: Tensor, steps: Histories) -> Tensor:
        whole_ND = torch.cat([state_ND, self.user_embedding(steps.user_B)], dim=-1)
        return self.output(self.dropout(whole_ND))


def changes(value_BK: Tensor) -> Tensor:
    """Whether a position differs from the one before it; the first does."""
    first_B1 = torch.ones_like(value_BK[:, :1], dtype=torch.bool)
    return torch.cat([first_B1, value_BK[:, 1:] != value_BK[:, :-1]], dim=1)


def average_runs(values_BKD: Tensor, run_BK: Tensor) -> Tensor:
    """The mean over each position's run, (B, K, D); runs are numbered from 1 in each window."""
    size, length, width = values_BKD.shape
    key_N = (torch.arange(size, device=run_BK.device)[:, None] * (length + 1) + run_BK).reshape(-1)
    mean_RD = mean_within(values_BKD.reshape(-1, width), key_N, size * (length + 1))
    return F.embedding(key_N, mean_RD).view_as(values_BKD)
