"""What is known of places before any user: popularity and position.

Shape suffixes: B cases, P POIs.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor

from recap import columns as c
from recap.data.dataset import Dataset
from recap.geodesy import EARTH_RADIUS_KM, unit_vectors

_SOURCES: Final = 16
"""Sources whose distances are worked out at a time: fresh memory costs more than the arithmetic."""


@dataclass(frozen=True, eq=False)
class PlaceAttributes:
    """Popularity and position of every POI.

    Attributes:
        popularity_P: training check-ins, float64.
        position_P3: points on the unit sphere, float64.
    """

    popularity_P: Tensor
    position_P3: Tensor

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> "PlaceAttributes":
        """PlaceAttributes of a dataset."""
        latitude, longitude = (dataset.pois[name].to_numpy(np.float64) for name in (c.LATITUDE, c.LONGITUDE))
        position = unit_vectors(latitude, longitude)
        popularity = dataset.pois[c.TRAIN_CHECKINS].to_numpy(np.float64)
        return cls(torch.from_numpy(popularity.copy()), torch.from_numpy(position))

    def to(self, device: torch.device | str) -> "PlaceAttributes":
        """The same tensors on another device."""
        return PlaceAttributes(self.popularity_P.to(device), self.position_P3.to(device))

    def distance_km(self, source_B: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
        """Great-circle distance from each source to every POI, (B, P); float32 is right to about a metre."""
        # Chord length on the unit sphere, by coordinate: no cancellation for near points, the same in any batch.
        position_3P = self.position_P3.to(dtype).T.contiguous()
        distance_BP = position_3P.new_empty(len(source_B), len(self.position_P3))
        pieces = zip(position_3P[:, source_B].split(_SOURCES, dim=1), distance_BP.split(_SOURCES), strict=True)
        for source_3S, distance_SP in pieces:
            torch.sub(source_3S[0, :, None], position_3P[0], out=distance_SP).square_()
            for axis in (1, 2):
                distance_SP += (source_3S[axis, :, None] - position_3P[axis]).square_()
            distance_SP.sqrt_().div_(2.0).clamp_max_(1.0).asin_().mul_(2.0 * EARTH_RADIUS_KM)
        return distance_BP
