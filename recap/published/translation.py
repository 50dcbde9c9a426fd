"""A small TransE over the training split, the source of LoTNext's two graphs.

Bordes et al., Translating Embeddings for Modeling Multi-relational Data, NeurIPS 2013. Triples as in Graph-Flashback: a
user visits a place, a place comes after a place, a place is near a place.

Shape suffixes: U users, P POIs, E entities (users, then POIs), M triples, G neighbours, D features.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from scipy.spatial import cKDTree
from torch import Tensor
from torch.nn import functional as F

from recap.geodesy import EARTH_RADIUS_KM, unit_vectors
from recap.published.city import City

VISITS, NEXT, NEAR = 0, 1, 2
_DIM: Final = 64
_EPOCHS: Final = 15
_BATCH: Final = 4096
_RATE: Final = 0.01
_MARGIN: Final = 1.0
NEAREST: Final = 50
NEAR_KM: Final = 3.0
_CELLS_AT_ONCE: Final = 1 << 22


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The closest POIs of each row: ``poi_RG`` (int64) and ``weight_RG``, divided by the row's largest."""

    poi_RG: Tensor
    weight_RG: Tensor


def places_near(city: City, most: int = NEAREST, within_km: float = NEAR_KM) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a POI and another near it, at most ``most`` a POI, the nearest first."""
    on_sphere = unit_vectors(*city.coordinates_P2.numpy().T)
    chord = 2 * np.sin(within_km / EARTH_RADIUS_KM / 2)
    count = min(most + 1, city.num_pois)
    _, found = cKDTree(on_sphere).query(on_sphere, k=count, distance_upper_bound=chord)
    found = found.reshape(city.num_pois, count)
    source = np.repeat(np.arange(city.num_pois), count).reshape(found.shape)
    kept = (found < city.num_pois) & (found != source)
    kept &= np.cumsum(kept, axis=1) <= most
    return source[kept].astype(np.int64), found[kept].astype(np.int64)


def triples_of(city: City) -> Tensor:
    """Distinct (head, relation, tail) of the training split, (M, 3); POI p is entity U + p."""
    counts = city.graph.counts.tocoo()
    near_source, near_poi = places_near(city)
    users = city.num_users
    parts = [
        (city.user_N.numpy(), VISITS, users + city.poi_N.numpy()),
        (users + counts.coords[0], NEXT, users + counts.coords[1]),
        (users + near_source, NEAR, users + near_poi),
    ]
    stacked = [np.stack([head, np.full(len(head), relation), tail], axis=1) for head, relation, tail in parts]
    return torch.unique(torch.from_numpy(np.concatenate(stacked).astype(np.int64)), dim=0)


def fit_translations(city: City, seed: int) -> tuple[Tensor, Tensor]:
    """Entities (E, D) and relations (3, D), float32; reproducible on one machine."""
    generator = torch.Generator().manual_seed(seed)
    triples_M3 = triples_of(city)
    num_entities = city.num_users + city.num_pois
    entity_ED = (torch.rand(num_entities, _DIM, generator=generator) - 0.5) * (12 / _DIM**0.5)
    relation_3D = F.normalize((torch.rand(3, _DIM, generator=generator) - 0.5) * (12 / _DIM**0.5), dim=1)
    entity_ED, relation_3D = F.normalize(entity_ED, dim=1).requires_grad_(), relation_3D.requires_grad_()
    optimiser = torch.optim.Adagrad([entity_ED, relation_3D], lr=10 * _RATE)
    for _ in range(_EPOCHS):
        order_M = torch.randperm(len(triples_M3), generator=generator)
        for index_B in order_M.split(_BATCH):
            head_B, relation_B, tail_B = triples_M3[index_B].unbind(1)
            other_B = torch.randint(city.num_pois, tail_B.shape, generator=generator) + city.num_users
            moved_BD = entity_ED[head_B] + relation_3D[relation_B]
            right_B = (moved_BD - entity_ED[tail_B]).abs().sum(1)
            wrong_B = (moved_BD - entity_ED[other_B]).abs().sum(1)
            loss = F.relu(_MARGIN + right_B - wrong_B).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        with torch.no_grad():
            entity_ED.copy_(F.normalize(entity_ED, dim=1))
    return entity_ED.detach(), relation_3D.detach()


def closest_pois(head_RD: Tensor, relation_D: Tensor, poi_PD: Tensor, count: int) -> Neighbours:
    """The POIs d with the largest weight exp(-|head + relation - d|_1)."""
    block = max(1, _CELLS_AT_ONCE // len(poi_PD))
    pois, distances = [], []
    for piece_RD in (head_RD + relation_D).split(block):
        near = torch.cdist(piece_RD, poi_PD, p=1).topk(min(count, len(poi_PD)), dim=1, largest=False)
        pois.append(near.indices)
        distances.append(near.values)
    distance_RG = torch.cat(distances)
    return Neighbours(torch.cat(pois), torch.exp(distance_RG[:, :1] - distance_RG))
