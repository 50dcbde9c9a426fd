"""Training transitions of all users but one, and two-hop paths over them.

In training, m_sd holds a case's own transition and the user's later repeats of it. A model fitted on such counts trusts
transitions too much. Here a user is never part of the counts that describe others.

Shape suffixes: B cases, P POIs, E distinct training transitions, K distinct (user, source, destination) triples, edited
edges or categories, N (case, POI) pairs, C packed pairs, W paths of all cases.
"""

from dataclasses import dataclass, fields
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
class EdgeEdits:
    """Changed training counts m_sd of everyone, for single cases of a batch; a (case, edge) pair occurs once.
    ``case_K``, ``source_K``, ``destination_K``, ``count_K``: int64; the user's own are still subtracted.
    """

    case_K: Tensor
    source_K: Tensor
    destination_K: Tensor
    count_K: Tensor


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
        arrays = (counts.indptr, counts.indices, counts.data, own_key, own_count, np.unique(own_key // size))
        return cls(*(torch.from_numpy(np.array(array, dtype=np.int64)) for array in arrays))

    def to(self, device: torch.device | str) -> "OtherUsers":
        return OtherUsers(*(getattr(self, field.name).to(device) for field in fields(self)))

    @property
    def num_pois(self) -> int:
        return len(self.start_P1) - 1

    def transitions_from(
        self, user_B: Tensor, source_B: Tensor, edits: EdgeEdits | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Other users' training transitions out of each case's source, packed: case, destination and count (over 0).

        Destinations that only the user went to from the source are absent: their presence would reveal where the user
        goes.
        """
        case_B = torch.arange(len(source_B), device=source_B.device)
        return self.transitions_of(case_B, user_B, source_B, edits)

    def transitions_of(
        self, case_N: Tensor, user_N: Tensor, poi_N: Tensor, edits: EdgeEdits | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The same for distinct pairs of a case and a POI: position among N, destination and count."""
        start_N = self.start_P1[poi_N]
        at_C, edge_C = expand_ranges(start_N, self.start_P1[poi_N + 1] - start_N)
        destination_C, count_C = self.destination_E[edge_C], self.count_E[edge_C]
        if edits is not None and len(edits.case_K):
            at_C, destination_C, count_C = self._edited(case_N, poi_N, at_C, destination_C, count_C, edits)
        # Subtract only where the user ever left the POI.
        left_N = found_in(self.own_source_K, user_N * self.num_pois + poi_N)[0]
        mine_C = torch.nonzero(left_N[at_C]).squeeze(1)
        at_M, destination_M = at_C[mine_C], destination_C[mine_C]
        key_M = (user_N[at_M] * self.num_pois + poi_N[at_M]) * self.num_pois + destination_M
        is_own_M, place_M = found_in(self.own_key_K, key_M)
        count_C = count_C.index_add(0, mine_C[is_own_M], -self.own_count_K[place_M[is_own_M]])
        keep_C = count_C > 0
        return at_C[keep_C], destination_C[keep_C], count_C[keep_C]

    def _edited(
        self, case_N: Tensor, poi_N: Tensor, at_C: Tensor, destination_C: Tensor, count_C: Tensor, edits: EdgeEdits
    ) -> tuple[Tensor, Tensor, Tensor]:
        key_N, order_N = torch.sort(case_N * self.num_pois + poi_N)
        known_K, place_K = found_in(key_N, edits.case_K * self.num_pois + edits.source_K)
        at_K = order_N[place_K[known_K]]
        key_K, order_K = torch.sort(at_K * self.num_pois + edits.destination_K[known_K])
        edited_K = edits.count_K[known_K][order_K]
        is_edited_C, which_C = found_in(key_K, at_C * self.num_pois + destination_C)
        count_C = torch.where(is_edited_C, edited_K[which_C] if len(edited_K) else count_C, count_C)
        is_new_K = torch.ones_like(key_K, dtype=torch.bool)
        is_new_K[which_C[is_edited_C]] = False
        new_K = key_K[is_new_K]
        return (
            torch.cat([at_C, torch.div(new_K, self.num_pois, rounding_mode="floor")]),
            torch.cat([destination_C, new_K % self.num_pois]),
            torch.cat([count_C, edited_K[is_new_K]]),
        )


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
    """Paths source -> middle -> destination over others' transitions, packed; each path once.

    Summed over the middles, ``product`` is (A^2)_sd of a graph without the user.

    Attributes:
        case_W: position in the batch.
        count_in_W, count_out_W: how often others made the first and the second transition.
        product_W: A_sm A_md, float64, rows of A normalised without the user.
    """

    case_W: Tensor
    middle_W: Tensor
    destination_W: Tensor
    count_in_W: Tensor
    count_out_W: Tensor
    product_W: Tensor


def two_hop_paths(others: OtherUsers, user_B: Tensor, source_B: Tensor, edits: EdgeEdits | None = None) -> TwoHopPaths:
    """All two-hop paths of a batch of cases, a few hundred a case on city data."""
    case_N, middle_N, count_N = others.transitions_from(user_B, source_B, edits)
    at_W, destination_W, count_W = others.transitions_of(case_N, user_B[case_N], middle_N, edits)
    first_N = _shares(count_N, case_N, len(source_B))
    return TwoHopPaths(
        case_W=case_N[at_W],
        middle_W=middle_N[at_W],
        destination_W=destination_W,
        count_in_W=count_N[at_W],
        count_out_W=count_W,
        product_W=first_N[at_W] * _shares(count_W, at_W, len(case_N)),
    )


def without_paths(paths: TwoHopPaths, cut_K3: Tensor, num_pois: int) -> TwoHopPaths:
    """Paths without cut ones (case, middle, destination)."""
    keep_W = ~torch.isin(
        (paths.case_W * num_pois + paths.middle_W) * num_pois + paths.destination_W,
        (cut_K3[:, 0] * num_pois + cut_K3[:, 1]) * num_pois + cut_K3[:, 2],
    )
    return TwoHopPaths(*(column[keep_W] for column in vars(paths).values()))


def _shares(count: Tensor, group: Tensor, num_groups: int) -> Tensor:
    return count.double() / sum_within(count.double(), group, num_groups)[group]
