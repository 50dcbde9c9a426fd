"""What all other users did: training transitions with one user's own taken out.

During training a case's own transition, and the same user's later repeats of it, are part of the global counts m_sd;
a model fitted on such counts trusts transitions more than a test case deserves. Here a user is never part of the
counts that describe others, in training and in use alike, so the feature means the same in both.

Shape suffixes: B cases, P POIs, E distinct training transitions, K distinct (user, source, destination) triples,
C packed pairs.
"""

from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import Tensor

from recap import columns as c
from recap.data.dataset import Dataset
from recap.graph import TransitionGraph


@dataclass(frozen=True, eq=False)
class OtherUsers:
    """Training transitions of everyone, and of each user to take away again.

    Attributes:
        start_P1: int64 (P + 1,), where each source's transitions begin among E.
        destination_E: int64, sorted within a source.
        count_E: int64, m_sd of everyone.
        own_key_K: sorted int64 keys (user * P + source) * P + destination.
        own_count_K: int64, the user's own training transitions.
    """

    start_P1: Tensor
    destination_E: Tensor
    count_E: Tensor
    own_key_K: Tensor
    own_count_K: Tensor

    @classmethod
    def from_dataset(cls, dataset: Dataset, graph: TransitionGraph) -> "OtherUsers":
        """Count each user's training transitions of a dataset whose transition graph is ``graph``."""
        rows = dataset.cases(c.TRAIN)
        user, poi = (dataset.checkins[name].to_numpy(np.int64) for name in (c.USER, c.POI))
        key = (user[rows] * graph.num_pois + poi[rows]) * graph.num_pois + poi[rows + 1]
        own_key, own_count = np.unique(key, return_counts=True)
        arrays = (graph.counts.indptr, graph.counts.indices, graph.counts.data, own_key, own_count)
        return cls(*(torch.from_numpy(np.array(array, dtype=np.int64)) for array in arrays))

    def to(self, device: torch.device | str) -> "OtherUsers":
        """The same tensors on another device."""
        return OtherUsers(*(getattr(self, field.name).to(device) for field in fields(self)))

    @property
    def num_pois(self) -> int:
        return len(self.start_P1) - 1

    def transitions_from(self, user_B: Tensor, source_B: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Other users' training transitions out of each source, packed: case, destination and count (at least 1).

        Destinations that only the user went to from the source are absent: to list them would give away that the user
        goes there.
        """
        start_B = self.start_P1[source_B]
        size_B = self.start_P1[source_B + 1] - start_B
        case_C = torch.repeat_interleave(torch.arange(len(source_B), device=source_B.device), size_B)
        before_B = torch.cumsum(size_B, 0) - size_B
        edge_C = torch.arange(len(case_C), device=source_B.device) - before_B[case_C] + start_B[case_C]
        destination_C = self.destination_E[edge_C]
        count_C = self.count_E[edge_C] - self._own_count(user_B[case_C], source_B[case_C], destination_C)
        keep_C = count_C > 0
        return case_C[keep_C], destination_C[keep_C], count_C[keep_C]

    def _own_count(self, user_C: Tensor, source_C: Tensor, destination_C: Tensor) -> Tensor:
        """The user's own training transitions source -> destination."""
        if len(self.own_key_K) == 0:
            return torch.zeros_like(user_C)
        key_C = (user_C * self.num_pois + source_C) * self.num_pois + destination_C
        place_C = torch.searchsorted(self.own_key_K, key_C).clamp_max(len(self.own_key_K) - 1)
        return torch.where(self.own_key_K[place_C] == key_C, self.own_count_K[place_C], 0)
