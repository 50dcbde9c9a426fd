"""Position, category and training check-ins of places.

A place's training check-ins never count the user's own, which would tell a training case where its user goes.

Shape suffixes: B cases, P POIs, U users, K distinct (user, POI) pairs, I pairs of a case and a place, H past check-ins.
"""

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import torch
from torch import Tensor

from recap import columns as c
from recap.arithmetic.geodesy import EARTH_RADIUS_KM, unit_vectors
from recap.arithmetic.ragged import expand_ranges, found_in
from recap.data.dataset import Dataset

_SOURCES: Final = 16
"""Sources whose distances are computed at once: allocating memory costs more than the arithmetic."""


@dataclass(frozen=True, eq=False)
class Places:
    """Facts about every POI."""

    position_P3: Tensor
    category_P: Tensor
    checkins_P: Tensor
    key_K: Tensor
    own_K: Tensor

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> "Places":
        latitude, longitude = (dataset.pois[name].to_numpy(np.float64) for name in (c.LATITUDE, c.LONGITUDE))
        train = dataset.checkins[c.SPLIT].to_numpy() == c.TRAIN
        user, poi = (dataset.checkins[name].to_numpy(np.int64)[train] for name in (c.USER, c.POI))
        key, own = np.unique(user * dataset.num_pois + poi, return_counts=True)
        arrays = (
            unit_vectors(latitude, longitude),
            dataset.pois[c.CATEGORY_INDEX].to_numpy(np.int64, copy=True),
            np.bincount(poi, minlength=dataset.num_pois).astype(np.float64),
            key,
            own.astype(np.float64),
        )
        return cls(*(torch.from_numpy(np.ascontiguousarray(array)) for array in arrays))

    def to(self, device: torch.device | str) -> "Places":
        return Places(*(getattr(self, field.name).to(device) for field in fields(self)))

    @property
    def num_categories(self) -> int:
        return int(self.category_P.max()) + 1 if len(self.category_P) else 0

    def own_checkins(self, user_B: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Each user's own training check-ins, packed: case, POI and count; none for an unknown user."""
        num_pois = len(self.checkins_P)
        start_B = torch.searchsorted(self.key_K, user_B * num_pois)
        case_O, pair_O = expand_ranges(start_B, torch.searchsorted(self.key_K, (user_B + 1) * num_pois) - start_B)
        return case_O, self.key_K[pair_O] % num_pois, self.own_K[pair_O]

    def others_checkins(self, user_I: Tensor, poi_I: Tensor) -> Tensor:
        """Others' training check-ins at places, (I,) float64."""
        is_own_I, at_I = found_in(self.key_K, user_I * len(self.checkins_P) + poi_I)
        return self.checkins_P[poi_I].index_add(0, is_own_I.nonzero()[:, 0], -self.own_K[at_I[is_own_I]])

    def distance_km(self, source_B: Tensor, dtype: torch.dtype = torch.float64, poi_U: Tensor | None = None) -> Tensor:
        """Great-circle distance from each source to every POI (B, P) or to some (B, U); float32 errs by a metre."""
        # Chord length by coordinate: no cancellation for near points, the same in any batch.
        position_P3 = self.position_P3.to(dtype)
        source_3B = position_P3[source_B].T
        position_3P = (position_P3 if poi_U is None else position_P3[poi_U]).T.contiguous()
        distance_BP = position_3P.new_empty(len(source_B), position_3P.shape[1])
        pieces = zip(source_3B.split(_SOURCES, dim=1), distance_BP.split(_SOURCES), strict=True)
        for source_3S, distance_SP in pieces:
            torch.sub(source_3S[0, :, None], position_3P[0], out=distance_SP).square_()
            for axis in (1, 2):
                distance_SP += (source_3S[axis, :, None] - position_3P[axis]).square_()
            distance_SP.sqrt_().div_(2.0).clamp_max_(1.0).asin_().mul_(2.0 * EARTH_RADIUS_KM)
        return distance_BP

    def distance_between(self, source_I: Tensor, poi_I: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
        """The same for pairs of places, (I,)."""
        position_P3 = self.position_P3.to(dtype)
        chord_I = (position_P3[source_I] - position_P3[poi_I]).square()
        chord_I = (chord_I[:, 0] + chord_I[:, 1] + chord_I[:, 2]).sqrt()
        return (chord_I / 2.0).clamp_max(1.0).asin() * (2.0 * EARTH_RADIUS_KM)

    def category_visits(self, case_H: Tensor, poi_H: Tensor, size: int) -> Tensor:
        """Past check-ins of each case in each category, (B, categories) float64."""
        key_H = case_H * self.num_categories + self.category_P[poi_H]
        return torch.bincount(key_H, minlength=size * self.num_categories).view(size, self.num_categories).double()
