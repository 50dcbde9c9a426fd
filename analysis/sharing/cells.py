"""Grid cells that replace places: the smallest with k people, their names, and a point that is not a place.

Cells are squares with sides of 1, 2, 4, ... times the rule's, in degrees, on one grid for the whole earth.
"""

import string
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from analysis.sharing.traces import Traces
from recap.privacy import KM_PER_DEGREE, Generalisation, users_per_group

NEAR_KM: Final = 0.1
"""Least distance between a cell's point and any place shown as a cell."""
_LEVELS: Final = 8
_LATTICE: Final = 21


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of places: level (-1 for a place without a cell), row, column and side in degrees."""

    latitude: np.ndarray
    longitude: np.ndarray
    level: np.ndarray
    row: np.ndarray
    column: np.ndarray
    side: np.ndarray
    _points: dict[tuple[int, int, int], tuple[float, float] | None] = field(default_factory=dict)

    @classmethod
    def assign(
        cls, latitude: np.ndarray, longitude: np.ndarray, traces: Traces, hidden: np.ndarray, rule: Generalisation
    ) -> "Cells":
        """The smallest cell around each hidden place in which k people were at hidden places."""
        size = len(latitude)
        zeros = np.zeros(size, dtype=np.int64)
        cells = cls(latitude, longitude, zeros - 1, zeros.copy(), zeros.copy(), np.ones(size))
        here = hidden[traces.poi]
        user, poi = traces.user[here], traces.poi[here]
        for level in range(_LEVELS):
            side = rule.cell_degrees * 2**level
            row, column = (np.floor(degrees / side).astype(np.int64) for degrees in (latitude, longitude))
            cell = codes_of(row, column)
            people = users_per_group(user, cell[poi], int(cell.max(initial=-1)) + 1)
            new = hidden & (cells.level < 0) & (people[cell] >= rule.min_users)
            cells.level[new], cells.row[new], cells.column[new], cells.side[new] = level, row[new], column[new], side
        return cells

    @property
    def code(self) -> np.ndarray:
        """One number for each cell, and for each place without a cell."""
        return codes_of(self.level, self.row, self.column)

    def bounds(self, poi: int) -> tuple[float, float, float, float] | None:
        """South, west, north, east; None without a cell."""
        if self.level[poi] < 0:
            return None
        south, west, side = (float(value) for value in (self.row[poi], self.column[poi], self.side[poi]))
        return south * side, west * side, (south + 1) * side, (west + 1) * side

    def covers(self, poi: int) -> np.ndarray:
        row, column = (np.floor(degrees / self.side[poi]) for degrees in (self.latitude, self.longitude))
        return np.asarray((row == self.row[poi]) & (column == self.column[poi]))

    def label(self, poi: int) -> str:
        """Letters from west to east and numbers from north to south; a larger cell also has its side."""
        same = self.level == self.level[poi]
        west, north = self.column[same].min(), self.row[same].max()
        text = f"{_letters(int(self.column[poi] - west))}{int(north - self.row[poi]) + 1}"
        return text if self.level[poi] == 0 else f"{text} of {float(self.side[poi]) * KM_PER_DEGREE:.0f} km"

    def point(self, poi: int) -> tuple[float, float] | None:
        """The middle of the cell or, if that is near a hidden place, the point farthest from all of them."""
        key = int(self.level[poi]), int(self.row[poi]), int(self.column[poi])
        if key not in self._points:
            self._points[key] = self._point_apart(poi)
        return self._points[key]

    def _point_apart(self, poi: int) -> tuple[float, float] | None:
        bounds = self.bounds(poi)
        if bounds is None:
            return None
        south, west, north, east = bounds
        steps = (np.arange(_LATTICE) + 0.5) / _LATTICE
        lat, lon = (grid.ravel() for grid in np.meshgrid(south + (north - south) * steps, west + (east - west) * steps))
        margin, hidden = north - south, self.level >= 0
        hidden &= (np.abs(self.latitude - (south + north) / 2) <= margin) & (
            np.abs(self.longitude - (west + east) / 2) <= margin
        )
        d_lat = lat[:, None] - self.latitude[hidden]
        d_lon = (lon[:, None] - self.longitude[hidden]) * np.cos(np.radians((south + north) / 2))
        apart = KM_PER_DEGREE * np.sqrt((d_lat**2 + d_lon**2).min(axis=1, initial=margin))
        middle = len(lat) // 2
        best = middle if apart[middle] > 2 * NEAR_KM else int(apart.argmax())
        return (round(float(lat[best]), 6), round(float(lon[best]), 6)) if apart[best] > 1.5 * NEAR_KM else None


def codes_of(*columns: np.ndarray) -> np.ndarray:
    """One code from 0 for each distinct combination of integer columns.

    >>> codes_of(np.array([5, 5, 7]), np.array([1, 1, 0])).tolist()
    [0, 0, 1]
    """
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, inverse = np.unique(column, return_inverse=True)
        code = np.unique(code * (len(values) + 1) + inverse, return_inverse=True)[1]
    return np.asarray(code)


def _letters(number: int) -> str:
    """0 is A, 25 Z, 26 AA."""
    text = ""
    while number >= 0:
        text = string.ascii_uppercase[number % 26] + text
        number = number // 26 - 1
    return text
