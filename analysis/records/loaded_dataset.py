"""An opened dataset with its graph and case table; what shows counts alone needs no tensors."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from analysis.geography import unwrap_longitudes
from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import CaseError
from recap.evaluation.cases import describe_cases
from recap.graph import TransitionGraph
from recap.visits import Visits

if TYPE_CHECKING:
    from recap.history import CheckinTensors

MODEL_LABELS: Final = {
    "recap": "RECAP",
    "feature_curves": "Feature curves",
    "count_plus_markov": "Count + Markov",
    "visit_count": "Visit count",
    "markov": "Markov",
    "popularity": "Popularity",
    "nearest": "Nearest",
}


@dataclass(frozen=True, eq=False)
class LoadedDataset:
    """A dataset, its training graph and its test cases."""

    dataset: Dataset
    graph: TransitionGraph

    @classmethod
    def load(cls, folder: Path) -> "LoadedDataset":
        """Read, verify and prepare a dataset folder."""
        return cls.of(Dataset.load(folder))

    @classmethod
    def of(cls, dataset: Dataset) -> "LoadedDataset":
        """The same for a dataset in memory."""
        return cls(dataset, TransitionGraph.from_dataset(dataset))

    @property
    def visits(self) -> Visits:
        """Every user's visits in order."""
        return Visits.of(self.dataset)

    @cached_property
    def checkins(self) -> "CheckinTensors":
        """The check-ins as scorers read them."""
        from recap.history import CheckinTensors  # here, so that showing counts alone does not load torch

        return CheckinTensors.from_dataset(self.dataset)

    @cached_property
    def cases(self) -> pd.DataFrame:
        """The test cases in records order, see `describe_cases`."""
        return describe_cases(self.dataset, self.graph, c.TEST)

    @property
    def labels(self) -> list[str]:
        """What to call every POI, see `label_places`."""
        return self.dataset.poi_labels

    @cached_property
    def latitude(self) -> np.ndarray:
        """Degrees, one per POI."""
        return self.dataset.pois[c.LATITUDE].to_numpy(np.float64)

    @cached_property
    def longitude(self) -> np.ndarray:
        """Degrees, one per POI, without a jump at the date line."""
        return unwrap_longitudes(self.dataset.pois[c.LONGITUDE].to_numpy(np.float64))

    def case(self, number: int) -> pd.Series:
        """One test case.

        Raises:
            CaseError: there is no such number.
        """
        if not 0 <= number < len(self.cases):
            raise CaseError(
                f"there is no test case {number}; {self.dataset.manifest.name} has {len(self.cases):,} cases, from 0"
            )
        return self.cases.iloc[number]
