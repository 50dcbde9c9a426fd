"""What all other users did: training transitions with one user's own taken out.

During training a case's own transition, and the same user's later repeats of it, are part of the global counts m_sd;
a model fitted on such counts trusts transitions more than a test case deserves. Here a user is never part of the
counts that describe others, in training and in use alike, so the feature means the same in both.

Shape suffixes: P POIs, E training transitions, K distinct (user, source, destination), C packed pairs.
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
        count_E: int64, m_sd.
        out_total_P: int64, sum of m_sd over d.
        own_key_K: sorted int64 keys (user * P + source) * P + destination.
        own_count_K: int64, the user's own training transitions.
        own_source_key_S: sorted int64 keys user * P + source.
        own_source_count_S: int64, the user's own training transitions out of the source.
    """

    start_P1: Tensor
    destination_E: Tensor
    count_E: Tensor
    out_total_P: Tensor
    own_key_K: Tensor
    own_count_K: Tensor
    own_source_key_S: Tensor
    own_source_count_S: Tensor

    @classmethod
    def from_dataset(cls, dataset: Dataset, graph: TransitionGraph) -> "OtherUsers":
        """Count each user's training transitions of a dataset whose transition graph is ``graph``."""
        rows = dataset.cases(c.TRAIN)
        user, poi = (dataset.checkins[name].to_numpy(np.int64) for name in (c.USER, c.POI))
        source_key = user[rows] * graph.num_pois + poi[rows]
        own_key, own_count = np.unique(source_key * graph.num_pois + poi[rows + 1], return_counts=True)
        own_source_key, own_source_count = np.unique(source_key, return_counts=True)
        counts = graph.counts
        arrays = (
            counts.indptr,
            counts.indices,
            counts.data,
            counts.sum(axis=1),
            own_key,
            own_count,
            own_source_key,
            own_source_count,
        )
        return cls(*(torch.from_numpy(np.array(array, dtype=np.int64)) for array in arrays))

    def to(self, device: torch.device | str) -> "OtherUsers":
        """The same tensors on another device."""
        return OtherUsers(*(getattr(self, field.name).to(device) for field in fields(self)))

    @property
    def num_pois(self) -> int:
        return len(self.out_total_P)

    def transitions_from(self, source_B: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """All training transitions out of each source: case (C,), destination (C,), m_sd (C,), sorted by both."""
        start_B = self.start_P1[source_B]
        size_B = self.start_P1[source_B + 1] - start_B
        case_C = torch.repeat_interleave(torch.arange(len(source_B), device=source_B.device), size_B)
        before_B = torch.cumsum(size_B, 0) - size_B
        edge_C = torch.arange(len(case_C), device=source_B.device) - before_B[case_C] + start_B[case_C]
        return case_C, self.destination_E[edge_C], self.count_E[edge_C]

    def own_count(self, user_C: Tensor, source_C: Tensor, destination_C: Tensor) -> Tensor:
        """The user's own training transitions source -> destination, int64 (C,)."""
        key_C = (user_C * self.num_pois + source_C) * self.num_pois + destination_C
        return _look_up(self.own_key_K, self.own_count_K, key_C)

    def own_out_total(self, user_B: Tensor, source_B: Tensor) -> Tensor:
        """The user's own training transitions out of the source, int64 (B,)."""
        return _look_up(self.own_source_key_S, self.own_source_count_S, user_B * self.num_pois + source_B)


def _look_up(sorted_key_K: Tensor, value_K: Tensor, key_C: Tensor) -> Tensor:
    """Values of keys, 0 where a key is absent."""
    if len(sorted_key_K) == 0:
        return torch.zeros_like(key_C)
    place_C = torch.searchsorted(sorted_key_K, key_C).clamp_max(len(sorted_key_K) - 1)
    return torch.where(sorted_key_K[place_C] == key_C, value_K[place_C], 0)
