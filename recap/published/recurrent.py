"""Recurrent networks: Flashback, REPLAY and DPRL, states averaged by closeness in time and space; and DeepMove.

Shape suffixes: B windows, K positions, N learned steps, P POIs, R regions or runs of check-ins, U users, D features, S
slots of the week (168).
"""

import math
from abc import abstractmethod
from typing import Final

import numpy as np
import torch
from scipy.cluster.vq import kmeans, vq
from torch import Tensor, nn
from torch.nn import functional as F

from recap.data.dataset import Dataset
from recap.history.tensors import SECONDS_PER_DAY, CaseBatch, CheckinTensors, Histories
from recap.published.city import City
from recap.published.configs import DeepmoveConfig, DprlConfig, FlashbackConfig, RecurrentConfig, ReplayConfig
from recap.published.network import (
    SLOTS_OF_WEEK,
    SequenceNetwork,
    mean_within,
    rotate,
    slot_of_day,
    slot_of_week,
)
from recap.published.windows import TrainingWindows, Windows, average_past, by_length

_LEAST_BANDWIDTH: Final = 1e-3


def closeness(place_BK2: Tensor, seconds_BK: Tensor, config: RecurrentConfig | DprlConfig) -> Tensor:
    """1/2 (1 + cos(2 pi dt)) exp(-lambda_t dt) exp(-lambda_s dd) with dt in days and dd in degrees, as in the public
    code, (B, K, K) (Flashback, Eq. 5).
    """
    near_BKK = torch.exp(
        -config.space_decay * torch.linalg.vector_norm(place_BK2[:, :, None] - place_BK2[:, None, :], dim=-1)
    )
    days_BKK = (seconds_BK[:, :, None] - seconds_BK[:, None, :]).to(near_BKK.dtype) / SECONDS_PER_DAY
    again_BKK = (1 + torch.cos(2 * math.pi * days_BKK)) / 2
    return near_BKK * (again_BKK * torch.exp(-config.time_decay * days_BKK.abs()))


class FlashbackAverages(SequenceNetwork):
    """Recurrent states over a window, averaged by time and distance; subclasses define input and output."""

    config: RecurrentConfig
    start_D: Tensor

    def __init__(self, config: RecurrentConfig, city: City) -> None:
        super().__init__(config, city)
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
        near_BKK = closeness(self.coordinates_P2[windows.poi_BK], windows.seconds_BK, self.config)
        return average_past(states_BKD, near_BKK)


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
        user_ND = self.user_embedding(steps.user_B)
        slot_ND = F.embedding(slot_of_week(steps.now_local_seconds_B), self.slot_table())
        return self.output(torch.cat([state_ND, user_ND, slot_ND], dim=-1))


_FOCAL_ALPHA: Final = 0.25
_FOCAL_GAMMA: Final = 2
_REGION_DROPOUT: Final = 0.2


class Dprl(SequenceNetwork):
    """logits = W [average over places + over regions; E_user; the user's preference now; hour of the week] + b."""

    config: DprlConfig
    within_trajectory = True
    region_P: Tensor
    start_UD: Tensor

    def __init__(self, config: DprlConfig, city: City) -> None:
        super().__init__(config, city)
        dim, users, regions = config.dim, city.num_users, min(config.regions, city.num_pois)
        self.poi_embedding, self.region_embedding = nn.Embedding(city.num_pois, dim), nn.Embedding(regions, dim)
        self.slot_embedding = nn.Embedding(SLOTS_OF_WEEK, dim // 2)
        self.user_embedding = nn.Embedding(users, dim)
        self.likes_places, self.likes_regions = nn.Embedding(users, dim), nn.Embedding(users, dim)
        self.place_recurrent = nn.RNN(2 * dim, 2 * dim, batch_first=True)
        self.region_recurrent = nn.RNN(2 * dim, 2 * dim, batch_first=True)
        self.next_region = nn.Linear(4 * dim, dim)
        self.output = nn.Linear(4 * dim + dim // 2, city.num_pois)
        self.place_dropout, self.region_dropout = nn.Dropout(config.dropout), nn.Dropout(_REGION_DROPOUT)
        self.register_buffer("region_P", torch.zeros(city.num_pois, dtype=torch.int64))
        self.register_buffer("start_UD", torch.randn(users, 2 * dim) / dim)

    def prepare(self, city: City) -> None:
        self.region_P.copy_(regions_of(city, self.region_embedding.num_embeddings, self.config.seed))

    def states(self, windows: Windows) -> Tensor:
        """Both averages and both preferences after each check-in, (B, K, 6 D)."""
        return by_length(windows, self._states)

    def _states(self, windows: Windows) -> Tensor:
        places_BKD = self.poi_embedding(windows.poi_BK)
        regions_BKD = self.region_embedding(self.region_P[windows.poi_BK])
        slot_BKD = self.slot_embedding(slot_of_week(windows.local_seconds_BK))
        likes_place_BKD = self._turned(self.likes_places(windows.user_B), slot_BKD)
        likes_region_BKD = self._turned(self.likes_regions(windows.user_B), slot_BKD)
        start_1BD = self.start_UD[windows.user_B][None].contiguous()
        place_BKD, _ = self.place_recurrent(torch.cat([places_BKD, likes_place_BKD], dim=-1), start_1BD)
        region_BKD, _ = self.region_recurrent(torch.cat([regions_BKD, likes_region_BKD], dim=-1), start_1BD)
        near_BKK = closeness(self.coordinates_P2[windows.poi_BK], windows.seconds_BK, self.config)
        averages = [
            average_past(dropout(state_BKD), near_BKK * liking(wanted_BKD, had_BKD)[:, None, :])
            for dropout, state_BKD, wanted_BKD, had_BKD in (
                (self.place_dropout, place_BKD, likes_place_BKD, places_BKD),
                (self.region_dropout, region_BKD, likes_region_BKD, regions_BKD),
            )
        ]
        return torch.cat([*averages, likes_place_BKD, likes_region_BKD], dim=-1)

    def _turned(self, taste_BD: Tensor, slot_BKD: Tensor) -> Tensor:
        """A user's preference at each check-in's hour of the week, (B, K, D)."""
        return rotate(taste_BD[:, None].expand(-1, slot_BKD.shape[1], -1), slot_BKD, self.config.dim)

    def step_logits(self, state_ND: Tensor, steps: Histories) -> Tensor:
        dim = self.config.dim
        place_ND, region_ND, likes_place_ND, likes_region_ND = state_ND.split([2 * dim, 2 * dim, dim, dim], dim=-1)
        slot_N = slot_of_week(steps.now_local_seconds_B)
        user_ND, slot_ND = self.user_embedding(steps.user_B), self.slot_embedding(slot_N)
        whole_ND = torch.cat([place_ND + region_ND, user_ND, likes_place_ND + likes_region_ND, slot_ND], dim=-1)
        return self.output(F.dropout(whole_ND, _REGION_DROPOUT, self.training))

    def region_logits(self, state_ND: Tensor, user_N: Tensor) -> Tensor:
        """Scores of all regions, (N, R)."""
        dim = self.config.dim
        _, region_ND, _, likes_ND = state_ND.split([2 * dim, 2 * dim, dim, dim], dim=-1)
        mixed_ND = self.next_region(torch.cat([region_ND, self.user_embedding(user_N), likes_ND], dim=-1))
        return F.linear(mixed_ND, self.region_embedding.weight)

    def step_loss(self, state_ND: Tensor, steps: CaseBatch) -> Tensor:
        """Cross-entropy of the next place, and a focal loss of its region."""
        region_NR = self.region_logits(state_ND, steps.histories().user_B)
        region_loss = focal_loss(region_NR, self.region_P[steps.target_B])
        return super().step_loss(state_ND, steps) + self.config.region_weight * region_loss


def liking(wanted: Tensor, had: Tensor) -> Tensor:
    """exp(-|wanted - had|) over the last dimension."""
    return torch.exp(-torch.linalg.vector_norm(wanted - had, dim=-1))


def focal_loss(logits_NR: Tensor, target_N: Tensor) -> Tensor:
    """The mean of -1/4 (1 - p)^2 log p of the targets (Lin et al., 2017).

    >>> float(focal_loss(torch.zeros(1, 2), torch.tensor([0])))  # p = 1/2: log 2 / 16
    0.043321698904037476
    """
    log_N = -F.cross_entropy(logits_NR, target_N, reduction="none")
    return (-_FOCAL_ALPHA * (1 - log_N.exp()) ** _FOCAL_GAMMA * log_N).mean()


def regions_of(city: City, count: int, seed: int) -> Tensor:
    """The region of every POI, (P,): K-means on latitude and longitude; fewer regions if there are fewer positions."""
    degrees_P2 = city.coordinates_P2.double().numpy()
    spots_S2 = np.unique(degrees_P2, axis=0)
    start_R2 = np.random.default_rng(seed).permutation(spots_S2)[:count]
    centres_R2, _ = kmeans(degrees_P2, start_R2)
    return torch.from_numpy(vq(degrees_P2, centres_R2)[0].astype(np.int64))


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
