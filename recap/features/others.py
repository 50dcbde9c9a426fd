"""Training transitions of all users but one.

In training, m_sd holds a case's own transition and the user's later repeats of it. A model fitted on such counts trusts
transitions too much. Here a user is never part of the counts that describe others.

Shape suffixes: B cases, P POIs, E distinct training transitions, K distinct (user, source, destination) triples or
edited edges, N (case, POI) pairs, C packed pairs.
"""

from dataclasses import dataclass, fields

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from recap import columns as c
from recap.data.dataset import Dataset
from recap.graph import TransitionGraph
from recap.ragged import expand_ranges, found_in


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
        at_M = at_C[mine_C]
        own_M = self._own_count(user_N[at_M], poi_N[at_M], destination_C[mine_C])
        count_C = count_C.index_add(0, mine_C, -own_M)
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

    def _own_count(self, user_C: Tensor, source_C: Tensor, destination_C: Tensor) -> Tensor:
        is_own_C, place_C = found_in(
            self.own_key_K, (user_C * self.num_pois + source_C) * self.num_pois + destination_C
        )
        return torch.where(is_own_C, self.own_count_K[place_C], 0) if len(self.own_key_K) else torch.zeros_like(user_C)
