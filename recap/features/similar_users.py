"""Users who visited the same places, and where else they go.

Shape suffixes: B cases, P POIs, U users, H past check-ins, S pairs of a case and a place where similar users were.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from recap import columns as c
from recap.data.dataset import Dataset

_MOST_SIMILAR: Final = 100
_GAIN: Final = 20.0


@dataclass(frozen=True, eq=False)
class SimilarUsers:
    """Who visited what in training.

    Attributes:
        visited_UP: 1 where a user checked in.
        profile_PU: the same times ``rarity_P``, each user's vector of length 1, by place.
        rarity_P: log(users with training check-ins / (1 + the place's visitors)).
    """

    visited_UP: sparse.csr_array
    profile_PU: sparse.csr_array
    rarity_P: np.ndarray

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> "SimilarUsers":
        train = dataset.checkins[c.SPLIT].to_numpy() == c.TRAIN
        user, poi = (dataset.checkins[name].to_numpy(np.int64)[train] for name in (c.USER, c.POI))
        visited = occurrences(user, poi, (dataset.num_users, dataset.num_pois))
        trained = np.count_nonzero(np.diff(visited.indptr))
        rarity_P = np.log(trained / (1.0 + visited.sum(0))).clip(min=0.0)
        return cls(visited, sparse.csr_array(_profiles(visited, rarity_P).T), rarity_P)

    def visits(self, case_H: Tensor, poi_H: Tensor, user_B: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Packed case, POI and 20 x the summed similarity of the 100 most similar other users there.

        Similarity is the cosine of ``profile_PU``. The user is left out: training holds their next visits.
        """
        size, users = len(user_B), user_B.cpu().numpy()
        own = occurrences(case_H.cpu().numpy(), poi_H.cpu().numpy(), (size, len(self.rarity_P)))
        similarity = sparse.csr_array(_profiles(own, self.rarity_P) @ self.profile_PU)
        product = sparse.csr_array(_most_similar(similarity, users) @ self.visited_UP)
        product.sort_indices()
        visits = product.tocoo()
        device = user_B.device
        case, poi = (torch.from_numpy(index.astype(np.int64)).to(device) for index in visits.coords)
        return case, poi, _GAIN * torch.from_numpy(np.asarray(visits.data, dtype=np.float64)).to(device)


def occurrences(row: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """1 where a pair of row and column occurs."""
    matrix = sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def _most_similar(similarity: sparse.csr_array, user_B: np.ndarray) -> sparse.csr_array:
    """Keep the largest entries of each row, with ties, without the user."""
    row_N = np.repeat(np.arange(similarity.shape[0]), np.diff(similarity.indptr))
    value_N = np.where(similarity.indices == user_B[row_N], 0.0, similarity.data)
    for row in np.flatnonzero(np.diff(similarity.indptr) > _MOST_SIMILAR):
        span = slice(similarity.indptr[row], similarity.indptr[row + 1])
        values = value_N[span]
        values[values < np.partition(values, -_MOST_SIMILAR)[-_MOST_SIMILAR]] = 0.0
    strongest = sparse.csr_array((value_N, similarity.indices, similarity.indptr), shape=similarity.shape)
    strongest.eliminate_zeros()
    return strongest


def _profiles(visited_NP: sparse.csr_array, rarity_P: np.ndarray) -> sparse.csr_array:
    weighted = visited_NP.copy()
    weighted.data = weighted.data * rarity_P[weighted.indices]
    length_N = np.sqrt(weighted.power(2).sum(1))
    weighted.data /= np.repeat(np.where(length_N > 0, length_N, 1.0), np.diff(weighted.indptr))
    return weighted
