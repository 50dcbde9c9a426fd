"""Every user's visits in order, in plain NumPy; `CheckinTensors` has the same arrays on a device.

Shape suffix: T check-ins.
"""

import threading
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from recap import columns as c
from recap.data.dataset import Dataset

NEVER: Final = int(np.iinfo(np.int64).max)
"""`next_visit` of a check-in that is the user's last at its POI."""


@dataclass(frozen=True, eq=False)
class Visits:
    """Of check-ins, int64, rows sorted by (user, time): the row of the first one of the same user or segment, that of
    the user's next one at the same POI (`NEVER` if none), and a number that counts the user's at this POI from 1.
    """

    poi_T: np.ndarray
    first_T: np.ndarray
    next_visit_T: np.ndarray
    visit_number_T: np.ndarray

    @classmethod
    def of(cls, dataset: Dataset) -> "Visits":
        """Of a dataset's check-ins; cached for the dataset's lifetime, do not change it."""
        with _ordering:
            if dataset not in _known:
                table = dataset.checkins
                _known[dataset] = cls.of_segments(table[c.USER].to_numpy(np.int64), table[c.POI].to_numpy(np.int64))
            return _known[dataset]

    @classmethod
    def of_segments(cls, segment: np.ndarray, poi: np.ndarray) -> "Visits":
        """From int64 arrays, grouped by segment (one history each) and ordered in time."""
        rows = np.arange(len(poi), dtype=np.int64)
        starts = np.append(True, segment[1:] != segment[:-1])[: len(poi)]
        first = rows[starts][np.cumsum(starts) - 1]

        # Stable sort by (segment, POI): visits to one POI become adjacent and stay in time order.
        order = np.lexsort((poi, first))
        same = (poi[order][1:] == poi[order][:-1]) & (first[order][1:] == first[order][:-1])
        next_visit = np.full(len(poi), NEVER, dtype=np.int64)
        next_visit[order[:-1][same]] = order[1:][same]
        group_start = np.append(True, ~same)[: len(poi)]
        visit_number = np.empty(len(poi), dtype=np.int64)
        visit_number[order] = rows - rows[group_start][np.cumsum(group_start) - 1] + 1
        return cls(poi, first, next_visit, visit_number)

    def places_known(self, rows: np.ndarray) -> np.ndarray:
        """How many places the user of each row has visited up to that row, the row's own place included."""
        distinct = np.cumsum(self.visit_number_T == 1)
        return distinct[rows] - distinct[self.first_T[rows]] + 1

    def target_in_history(self, rows: np.ndarray) -> np.ndarray:
        """Whether each case's target was visited before step t (y in C_t), bool."""
        # The source itself (row t) is not in C_t.
        earlier = self.visit_number_T[rows + 1] - 1 - (self.poi_T[rows + 1] == self.poi_T[rows])
        return earlier > 0


_known: Final[WeakKeyDictionary[Dataset, Visits]] = WeakKeyDictionary()
_ordering: Final = threading.Lock()
"""Threads that need the same visits wait for the first: among millions of check-ins ordering takes seconds."""
