"""GETNext: a Transformer over a trajectory, with place embeddings and a transition map from a graph of all transitions.

Yang et al., GETNext: Trajectory Flow Map Enhanced Transformer for Next POI Recommendation, SIGIR 2022.

Departures: attention runs within a trajectory (the public code passes (batch, step) tensors as (step, batch), so
trajectories attend to each other). Features are scaled, unless ``raw_features``. The learning rate follows validation
MRR, not loss.

Shape suffixes: N check-ins or steps, P POIs, D features, L edges.
"""

from itertools import pairwise

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional as F

from recap.history import CaseBatch, Histories, local_hour_fraction
from recap.propagation import Propagation, row_normalised
from recap.published.city import City
from recap.published.configs import GetnextConfig
from recap.published.network import Time2Vec
from recap.published.packed import PackedNetwork, Packing, encode, encoder_of, sinusoids
from recap.ragged import expand_ranges
from recap.random_masks import WordDropout


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
        super().__init__(config, city, config.window)
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
        for name, array in flow_map(city).items():
            self.register_buffer(name, torch.from_numpy(array), persistent=False)
        self.register_buffer("features_PF", features_PF, persistent=False)

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
        position_ND = sinusoids(packing.runs[-1][1], token_ND)[packing.position_N]
        return encode(self.encoder, self.dropout(token_ND * token_ND.shape[-1] ** 0.5 + position_ND), packing)

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


def flow_map(city: City) -> dict[str, np.ndarray]:
    """(D + I)^-1 (A + I) by its edges: those of row s are ``start_P1[s]`` to ``start_P1[s + 1]``, excluded. Returns
    ``to_L`` and ``share_L``, A_sd / (D_s + 1); ``own_P``, 1 / (D_s + 1).
    """
    counts = city.graph.counts
    total_P = counts.sum(axis=1) + 1.0
    share_L = counts.data / np.repeat(total_P, np.diff(counts.indptr))
    return {
        "start_P1": counts.indptr.astype(np.int64),
        "to_L": counts.indices.astype(np.int64),
        "share_L": share_L.astype(np.float32),
        "own_P": (1 / total_P).astype(np.float32),
    }
