"""A user's own places, ranked by how often, how recently and whether they were just visited (Eq. 9).

Shape suffixes: N cases, V pairs of a case and a place visited before it.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch

from analysis.workspace import Workspace
from recap import columns as c
from recap.history import CheckinTensors, Histories, find_revisit_candidates

MOST_CASES: Final = 1500


@dataclass(frozen=True)
class HabitWeights:
    """Weights of the three statistics.

    Attributes:
        count, recency, window: points for log(1 + visits), exp(-check-ins since / recency_steps), being in the window.
        recency_steps, recent_window: tau and L, in check-ins.
    """

    count: float
    recency: float
    window: float
    recency_steps: float
    recent_window: int

    def points(self, count: np.ndarray, since: np.ndarray) -> np.ndarray:
        """Points of places visited ``count`` times, last ``since`` check-ins ago.

        >>> HabitWeights(1.0, 2.0, 0.5, 10.0, 3).points(np.array([1.0]), np.array([3.0])).round(3).tolist()
        [2.675]
        """
        recent = self.recency * np.exp(-since / self.recency_steps)
        return np.asarray(self.count * np.log1p(count) + recent + self.window * (since <= self.recent_window))


@dataclass(frozen=True, eq=False)
class Habits:
    """The places that users visited before a case, for cases whose true place is one of them.

    Attributes:
        case_V: position of each pair's case among N, ascending.
        count_V, since_V: the place's visits, and check-ins since the last of them.
        truth_N: pair of the true place.
    """

    case_N: np.ndarray
    users_N: np.ndarray
    case_V: np.ndarray
    poi_V: np.ndarray
    count_V: np.ndarray
    since_V: np.ndarray
    truth_N: np.ndarray

    @classmethod
    def of(cls, opened: Workspace, most: int = MOST_CASES) -> "Habits":
        """The first ``most`` test cases, evenly spread, whose true place the user knows."""
        cases = opened.cases[opened.cases[c.IN_HISTORY].to_numpy(bool)]
        if len(cases) > most:
            cases = cases.iloc[np.linspace(0, len(cases) - 1, most).astype(int)]
        row_N, target_N = (torch.tensor(cases[name].to_numpy(np.int64)) for name in (c.ROW, c.TARGET))
        candidates = find_revisit_candidates(
            Histories(CheckinTensors.from_dataset(opened.dataset), row_N), max_candidates=None
        )
        return cls(
            cases[c.CASE].to_numpy(),
            cases[c.USER].to_numpy(),
            candidates.case_C.numpy(),
            candidates.poi_C.numpy(),
            candidates.count_C.numpy().astype(np.float64),
            candidates.recency_steps_C.numpy().astype(np.float64),
            torch.nonzero(candidates.poi_C == target_N[candidates.case_C]).squeeze(1).numpy(),
        )

    def found(self, weights: HabitWeights) -> np.ndarray:
        """Whether the true place ranks first among the user's own places, (N,); a tie counts in part."""
        points_V = weights.points(self.count_V, self.since_V)
        ahead_V = points_V - points_V[self.truth_N][self.case_V]
        better_N, tied_N = (
            np.bincount(self.case_V[mask_V], minlength=len(self.case_N))
            for mask_V in (ahead_V > 1e-12, np.abs(ahead_V) <= 1e-12)
        )
        return np.where(better_N == 0, 1 / tied_N, 0.0)
