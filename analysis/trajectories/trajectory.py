"""Users, their trajectories, and the stops of one trajectory in time order."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from analysis.workspace import Workspace
from recap import columns as c


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One trajectory with test cases.

    Attributes:
        stops: one row per check-in in time order: ``stop`` (from 1), ``poi, name, local_time`` and ``case`` (number of
            the test case that starts here, or -1).
    """

    user: int
    number: int
    stops: pd.DataFrame

    @cached_property
    def cases(self) -> list[int]:
        return [int(case) for case in self.stops[c.CASE] if case >= 0]

    def stop_of(self, case: int) -> int:
        """The stop (from 1) at which a case starts."""
        return int(self.stops.loc[self.stops[c.CASE] == case, "stop"].iloc[0])

    def until(self, case: int) -> "Trajectory":
        """The stops up to the start of a case."""
        return Trajectory(self.user, self.number, self.stops.head(self.stop_of(case)))


def read_trajectory(opened: Workspace, case: int) -> Trajectory:
    """The trajectory of a case.

    Raises:
        CaseError: no such case.
    """
    row = opened.case(case)
    trajectory = opened.dataset.checkins[c.TRAJECTORY].to_numpy()
    start, stop = np.searchsorted(trajectory, [int(row[c.TRAJECTORY]), int(row[c.TRAJECTORY]) + 1])
    poi = opened.dataset.checkins[c.POI].to_numpy(np.int64)[start:stop]
    case_rows = opened.cases[c.ROW].to_numpy(np.int64)
    position = np.searchsorted(case_rows, np.arange(start, stop))
    position = np.minimum(position, len(case_rows) - 1)
    numbers = np.where(case_rows[position] == np.arange(start, stop), position, -1)
    stops = pd.DataFrame(
        {
            "stop": np.arange(1, len(poi) + 1),
            c.POI: poi,
            "name": [opened.labels[p] for p in poi],
            "local_time": opened.dataset.local_time.iloc[start:stop].to_numpy(),
            c.CASE: numbers,
        }
    )
    return Trajectory(int(row[c.USER]), int(row[c.TRAJECTORY]), stops)


def trajectories_of(opened: Workspace, cases: np.ndarray, user: int) -> pd.DataFrame:
    """A user's trajectories with chosen cases: ``trajectory, first_case, start`` (local), ``stops, cases``.

    Args:
        cases: numbers of the cases to count, ascending.
    """
    table = opened.cases.iloc[cases]
    table = table[table[c.USER] == user]
    trajectory = opened.dataset.checkins[c.TRAJECTORY].to_numpy()
    groups = table.groupby(c.TRAJECTORY, sort=True)[c.CASE].agg(["min", "size"])
    starts = np.searchsorted(trajectory, groups.index.to_numpy())
    ends = np.searchsorted(trajectory, groups.index.to_numpy(), side="right")
    return pd.DataFrame(
        {
            c.TRAJECTORY: groups.index.to_numpy(),
            "first_case": groups["min"].to_numpy(),
            "start": opened.dataset.local_time.iloc[starts].to_numpy(),
            "stops": ends - starts,
            "cases": groups["size"].to_numpy(),
        }
    )


def users_of(opened: Workspace, cases: np.ndarray) -> list[int]:
    return sorted(int(user) for user in opened.cases[c.USER].iloc[cases].unique())
