"""DCHL and MSAHG: views of every place (visitors, near places, later places, half hours), pooled over a user's past.

Shape suffixes: B cases, P POIs, U users, S half hours of workday and weekend, N training check-ins, H visits, D
features.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise
from typing import Final

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional as F

from recap.arithmetic.geodesy import unit_vectors
from recap.arithmetic.propagation import Propagation
from recap.features.similar_users import occurrences
from recap.history.graph import row_normalised
from recap.history.tensors import SECONDS_PER_DAY, CaseBatch, Histories, local_weekday
from recap.published.configs import DchlConfig, HypergraphConfig, MsahgConfig
from recap.published.network import City, PublishedNetwork, places_near, slot_of_day

POOLED: Final = ("collaborative", "geographic", "transitional")


class TwoSteps(nn.Module):
    """Nodes to hyperedges to nodes, a mean each time; ``member``: 1 where a node (row) is in a hyperedge."""

    def __init__(self, member: sparse.csr_array) -> None:
        super().__init__()
        self.to_edges, self.to_nodes = Propagation(row_normalised(member.T)), Propagation(row_normalised(member))

    def forward(self, x: Tensor) -> Tensor:
        return self.to_nodes(self.to_edges(x))


class HypergraphNetwork(PublishedNetwork):
    """Gated tables, propagated over graphs with a residual; levels are averaged."""

    config: HypergraphConfig
    poi_embedding: nn.Embedding

    def propagated(
        self, table: Tensor, gate: nn.Module, graph: nn.Module, *, of_heard: float = 0.0, of_level: float = 0.0
    ) -> Tensor:
        """The mean of the gated table and of what ``layers`` propagations make of it, not yet normalised. ``of_heard``
        and ``of_level``: dropout before and after the residual.
        """
        levels = [table * torch.sigmoid(gate(table))]
        for _ in range(self.config.layers):
            heard = F.dropout(graph(levels[-1]), of_heard, self.training)
            levels.append(F.dropout(heard + levels[-1], of_level, self.training))
        return torch.stack(levels).mean(0)

    def drawn(self) -> Tensor:
        """The places of a step's contrast."""
        return torch.randperm(self.poi_embedding.num_embeddings)[: self.config.contrast_places]

    def contrast(self, users: list[Tensor], places: list[Tensor], drawn: Tensor) -> Tensor:
        temperature = self.config.temperature
        some = [place_PD[drawn] for place_PD in places]
        return contrast_views(some, temperature) + contrast_views(users, temperature)


class Dchl(HypergraphNetwork):
    """The score of d is (sum_v g_v u_v) . (sum_v x_vd), every u_v and x_vd of length 1."""

    learns_users = False
    config: DchlConfig

    def __init__(self, config: DchlConfig, city: City) -> None:
        super().__init__(config, city)
        self.poi_embedding = nn.Embedding(city.num_pois, config.dim)
        nn.init.xavier_uniform_(self.poi_embedding.weight)
        self.gates = nn.ModuleList(nn.Linear(config.dim, config.dim) for _ in POOLED)
        self.shares = nn.ModuleList(nn.Linear(config.dim, 1) for _ in POOLED)
        self.visitors, self.later = TwoSteps(visitors(city)), TwoSteps(comes_later(city))
        self.near = Propagation(row_normalised(nearness(city, config)))

    def places(self) -> list[Tensor]:
        """Every POI in each of the `POOLED` views, (P, D) each, not yet normalised."""
        table_PD, dropped = self.poi_embedding.weight, self.config.dropout
        views = zip(self.gates, (self.visitors, self.near, self.later), (0.0, 0.0, dropped), strict=True)
        return [self.propagated(table_PD, gate, graph, of_heard=share) for gate, graph, share in views]

    def views(self, histories: Histories) -> tuple[list[Tensor], list[Tensor]]:
        """Users (B, D) and POIs (P, D) in each view, of length 1."""
        places = self.places()
        return normalised(pool_past(histories, places)), normalised(places)

    def logits(self, histories: Histories) -> Tensor:
        return match(self.shares, *self.views(histories))

    def loss(self, batch: CaseBatch) -> Tensor:
        users, places = self.views(batch.histories())
        loss = F.cross_entropy(match(self.shares, users, places), batch.target_B)
        if not self.config.contrast_weight:
            return loss
        return loss + self.config.contrast_weight * self.contrast(users, places, self.drawn().to(batch.row_B.device))


_VIEWS: Final = (*POOLED, "temporal")
CLOCK: Final = "users"
"""The temporal view of users, who have a separate table there."""
SPLITS: Final = {"user": ("collaborative",), "time": ("temporal", CLOCK), "place": ("geographic",)}
"""Split -> the hypergraphs that each of its two scenarios (locals and tourists, workdays and weekends, downtown and
suburbs) has to itself."""
SIDES: Final = (0, 1)
_SLOTS: Final = 48


class Msahg(HypergraphNetwork):
    """The score of d is the mean over a case's three scenarios of (sum_v g_v u_v) . (sum_v x_vd)."""

    config: MsahgConfig
    is_local_U: Tensor
    is_downtown_P: Tensor

    def __init__(self, config: MsahgConfig, city: City) -> None:
        super().__init__(config, city)
        self.poi_embedding = nn.Embedding(city.num_pois, config.dim)
        self.user_embedding = nn.Embedding(city.num_users, config.dim)
        for table in (self.poi_embedding, self.user_embedding):
            nn.init.xavier_uniform_(table.weight)
        self.gates = nn.ModuleDict({view: nn.Linear(config.dim, config.dim) for view in (*_VIEWS, CLOCK)})
        self.shares = nn.ModuleDict({view: nn.Linear(config.dim, 1) for view in _VIEWS})
        self.hold(is_local_U=locals_of(city, config.local_days), is_downtown_P=downtown(city))
        self.graphs = nn.ModuleDict(self._graphs(city))

    def _graphs(self, city: City) -> dict[str, nn.Module]:
        near_PP, visited_PU = nearness(city, self.config), visitors(city)
        slot_N = slot_of_day(city.train.local_seconds_T, _SLOTS).numpy()
        open_PS = occurrences(city.train.poi_T.numpy(), slot_N, (city.num_pois, 2 * _SLOTS))
        awake_US = occurrences(city.train.user_T.numpy(), slot_N, (city.num_users, 2 * _SLOTS))
        graphs: dict[str, nn.Module] = {
            "collaborative": TwoSteps(visited_PU),
            "geographic": Propagation(row_normalised(near_PP)),
            "transitional": TwoSteps(comes_later(city)),
            "temporal": TwoSteps(open_PS),
            CLOCK: TwoSteps(awake_US),
        }
        for side in SIDES:
            locals_UU, inside_PP = _only(self.is_local_U.numpy() == side), _only(self.is_downtown_P.numpy() == side)
            slots_SS = _only(np.arange(2 * _SLOTS) // _SLOTS == side)
            graphs |= {
                f"collaborative-{side}": TwoSteps(visited_PU @ locals_UU),
                f"geographic-{side}": Propagation(row_normalised(inside_PP @ near_PP @ inside_PP)),
                f"temporal-{side}": TwoSteps(open_PS @ slots_SS),
                f"{CLOCK}-{side}": TwoSteps(awake_US @ slots_SS),
            }
        return graphs

    def tables(self) -> dict[str, Tensor]:
        """Every hypergraph's view of all POIs (P, D) or users (U, D), not yet normalised."""
        tables = {}
        for name, graph in self.graphs.items():
            view = name.split("-")[0]
            table = (self.user_embedding if view == CLOCK else self.poi_embedding).weight
            dropped = 0.0 if view == "geographic" else self.config.dropout
            tables[name] = self.propagated(table, self.gates[view], graph, of_level=dropped)
        return tables

    def scenarios(self, histories: Histories) -> dict[str, Tensor]:
        """Each case's side, 0 or 1, in the splits by user, time and place of the source, (B,)."""
        weekday_B = local_weekday(histories.local_seconds_B)
        return {
            "user": self.is_local_U[histories.user_B],
            "time": (weekday_B >= 5).long(),
            "place": self.is_downtown_P[histories.source_B],
        }

    def matched(
        self, histories: Histories, tables: dict[str, Tensor], split: str, side: int
    ) -> tuple[list[Tensor], list[Tensor]]:
        """A scenario's cases (B, D) and POIs (P, D) in each view, normalised."""
        own = {view: tables[f"{view}-{side}" if view in SPLITS[split] else view] for view in (*_VIEWS, CLOCK)}
        users = [*pool_past(histories, [own[view] for view in POOLED]), F.embedding(histories.user_B, own[CLOCK])]
        return normalised(users), normalised(own[view] for view in _VIEWS)

    def parts(self, histories: Histories) -> Iterator[tuple[str, int, Tensor]]:
        """Split, side and cases of each scenario that has any."""
        for split, side_B in self.scenarios(histories).items():
            for side in SIDES:
                index_B = (side_B == side).nonzero()[:, 0]
                if len(index_B):
                    yield split, side, index_B

    def logits(self, histories: Histories) -> Tensor:
        tables = self.tables()
        total_BP = self.poi_embedding.weight.new_zeros(len(histories), self.poi_embedding.num_embeddings)
        for split, side, index_B in self.parts(histories):
            views = self.matched(histories.select(index_B), tables, split, side)
            total_BP = total_BP.index_add(0, index_B, match(self.shares.values(), *views))
        return total_BP / len(SPLITS)

    def loss(self, batch: CaseBatch) -> Tensor:
        """Sum over scenarios of the weighted cross-entropy and contrast between views."""
        tables, losses = self.tables(), []
        weight, drawn = self.config.contrast_weight, self.drawn().to(batch.row_B.device)
        for split, side, part_B in self.parts(batch.histories()):
            users, places = self.matched(batch.histories().select(part_B), tables, split, side)
            contrast = self.contrast(users, places, drawn)
            learned = F.cross_entropy(match(self.shares.values(), users, places), batch.target_B[part_B])
            losses.append((1 - weight) * learned + weight * contrast)
        return torch.stack(losses).sum()


def normalised(tables: Iterable[Tensor]) -> list[Tensor]:
    """Every row divided by its length."""
    return [F.normalize(x, dim=1) for x in tables]


def match(shares: Iterable[nn.Module], users: list[Tensor], places: list[Tensor]) -> Tensor:
    """(sum_v g_v u_v) . (sum_v x_vd), (B, P)."""
    shared = [torch.sigmoid(share(user_BD)) * user_BD for share, user_BD in zip(shares, users, strict=True)]
    return torch.stack(shared).sum(0) @ torch.stack(places).sum(0).T


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


def visitors(city: City) -> sparse.csr_array:
    """1 where a user visited a POI in training, (P, U)."""
    return occurrences(city.train.poi_T.numpy(), city.train.user_T.numpy(), (city.num_pois, city.num_users))


def nearness(city: City, config: HypergraphConfig) -> sparse.csr_array:
    """1 where POIs are near each other, and on the diagonal, (P, P)."""
    pairs = places_near(city, config.near_places, config.radius_km)
    near_PP = occurrences(*pairs, (city.num_pois, city.num_pois))
    return sparse.csr_array(near_PP + sparse.eye_array(city.num_pois))


def comes_later(city: City) -> sparse.csr_array:
    """1 where d comes anywhere after s in one user's training check-ins, (P, P)."""
    pois = city.num_pois
    visit = city.train.user_T.numpy() * pois + city.train.poi_T.numpy()
    pair, first = np.unique(visit, return_index=True)
    last = len(visit) - 1 - np.unique(visit[::-1], return_index=True)[1]
    sources, destinations = [], []
    for begin, end in pairwise(np.searchsorted(pair, np.arange(city.num_users + 1) * pois)):
        earlier, to = np.nonzero(first[begin:end, None] < last[None, begin:end])
        sources.append(pair[begin:end][earlier] % pois)
        destinations.append(pair[begin:end][to] % pois)
    return occurrences(np.concatenate(sources), np.concatenate(destinations), (pois, pois))


def _only(kept: np.ndarray) -> sparse.dia_array:
    return sparse.diags_array(kept.astype(float))


def locals_of(city: City, days: float) -> Tensor:
    """1 for users whose training check-ins span at least ``days``, else 0, (U,)."""
    train = city.train
    span_T = train.seconds_T - train.seconds_T[train.first_T]
    span_U = torch.full((city.num_users,), -1).scatter_reduce(0, train.user_T, span_T, "amax")
    return (span_U >= days * SECONDS_PER_DAY).long()


def downtown(city: City) -> Tensor:
    """1 for the half of POIs nearer to the middle of the training check-ins, else 0, (P,)."""
    on_sphere_P3 = unit_vectors(*city.coordinates_P2.numpy().T)
    middle_3 = city.visits_P.double().numpy() @ on_sphere_P3 / max(1, int(city.visits_P.sum()))
    apart_P = np.linalg.norm(on_sphere_P3 - middle_3, axis=1)
    return torch.from_numpy((apart_P <= np.median(apart_P)).astype(np.int64))
