"""What is known of places before any user: popularity and position.

Shape suffixes: B cases, P POIs.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from recap import columns as c
from recap.data.dataset import Dataset
from recap.geodesy import EARTH_RADIUS_KM


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
        latitude, longitude = (
            np.radians(dataset.pois[name].to_numpy(np.float64)) for name in (c.LATITUDE, c.LONGITUDE)
        )
        position = np.stack(
            [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=1
        )
        popularity = dataset.pois[c.TRAIN_CHECKINS].to_numpy(np.float64)
        return cls(torch.from_numpy(popularity.copy()), torch.from_numpy(position))

    def to(self, device: torch.device | str) -> "PlaceAttributes":
        """The same tensors on another device."""
        return PlaceAttributes(self.popularity_P.to(device), self.position_P3.to(device))

    def distance_km(self, source_B: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
        """Great-circle distance from each source to every POI, (B, P); float32 is right to about a metre."""
        # Chord length on the unit sphere, by coordinate: no cancellation for near points, the same in any batch.
        position_P3 = self.position_P3.to(dtype)
        source_B3 = position_P3[source_B]
        x_BP, y_BP, z_BP = (source_B3[:, axis, None] - position_P3[:, axis] for axis in range(3))
        chord_BP = (x_BP.square_() + y_BP.square_() + z_BP.square_()).sqrt_()
        return 2.0 * EARTH_RADIUS_KM * torch.asin((chord_BP / 2.0).clamp_max_(1.0))
