"""What a published model may know of a dataset before training.

Shape suffix: P POIs.
"""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.spatial import cKDTree
from torch import Tensor

from recap import columns as c
from recap.arithmetic.geodesy import EARTH_RADIUS_KM, unit_vectors
from recap.data.dataset import Dataset
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors


@dataclass(frozen=True, eq=False)
class City:
    """Sizes, places and training check-ins of a dataset, on the CPU.

    Attributes:
        coordinates_P2: latitude and longitude in degrees, float64.
        category_P: int64.
        visits_P: training check-ins of each POI, int64.
        train: the training check-ins.
    """

    num_users: int
    coordinates_P2: Tensor
    category_P: Tensor
    visits_P: Tensor
    train: CheckinTensors
    graph: TransitionGraph

    @classmethod
    def of(cls, dataset: Dataset, graph: TransitionGraph | None = None) -> "City":
        train = CheckinTensors.from_table(dataset.checkins[dataset.checkins[c.SPLIT] == c.TRAIN])
        return cls(
            num_users=dataset.num_users,
            coordinates_P2=torch.tensor(dataset.pois[[c.LATITUDE, c.LONGITUDE]].to_numpy(np.float64)),
            category_P=torch.tensor(dataset.pois[c.CATEGORY_INDEX].to_numpy(np.int64)),
            visits_P=torch.bincount(train.poi_T, minlength=dataset.num_pois),
            train=train,
            graph=TransitionGraph.from_dataset(dataset) if graph is None else graph,
        )

    @property
    def num_pois(self) -> int:
        return len(self.category_P)

    @property
    def num_categories(self) -> int:
        return int(self.category_P.max()) + 1


def places_near(city: City, most: int, within_km: float) -> tuple[np.ndarray, np.ndarray]:
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
