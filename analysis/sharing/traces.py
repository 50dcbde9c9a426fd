"""Everybody's check-ins as arrays, for k and the re-identification estimate."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from recap import columns as c
from recap.data.dataset import Dataset
from recap.privacy import users_per_group

_DAY: Final = 86_400  # seconds; importing it from `recap.history.tensors` would load torch


@dataclass(frozen=True, eq=False)
class Traces:
    """All check-ins of a dataset, of every split: int64 indices, and seconds on the clock of the place."""

    user: np.ndarray
    poi: np.ndarray
    local_seconds: np.ndarray
    num_users: int
    num_pois: int

    @cached_property
    def users_of_place(self) -> np.ndarray:
        return users_per_group(self.user, self.poi, self.num_pois)

    def part_of_week(self, hours: int, *, weekday: bool = True) -> np.ndarray:
        """A code for weekday (if shown) and part of the day of every check-in."""
        day = (self.local_seconds // _DAY + 3) % 7  # 0 Monday; 1 January 1970 was a Thursday
        hour = self.local_seconds % _DAY // 3600
        return np.asarray(24 * day * weekday + hour // hours * hours, dtype=np.int64)


def traces_of(dataset: Dataset) -> Traces:
    if dataset not in _TRACES:
        table = dataset.checkins
        seconds = table[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
        offset = table[c.TZ_OFFSET_MINUTES].to_numpy(np.int64) * 60
        _TRACES[dataset] = Traces(
            user=table[c.USER].to_numpy(np.int64),
            poi=table[c.POI].to_numpy(np.int64),
            local_seconds=seconds + offset,
            num_users=dataset.num_users,
            num_pois=dataset.num_pois,
        )
    return _TRACES[dataset]


_TRACES: WeakKeyDictionary[Dataset, Traces] = WeakKeyDictionary()
