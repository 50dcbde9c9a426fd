"""SASRec: self-attention over a user's last check-ins, scored against the places' own embeddings; MELT on it: frequent
users and places teach rare ones.

Shape suffixes: B windows, K positions, N learned steps, P POIs, U users, H head places or windows, D features.
"""

import math
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.arithmetic.ragged import found_in
from recap.data.dataset import Dataset
from recap.history.tensors import CaseBatch, CheckinTensors, Histories
from recap.published.configs import MeltConfig, SelfAttentionConfig
from recap.published.network import City, SequenceNetwork, mean_within
from recap.published.windows import TrainingWindows, Windows, causal_mask

_TRIES: Final = 20
"""A user who has been to nearly every place keeps a visited one after so many draws."""


class Block(nn.Module):
    """Attention with a normalised query, then two 1 x 1 convolutions, each with a residual."""

    def __init__(self, dim: int, dropout: float) -> None:
        super().__init__()
        self.query_norm, self.norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = nn.MultiheadAttention(dim, 1, dropout, batch_first=True)
        self.inner, self.outer = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x_BKD: Tensor, hidden_KK: Tensor) -> Tensor:
        """``hidden_KK`` is True where a position must not be attended to."""
        query_BKD = self.query_norm(x_BKD)
        attended_BKD, _ = self.attention(query_BKD, x_BKD, x_BKD, attn_mask=hidden_KK, need_weights=False)
        x_BKD = self.norm(query_BKD + attended_BKD)
        return x_BKD + self.dropout(self.outer(torch.relu(self.dropout(self.inner(x_BKD)))))


class Sasrec(SequenceNetwork):
    """f = LN(blocks(E[p] sqrt(d) + position)); the score of d is <f, E[d]>."""

    learns_users = False
    config: SelfAttentionConfig
    visited_V: Tensor

    def __init__(self, config: SelfAttentionConfig, city: City) -> None:
        super().__init__(config, city)
        self.poi_embedding = nn.Embedding(city.num_pois, config.dim)
        self.position_embedding = nn.Embedding(config.window, config.dim)
        for table in (self.poi_embedding, self.position_embedding):
            nn.init.xavier_normal_(table.weight)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config.dim, config.dropout) for _ in range(config.blocks))
        self.norm = nn.LayerNorm(config.dim)
        visited_V = torch.unique(city.train.user_T * city.num_pois + city.train.poi_T)
        self.hold(visited_V=visited_V)

    def states(self, windows: Windows) -> Tensor:
        poi_BK = windows.poi_BK
        position_K = torch.arange(poi_BK.shape[1], device=poi_BK.device)
        x_BKD = self.poi_embedding(poi_BK) * self.config.dim**0.5 + self.position_embedding(position_K)
        x_BKD, hidden_KK = self.dropout(x_BKD), ~causal_mask(poi_BK.shape[1], poi_BK.device)
        for block in self.blocks:
            x_BKD = block(x_BKD, hidden_KK)
        return self.norm(x_BKD)

    def step_logits(self, state_ND: Tensor, steps: Histories) -> Tensor:
        return state_ND @ self.poi_embedding.weight.T

    def step_loss(self, state_ND: Tensor, steps: CaseBatch) -> Tensor:
        if self.config.objective == "softmax":  # without MELT's branches
            return F.cross_entropy(state_ND @ self.poi_embedding.weight.T, steps.target_B)
        target_ND = self.poi_embedding(steps.target_B)
        other_ND = self.poi_embedding(self.draw_unvisited(steps.histories().user_B))
        return -(F.logsigmoid((state_ND * target_ND).sum(-1)) + F.logsigmoid(-(state_ND * other_ND).sum(-1))).mean()

    def draw_unvisited(self, user_N: Tensor) -> Tensor:
        """A place for each user, uniform over those not visited in training, from torch's CPU generator."""
        pois = self.poi_embedding.num_embeddings
        poi_N = torch.randint(pois, user_N.shape).to(user_N.device)
        for _ in range(_TRIES):
            again_N, _ = found_in(self.visited_V, user_N * pois + poi_N)
            if not again_N.any():
                break
            poi_N[again_N] = torch.randint(pois, (int(again_N.sum()),)).to(user_N.device)
        return poi_N


_MORE_VISITS: Final = 50
_WINDOWS_AT_ONCE: Final = 256


class Melt(Sasrec):
    """SASRec with states f + W_U f of tail users and embeddings W_I (contexts) of tail places."""

    learns_users = True
    config: MeltConfig
    acting: Tensor
    is_head_U: Tensor
    is_head_P: Tensor
    visits_P: Tensor
    length_U: Tensor

    def __init__(self, config: MeltConfig, city: City) -> None:
        super().__init__(config, city)
        self.user_branch, self.place_branch = nn.Linear(config.dim, config.dim), nn.Linear(config.dim, config.dim)
        length_U = torch.bincount(city.train.user_T, minlength=city.num_users)
        self.least_length = float(torch.quantile(length_U.double(), config.head_users))
        self.least_visits = float(torch.quantile(city.visits_P.double(), config.head_places))
        self.hold(length_U=length_U, visits_P=city.visits_P)
        self.hold(is_head_U=length_U > self.least_length, is_head_P=city.visits_P > self.least_visits)
        # Saved with the weights: during the backbone's epochs the branches do not act.
        self.register_buffer("acting", torch.zeros(()))
        self.progress = 0.0
        self._windows: TrainingWindows | None = None

    @property
    def branches_act(self) -> bool:
        """Whether the backbone's own epochs are over."""
        return self.progress > self.config.backbone_share

    @property
    def curriculum(self) -> float:
        """e / e_max of the branches' epochs."""
        alone = self.config.backbone_share
        return (self.progress - alone) / (1 - alone)

    def examples(self, dataset: Dataset, checkins: CheckinTensors) -> TrainingWindows:
        self._windows = super().examples(dataset, checkins)
        return self._windows

    def begin_epoch(self, epoch: int, *, fresh: bool) -> None:
        self.progress = epoch / self.config.epochs
        self.acting.fill_(float(self.branches_act))
        if self.branches_act and fresh and self._windows is not None:
            self._rewrite_tail_places(self._windows)

    def step_logits(self, state_ND: Tensor, steps: Histories) -> Tensor:
        tail_N1 = self.acting * ~self.is_head_U[steps.user_B][:, None]
        return super().step_logits(state_ND + tail_N1 * self.user_branch(state_ND), steps)

    def loss(self, batch: tuple[Windows, Tensor]) -> Tensor:
        windows, learned_BK = batch
        states_BKD = self.states(windows)
        loss = self.step_loss(states_BKD[learned_BK], CaseBatch(windows.checkins, windows.row_BK[learned_BK]))
        if not self.branches_act:
            # Weight 0 keeps both branches in the graph for the optimiser.
            return loss + 0.0 * (self.user_branch.weight.sum() + self.place_branch.weight.sum())
        users, places = self.user_loss(windows, states_BKD), self.place_loss(windows, states_BKD)
        return loss + self.config.user_weight * users + self.config.place_weight * places

    def user_loss(self, windows: Windows, states_BKD: Tensor) -> Tensor:
        """w_u |W_U f(last R) - f|^2 / D over the batch's head users, R drawn from 1 to K_u - 1."""
        head_B = self.is_head_U[windows.user_B] & (windows.length_B > 1)
        if not head_B.any():
            return states_BKD.new_zeros(())
        end_H = windows.length_B[head_B] - 1
        first_H = windows.row_BK[head_B, 0]
        longest_H = torch.minimum(end_H, end_H.new_tensor(max(1, math.ceil(self.least_length) - 1)))
        kept_H = 1 + (torch.rand(len(end_H)).to(end_H.device) * longest_H).long().clamp_max(longest_H - 1)
        short = Windows.of(windows.checkins, first_H + end_H + 1 - kept_H, kept_H)
        own = torch.arange(len(end_H), device=end_H.device)
        short_HD = self.states(short)[own, kept_H - 1]
        whole_HD = states_BKD[head_B][own, end_H]
        length_H = self.length_U[windows.user_B[head_B]].to(states_BKD.dtype)
        spread = max(1.0, float(self.length_U.max()) - self.least_length - 1)
        weight_H = branch_weight(self.curriculum, (length_H - self.least_length - 1) * math.pi / (2 * spread))
        return (weight_H * (self.user_branch(short_HD) - whole_HD).square().mean(-1)).mean()

    def place_loss(self, windows: Windows, states_BKD: Tensor) -> Tensor:
        """w_i^2 |W_I mean(f + W_U f) - e_i|^2 / D over the batch's head places and contexts; w_i is squared as in the
        public code.
        """
        state_ND, poi_N = states_BKD[windows.present_BK], windows.poi_BK[windows.present_BK]
        poi_H, which_N = torch.unique(poi_N, return_inverse=True)
        mean_HD = mean_within(state_ND + self.user_branch(state_ND), which_N, len(poi_H))
        head_H = self.is_head_P[poi_H]
        if not head_H.any():
            return states_BKD.new_zeros(())
        visits_H = self.visits_P[poi_H[head_H]].to(states_BKD.dtype).clamp_max(self.least_visits + _MORE_VISITS)
        weight_H = branch_weight(self.curriculum, (visits_H - self.least_visits - 1) * math.pi / 100)
        apart_HD = self.place_branch(mean_HD[head_H]) - self.poi_embedding(poi_H[head_H])
        return (weight_H[:, None] * apart_HD).square().mean()

    @torch.no_grad()
    def _rewrite_tail_places(self, examples: TrainingWindows) -> None:
        """E of a tail place becomes W_I of the mean state over its training contexts."""
        was_training = self.training
        self.eval()
        states, pois = [], []
        for index_B in torch.arange(len(examples), device=self.length_U.device).split(_WINDOWS_AT_ONCE):
            windows, _ = examples.batch(index_B)
            states.append(self.states(windows)[windows.present_BK])
            pois.append(windows.poi_BK[windows.present_BK])
        poi_N = torch.cat(pois)
        rewritten_P = ~self.is_head_P & (torch.bincount(poi_N, minlength=len(self.is_head_P)) > 0)
        mean_PD = mean_within(torch.cat(states), poi_N, len(self.is_head_P))
        self.poi_embedding.weight[rewritten_P] = self.place_branch(mean_PD[rewritten_P])
        self.train(was_training)


def branch_weight(curriculum: float, phase_H: Tensor) -> Tensor:
    """|sin(pi / 2 e / e_max + phase)|."""
    return torch.sin(math.pi / 2 * curriculum + phase_H).abs()
