"""DCHL: three views of every place (visitors, near places, later places), pooled over a user's past.

Lai et al., Disentangled Contrastive Hypergraph Learning for Next POI Recommendation, SIGIR 2024.

Departures: a case's user is the mean over the distinct places visited up to its source, not over a whole sequence;
dropout is off at test (the public code leaves it on); the graphs use the training split only; at most ``near_places``
neighbours within the radius; each step contrasts ``contrast_places`` random places.

Shape suffixes: B cases, P POIs, U users, V views, L edges, H visits, D features.
"""

from itertools import combinations, pairwise
from typing import Final

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional as F

from recap.history import Histories
from recap.propagation import Propagation, row_normalised
from recap.published.city import City
from recap.published.configs import DchlConfig
from recap.published.network import CaseExamples, Examples, PublishedNetwork
from recap.published.translation import places_near

VIEWS: Final = ("collaborative", "geographic", "transitional")


class TwoSteps(nn.Module):
    """Nodes to hyperedges to nodes, a mean each time."""

    def __init__(self, to_edges: sparse.csr_array, to_nodes: sparse.csr_array) -> None:
        super().__init__()
        self.to_edges, self.to_nodes = Propagation(row_normalised(to_edges)), Propagation(row_normalised(to_nodes))

    def forward(self, x: Tensor) -> Tensor:
        return self.to_nodes(self.to_edges(x))


class Dchl(PublishedNetwork):
    """The score of d is (sum_v g_v u_v) . (sum_v x_vd), every u_v and x_vd of length 1."""

    config: DchlConfig

    def __init__(self, config: DchlConfig, city: City) -> None:
        super().__init__(config, city)
        self.poi_embedding = nn.Embedding(city.num_pois, config.dim)
        nn.init.xavier_uniform_(self.poi_embedding.weight)
        self.gates = nn.ModuleList(nn.Linear(config.dim, config.dim) for _ in VIEWS)
        self.shares = nn.ModuleList(nn.Linear(config.dim, 1) for _ in VIEWS)
        visited_PU, later_PP = incidence(city), comes_later(city)
        near_PP = nearness(city, config.near_places, config.radius_km)
        self.visitors, self.near = TwoSteps(visited_PU.T, visited_PU), Propagation(row_normalised(near_PP))
        self.later = TwoSteps(later_PP.T, later_PP)

    def places(self) -> list[Tensor]:
        """Every POI in each view, (P, D) each, not yet normalised."""
        table_PD = self.poi_embedding.weight
        views = []
        for view, gate in zip(VIEWS, self.gates, strict=True):
            x_PD = table_PD * torch.sigmoid(gate(table_PD))
            levels = [x_PD]
            for _ in range(self.config.layers):
                x_PD = self._propagate(view, x_PD) + x_PD
                levels.append(x_PD)
            views.append(torch.stack(levels).mean(0))
        return views

    def _propagate(self, view: str, x_PD: Tensor) -> Tensor:
        if view == "transitional":
            return F.dropout(self.later(x_PD), self.config.dropout, self.training)
        return self.visitors(x_PD) if view == "collaborative" else self.near(x_PD)

    def users(self, histories: Histories, places: list[Tensor]) -> list[Tensor]:
        """The normalised `pool_past` in each view, (B, D) each."""
        return [F.normalize(mean_BD, dim=1) for mean_BD in pool_past(histories, places)]

    def logits(self, histories: Histories) -> Tensor:
        places = self.places()
        return self._match(self.users(histories, places), [F.normalize(x_PD, dim=1) for x_PD in places])

    def _match(self, users: list[Tensor], places: list[Tensor]) -> Tensor:
        shares = [torch.sigmoid(share(user_BD)) for share, user_BD in zip(self.shares, users, strict=True)]
        whole_BD = sum(share_B1 * user_BD for share_B1, user_BD in zip(shares, users, strict=True))
        assert isinstance(whole_BD, Tensor)
        return whole_BD @ torch.stack(places).sum(0).T

    def loss(self, examples: Examples, index_B: Tensor) -> Tensor:
        assert isinstance(examples, CaseExamples)
        batch, views = examples.take(index_B), self.places()
        users, places = self.users(batch.histories(), views), [F.normalize(x_PD, dim=1) for x_PD in views]
        loss = F.cross_entropy(self._match(users, places), batch.target_B)
        if not self.config.contrast_weight:
            return loss
        drawn = torch.randperm(len(places[0]))[: self.config.contrast_places].to(index_B.device)
        some = [place_PD[drawn] for place_PD in places]
        contrast = contrast_views(some, self.config.temperature) + contrast_views(users, self.config.temperature)
        return loss + self.config.contrast_weight * contrast


def pool_past(histories: Histories, tables: list[Tensor]) -> list[Tensor]:
    """The mean of each table's rows (P, D) over the distinct POIs of each history, (B, D) each."""
    case_H, row_H = histories.latest_visits()
    poi_H = histories.checkins.poi_T[row_H]
    size_B = torch.bincount(case_H, minlength=len(histories))
    offset_B = torch.cumsum(size_B, 0) - size_B
    return [F.embedding_bag(poi_H, table_PD, offset_B, mode="mean") for table_PD in tables]


def contrast_views(views: list[Tensor], temperature: float) -> Tensor:
    """InfoNCE of all pairs of views: a row's other view against all rows of that view. Rows have length 1.

    >>> same = torch.eye(2, dtype=torch.float64)
    >>> float(contrast_views([same, same], 1.0).round(decimals=4))  # log(1 + 1 / e)
    0.3133
    """
    row_R = torch.arange(len(views[0]), device=views[0].device)
    losses = [F.cross_entropy(one @ other.T / temperature, row_R) for one, other in combinations(views, 2)]
    return torch.stack(losses).sum()


def incidence(city: City) -> sparse.csr_array:
    """1 where a user visited a POI in training, (P, U)."""
    return occurrences(city.poi_N.numpy(), city.user_N.numpy(), (city.num_pois, city.num_users))


def occurrences(row: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """1 where a pair of row and column occurs."""
    matrix = sparse.coo_array((np.ones(len(row)), (row, column)), shape=shape).tocsr()
    matrix.data[:] = 1.0
    return matrix


def nearness(city: City, most: int, radius_km: float) -> sparse.csr_array:
    """1 where POIs are near each other, and on the diagonal, (P, P)."""
    source, other = places_near(city, most, radius_km)
    shape = (city.num_pois, city.num_pois)
    matrix = sparse.coo_array((np.ones(len(source)), (source, other)), shape=shape)
    return sparse.csr_array(matrix + sparse.eye_array(city.num_pois))


def comes_later(city: City) -> sparse.csr_array:
    """1 where d comes anywhere after s in one user's training check-ins, (P, P)."""
    shape, pois = (city.num_pois, city.num_pois), city.num_pois
    user, poi = city.user_N.numpy(), city.poi_N.numpy()
    rows = np.arange(len(user))
    pair, inverse = np.unique(user * pois + poi, return_inverse=True)
    first, last = np.full(len(pair), len(user)), np.full(len(pair), -1)
    np.minimum.at(first, inverse, rows)
    np.maximum.at(last, inverse, rows)
    found = []
    begins = np.searchsorted(pair, np.arange(city.num_users + 1) * pois)
    for begin, end in pairwise(begins):
        at, to = np.nonzero(first[begin:end, None] < last[None, begin:end])
        found.append((pair[begin:end][at] % pois) * pois + pair[begin:end][to] % pois)
    key = np.unique(np.concatenate(found))
    return sparse.coo_array((np.ones(len(key)), (key // pois, key % pois)), shape=shape).tocsr()
