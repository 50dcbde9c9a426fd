"""Training transitions of all users but one, and two-hop paths over them.

In training, m_sd holds a case's own transition and the user's later repeats of it. A model fitted on such counts trusts
transitions too much. Here a user is never part of the counts that describe others.

Shape suffixes: B cases, P POIs, E distinct training transitions, K distinct (user, source, destination) triples, edited
edges or categories, N (case, POI) pairs, C packed pairs, W paths of all cases.
"""

from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from recap import columns as c
from recap.arithmetic.ragged import expand_ranges, found_in, sum_within
from recap.data.dataset import Dataset
from recap.history.graph import TransitionGraph

_HOURS: Final = 24
_USUAL: Final = 20.0
"""Transitions of the usual kind added to each share, so that a few transitions say little."""


@dataclass(frozen=True, eq=False)
class OtherUsers:
    """Training transitions of everyone, and each user's own to subtract.

    Attributes:
        start_P1: int64 (P + 1,), where each source's transitions begin among E.
        destination_E: int64, sorted within a source.
        count_E: int64, m_sd of everyone.
        own_key_K: sorted int64 keys (user * P + source) * P + destination.
        own_count_K: int64, the user's own training transitions.
        own_source_K: sorted int64 keys user * P + source that occur.
    """

    start_P1: Tensor
    destination_E: Tensor
    count_E: Tensor
    own_key_K: Tensor
    own_count_K: Tensor
    own_source_K: Tensor

    @classmethod
    def from_dataset(cls, dataset: Dataset, graph: TransitionGraph) -> "OtherUsers":
        rows = dataset.cases(c.TRAIN)
        user, poi = (dataset.checkins[name].to_numpy(np.int64) for name in (c.USER, c.POI))
        return cls.of(user[rows], poi[rows], poi[rows + 1], graph.counts)

    @classmethod
    def of(
        cls, user_N: np.ndarray, source_N: np.ndarray, destination_N: np.ndarray, counts: sparse.csr_array
    ) -> "OtherUsers":
        """From transitions of users, and ``counts``, their sum over all users."""
        size = counts.shape[0]
        own_key, own_count = np.unique((user_N * size + source_N) * size + destination_N, return_counts=True)
        own = (own_key, own_count, np.unique(own_key // size))
        return cls(*map(_int64, (counts.indptr, counts.indices, counts.data, *own)))

    def over(self, graph: TransitionGraph) -> "OtherUsers":
        """With everyone's transitions as changed; the user's own are still subtracted."""
        arrays = (graph.counts.indptr, graph.counts.indices, graph.counts.data)
        start_P1, destination_E, count_E = (_int64(array).to(self.count_E.device) for array in arrays)
        return replace(self, start_P1=start_P1, destination_E=destination_E, count_E=count_E)

    def to(self, device: torch.device | str) -> "OtherUsers":
        return OtherUsers(*(getattr(self, field.name).to(device) for field in fields(self)))

    @property
    def num_pois(self) -> int:
        return len(self.start_P1) - 1

    def transitions_from(self, user_N: Tensor, poi_N: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Other users' training transitions out of places, packed: position among N, destination and count (over 0).

        Destinations that only the user went to from the place are absent: their presence would reveal where the user
        goes.
        """
        start_N = self.start_P1[poi_N]
        at_C, edge_C = expand_ranges(start_N, self.start_P1[poi_N + 1] - start_N)
        destination_C, count_C = self.destination_E[edge_C], self.count_E[edge_C]
        # Subtract only where the user ever left the POI.
        left_N = found_in(self.own_source_K, user_N * self.num_pois + poi_N)[0]
        mine_C = torch.nonzero(left_N[at_C]).squeeze(1)
        at_M, destination_M = at_C[mine_C], destination_C[mine_C]
        key_M = (user_N[at_M] * self.num_pois + poi_N[at_M]) * self.num_pois + destination_M
        is_own_M, place_M = found_in(self.own_key_K, key_M)
        count_C = count_C.index_add(0, mine_C[is_own_M], -self.own_count_K[place_M[is_own_M]])
        keep_C = count_C > 0
        return at_C[keep_C], destination_C[keep_C], count_C[keep_C]


def _int64(array: np.ndarray) -> Tensor:
    return torch.from_numpy(np.array(array, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class NextCategories:
    """Which categories other users go to next, in training: from a category, leaving at an hour, arriving at an hour.
    ``counts``: sources are K categories, twice 24 hours, "any", and "unknown", which nobody left; ``num_categories``:
    K, of places with training check-ins.
    """

    counts: OtherUsers
    num_categories: int

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> "NextCategories":
        rows = dataset.cases(c.TRAIN)
        user, poi = (dataset.checkins[name].to_numpy(np.int64) for name in (c.USER, c.POI))
        category_P = dataset.pois[c.CATEGORY_INDEX].to_numpy(np.int64)
        categories = int(category_P[poi[dataset.checkins[c.SPLIT].to_numpy() == c.TRAIN]].max(initial=-1)) + 1
        hour = dataset.local_time.dt.hour.to_numpy(np.int64)
        any_hour = np.full(len(rows), categories + 2 * _HOURS)
        leaving, arriving = categories + hour[rows], categories + _HOURS + hour[rows + 1]
        source = np.concatenate([category_P[poi[rows]], leaving, arriving, any_hour])
        destination = np.tile(category_P[poi[rows + 1]], 4)
        size = categories + 2 * _HOURS + 2
        ones = np.ones(len(source), dtype=np.int64)
        counts = sparse.csr_array((ones, (source, destination)), shape=(size, size))
        return cls(OtherUsers.of(np.tile(user[rows], 4), source, destination, counts), categories)

    def to(self, device: torch.device | str) -> "NextCategories":
        return NextCategories(self.counts.to(device), self.num_categories)

    def likelier(self, user_B: Tensor, category_B: Tensor, hour_B: Tensor, *, arriving: bool) -> tuple[Tensor, Tensor]:
        """How much likelier than usual others go next to each category: log ratios, (B, K) float64 each.

        Given the source's category, and given the hour of leaving or ``arriving``; 0 where nothing is known.
        """
        usual_BK = self._others(user_B, torch.full_like(category_B, self.num_categories + 2 * _HOURS)) + 0.5
        usual_BK = usual_BK / usual_BK.sum(1, keepdim=True)
        known_B = torch.where(category_B < self.num_categories, category_B, self.num_categories + 2 * _HOURS + 1)
        both = (known_B, self.num_categories + _HOURS * arriving + hour_B.long())
        from_here_BK, at_hour_BK = (self._likelier(self._others(user_B, source_B), usual_BK) for source_B in both)
        return from_here_BK, at_hour_BK

    def _others(self, user_B: Tensor, source_B: Tensor) -> Tensor:
        case_C, category_C, count_C = self.counts.transitions_from(user_B, source_B)
        count_BK = torch.zeros(len(user_B), self.num_categories, dtype=torch.float64, device=user_B.device)
        return count_BK.index_put_((case_C, category_C), count_C.double())

    @staticmethod
    def _likelier(count_BK: Tensor, usual_BK: Tensor) -> Tensor:
        share_BK = (count_BK + _USUAL * usual_BK) / (count_BK.sum(1, keepdim=True) + _USUAL)
        return (share_BK / usual_BK).log()


@dataclass(frozen=True, eq=False)
class TwoHopPaths:
    """Paths source -> middle -> destination over others' transitions, packed; each path once. ``count_in_W``,
    ``count_out_W``: how often others made its transitions; ``product_W``: A_sm A_md, float64, rows of A normalised
    without the user; summed over the middles, (A^2)_sd of a graph without the user.
    """

    case_W: Tensor
    middle_W: Tensor
    destination_W: Tensor
    count_in_W: Tensor
    count_out_W: Tensor
    product_W: Tensor


def two_hop_paths(others: OtherUsers, user_B: Tensor, source_B: Tensor, cut_K3: Tensor | None = None) -> TwoHopPaths:
    """All two-hop paths of a batch of cases but the cut ones (case, middle, destination): a few hundred a case on city
    data.
    """
    case_N, middle_N, count_N = others.transitions_from(user_B, source_B)
    at_W, destination_W, count_W = others.transitions_from(user_B[case_N], middle_N)
    product_W = _shares(count_N, case_N, len(source_B))[at_W] * _shares(count_W, at_W, len(case_N))
    paths = TwoHopPaths(case_N[at_W], middle_N[at_W], destination_W, count_N[at_W], count_W, product_W)
    if cut_K3 is None:
        return paths
    size_3 = cut_K3.new_tensor([others.num_pois**2, others.num_pois, 1])
    ends_W3 = torch.stack([paths.case_W, paths.middle_W, paths.destination_W], dim=1)
    is_left_W = ~torch.isin(ends_W3 @ size_3, cut_K3 @ size_3)
    return TwoHopPaths(*(column[is_left_W] for column in vars(paths).values()))


def _shares(count: Tensor, group: Tensor, num_groups: int) -> Tensor:
    return count.double() / sum_within(count.double(), group, num_groups)[group]
