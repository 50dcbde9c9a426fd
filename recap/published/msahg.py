"""MSAHG: DCHL's views and one of half hours, with a hypergraph for each scenario of user, time and place.

Multifaceted Scenario-Aware Hypergraph Learning for Next POI Recommendation, AAAI 2026. Three splits make six scenarios:
locals and tourists, workdays and weekends, downtown and suburbs. Each split has its own hypergraph in one view.

Departures: those of DCHL. A case counts in its three scenarios, which have equal weight (the public code samples
equally from each); its score is the mean of three. Parameters stay shared (the public code copies those whose gradients
disagree at epoch 20). Scenarios are derived: a user is a local by ``local_days``, weekends are the source's, and
downtown is the half of places nearer to the middle of all training check-ins.

Shape suffixes: B cases, P POIs, U users, S half hours of workday and weekend, N training check-ins, D features.
"""

from typing import Final

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional as F

from recap.geodesy import unit_vectors
from recap.history import SECONDS_PER_DAY, CaseBatch, Histories, local_weekday
from recap.propagation import Propagation, row_normalised
from recap.published.city import City
from recap.published.configs import MsahgConfig
from recap.published.dchl import TwoSteps, comes_later, contrast_views, incidence, nearness, occurrences, pool_past
from recap.published.network import CaseExamples, Examples, PublishedNetwork, slot_of_day

POOLED: Final = ("collaborative", "geographic", "transitional")
VIEWS: Final = (*POOLED, "temporal")
CLOCK: Final = "users"
"""The temporal view of users, who have a separate table there."""
SPLITS: Final = {"user": ("collaborative",), "time": ("temporal", CLOCK), "place": ("geographic",)}
"""Split -> the hypergraphs that each of its two scenarios has to itself."""
SIDES: Final = (0, 1)
_SLOTS: Final = 48


class Msahg(PublishedNetwork):
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
        self.gates = nn.ModuleDict({view: nn.Linear(config.dim, config.dim) for view in (*VIEWS, CLOCK)})
        self.shares = nn.ModuleDict({view: nn.Linear(config.dim, 1) for view in VIEWS})
        self.register_buffer("is_local_U", locals_of(city, config.local_days), persistent=False)
        self.register_buffer("is_downtown_P", downtown(city), persistent=False)
        self.graphs = nn.ModuleDict(self._graphs(city))

    def _graphs(self, city: City) -> dict[str, nn.Module]:
        config = self.config
        visited_PU, later_PP = incidence(city), comes_later(city)
        near_PP = nearness(city, config.near_places, config.radius_km)
        slot_N = slot_of_day(city.local_seconds_N, _SLOTS).numpy()
        open_PS = occurrences(city.poi_N.numpy(), slot_N, (city.num_pois, 2 * _SLOTS))
        awake_US = occurrences(city.user_N.numpy(), slot_N, (city.num_users, 2 * _SLOTS))

        def hypergraph(member: sparse.csr_array, kept: np.ndarray | None = None) -> TwoSteps:
            member = member if kept is None else sparse.csr_array(member @ sparse.diags_array(kept.astype(float)))
            return TwoSteps(sparse.csr_array(member.T), member)

        graphs: dict[str, nn.Module] = {
            "collaborative": hypergraph(visited_PU),
            "geographic": Propagation(row_normalised(near_PP)),
            "transitional": TwoSteps(sparse.csr_array(later_PP.T), later_PP),
            "temporal": hypergraph(open_PS),
            CLOCK: hypergraph(awake_US),
        }
        for side in SIDES:
            inside_PP = sparse.diags_array((self.is_downtown_P.numpy() == side).astype(float))
            slots = np.arange(2 * _SLOTS) // _SLOTS == side
            graphs |= {
                f"collaborative-{side}": hypergraph(visited_PU, self.is_local_U.numpy() == side),
                f"geographic-{side}": Propagation(row_normalised(sparse.csr_array(inside_PP @ near_PP @ inside_PP))),
                f"temporal-{side}": hypergraph(open_PS, slots),
                f"{CLOCK}-{side}": hypergraph(awake_US, slots),
            }
        return graphs

    def tables(self) -> dict[str, Tensor]:
        """Every hypergraph's view of all POIs (P, D) or users (U, D), not yet normalised."""
        found = {}
        for name, graph in self.graphs.items():
            view = name.split("-")[0]
            table = (self.user_embedding if view == CLOCK else self.poi_embedding).weight
            x = table * torch.sigmoid(self.gates[view](table))
            levels = [x]
            for _ in range(self.config.layers):
                x = graph(x) + x
                x = x if view == "geographic" else F.dropout(x, self.config.dropout, self.training)
                levels.append(x)
            found[name] = torch.stack(levels).mean(0)
        return found

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
        own = {view: f"{view}-{side}" if view in SPLITS[split] else view for view in (*VIEWS, CLOCK)}
        pooled = pool_past(histories, [tables[own[view]] for view in POOLED])
        users = [*pooled, F.embedding(histories.user_B, tables[own[CLOCK]])]
        return [F.normalize(user_BD, dim=1) for user_BD in users], [
            F.normalize(tables[own[view]], dim=1) for view in VIEWS
        ]

    def match(self, users: list[Tensor], places: list[Tensor]) -> Tensor:
        """(sum_v g_v u_v) . (sum_v x_vd), (B, P)."""
        shares = [torch.sigmoid(self.shares[view](user)) for view, user in zip(VIEWS, users, strict=True)]
        whole_BD = torch.stack([share * user for share, user in zip(shares, users, strict=True)]).sum(0)
        return whole_BD @ torch.stack(places).sum(0).T

    def logits(self, histories: Histories) -> Tensor:
        tables, sides = self.tables(), self.scenarios(histories)
        total_BP = self.poi_embedding.weight.new_zeros(len(histories), self.poi_embedding.num_embeddings)
        for split in SPLITS:
            for side in SIDES:
                index_B = (sides[split] == side).nonzero()[:, 0]
                if len(index_B):
                    part = histories.select(index_B)
                    total_BP = total_BP.index_add(0, index_B, self.match(*self.matched(part, tables, split, side)))
        return total_BP / len(SPLITS)

    def loss(self, examples: Examples, index_B: Tensor) -> Tensor:
        """Sum over scenarios of the weighted cross-entropy and contrast between views."""
        assert isinstance(examples, CaseExamples)
        rows_B, tables = examples.row_N[index_B], self.tables()
        sides, losses = self.scenarios(Histories(examples.checkins, rows_B)), []
        weight = self.config.contrast_weight
        drawn = torch.randperm(self.poi_embedding.num_embeddings)[: self.config.contrast_places].to(index_B.device)
        for split in SPLITS:
            for side in SIDES:
                part = CaseBatch(examples.checkins, rows_B[sides[split] == side])
                if not len(part):
                    continue
                users, places = self.matched(part.histories(), tables, split, side)
                some = [place_PD[drawn] for place_PD in places]
                contrast = contrast_views(some, self.config.temperature)
                contrast = contrast + contrast_views(users, self.config.temperature)
                learned = F.cross_entropy(self.match(users, places), part.target_B)
                losses.append((1 - weight) * learned + weight * contrast)
        return torch.stack(losses).sum()


def locals_of(city: City, days: float) -> Tensor:
    """1 for users whose training check-ins span at least ``days``, else 0, (U,)."""
    first_U = torch.full((city.num_users,), torch.iinfo(torch.int64).max)
    last_U = torch.zeros(city.num_users, dtype=torch.int64)
    first_U.scatter_reduce_(0, city.user_N, city.seconds_N, "amin")
    last_U.scatter_reduce_(0, city.user_N, city.seconds_N, "amax", include_self=False)
    return ((last_U - first_U) >= days * SECONDS_PER_DAY).long()


def downtown(city: City) -> Tensor:
    """1 for the half of POIs nearer to the middle of the training check-ins, else 0, (P,)."""
    on_sphere_P3 = unit_vectors(*city.coordinates_P2.numpy().T)
    middle_3 = city.visits_P.double().numpy() @ on_sphere_P3 / max(1, int(city.visits_P.sum()))
    apart_P = np.linalg.norm(on_sphere_P3 - middle_3, axis=1)
    return torch.from_numpy((apart_P <= np.median(apart_P)).astype(np.int64))
