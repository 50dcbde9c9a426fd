"""Users, their trajectories, and the stops of one trajectory in time order."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd

from analysis.workspace import Workspace
from recap import columns as c
from recap.history.moments import Moment, find_moment
from recap.history.one_user import History

SHOWN_STOPS: Final = 4
"""Recorded stops of Next, the latest of the last trajectory."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One trajectory.

    Attributes:
        first_row: of its first check-in.
        stops: one row per check-in in time order: ``stop`` (from 1), ``poi, name, local_time`` and ``case`` (number of
            the test case that starts here, or -1).
    """

    user: int
    number: int
    first_row: int
    stops: pd.DataFrame

    @cached_property
    def cases(self) -> list[int]:
        return [int(case) for case in self.stops[c.CASE] if case >= 0]

    @cached_property
    def moments(self) -> list[Moment]:
        """Its cases."""
        numbers = enumerate(self.stops[c.CASE].tolist(), start=self.first_row)
        return [Moment(self.user, row, case=number) for row, number in numbers if number >= 0]

    def stop_of(self, row: int) -> int:
        """The number (from 1) of the stop with this row among the check-ins."""
        return row - self.first_row + 1

    def until(self, row: int) -> "Trajectory":
        """The stops up to a row."""
        return replace(self, stops=self.stops.head(self.stop_of(row)))


def read_trajectory(opened: Workspace, case: int | Moment) -> Trajectory:
    """The trajectory of a test case or moment.

    Raises:
        CaseError: no such case.
    """
    moment = opened.moment(case)
    trajectory = opened.dataset.checkins[c.TRAJECTORY].to_numpy()
    number = int(trajectory[moment.row])
    start, stop = np.searchsorted(trajectory, [number, number + 1]).tolist()
    poi = opened.dataset.checkins[c.POI].to_numpy(np.int64)[start:stop]
    case_rows, case_N = opened.cases[c.ROW].to_numpy(np.int64), opened.cases[c.CASE].to_numpy(np.int64)
    position = np.searchsorted(case_rows, np.arange(start, stop))
    position = np.minimum(position, len(case_rows) - 1)
    numbers = np.where(case_rows[position] == np.arange(start, stop), case_N[position], -1)
    stops = _stops(opened, poi, opened.dataset.local_time.iloc[start:stop].to_numpy(), numbers)
    return Trajectory(moment.user, number, start, stops)


def _stops(opened: Workspace, poi: np.ndarray, local_time: np.ndarray, case: np.ndarray | int) -> pd.DataFrame:
    names = [opened.labels[p] for p in poi]
    facts = {"stop": np.arange(1, len(poi) + 1), c.POI: poi, "name": names, "local_time": local_time, c.CASE: case}
    return pd.DataFrame(facts)


def read_stops(opened: Workspace, itinerary: Moment) -> Trajectory:
    """The latest stops of an itinerary's last trajectory and the added ones, as one trajectory.

    Returns:
        ``stops`` with a column ``change``: the number that `Moment.without` and `later` take.
    """
    history = History.at(itinerary, opened.dataset, opened.checkins)
    number_H = itinerary.numbers(opened.checkins)
    recorded = np.flatnonzero((number_H >= 0) & (history.trajectory_H == history.trajectory_H[-1]))
    shown = np.append(recorded[-SHOWN_STOPS:], np.flatnonzero(number_H < 0))
    stops = _stops(opened, history.poi_H[shown], history.local_seconds_H[shown].astype("datetime64[s]"), -1)
    first_row = itinerary.row + 1 - len(shown)  # the last stop has the itinerary's row, as in its prediction
    return Trajectory(history.user, int(history.trajectory_H[-1]), first_row, stops.assign(change=number_H[shown]))


def last_moment(opened: Workspace, trajectory: Trajectory) -> Moment | None:
    """The user's last check-in, if the trajectory has the user's last test case."""
    user_N = opened.cases[c.USER].to_numpy()
    last = int(np.searchsorted(user_N, trajectory.user, side="right")) - 1
    return find_moment(opened.known.dataset, trajectory.user) if last in trajectory.cases else None


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
