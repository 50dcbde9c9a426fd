"""How an export shows every place of a dataset: as it is, or as a grid cell with k people.

A place that at least k people visited keeps name, category and coordinates. Any other is shown as the smallest cell in
which k people were at such places. It keeps its category if k people were at such places of that category in the cell.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from analysis.sharing.cells import Cells, codes_of
from analysis.sharing.traces import Traces, traces_of
from analysis.workspace import Workspace
from recap import columns as c
from recap.data.dataset import Dataset
from recap.machine.printable import one_line
from recap.privacy import Generalisation, users_per_group

_NOWHERE: Final = "a place"
_LONGEST: Final = 60
"""Characters of a category at most, whatever the data says."""


@dataclass(frozen=True, eq=False)
class MaskedPlaces:
    """Every place as an export shows it.

    Attributes:
        latitude, longitude: degrees as recorded.
        name, category: as shown.
        is_cell: shown as a cell, (places,).
        point: int64 code, (places,); equal for places that look the same to a reader.
        blurred: places shown as a cell that may contain any place, see ``hide``.
    """

    latitude: np.ndarray
    longitude: np.ndarray
    name: Mapping[int, str]
    category: Mapping[int, str]
    is_cell: np.ndarray
    cells: Cells | None
    point: np.ndarray
    blurred: frozenset[int] = frozenset()

    @classmethod
    def exact(cls, opened: Workspace) -> "MaskedPlaces":
        number = opened.dataset.num_pois
        return cls(
            latitude=opened.latitude,
            longitude=opened.longitude,
            name=dict(enumerate(opened.labels)),
            category={poi: one_line(str(text))[:_LONGEST] for poi, text in enumerate(opened.dataset.pois[c.CATEGORY])},
            is_cell=np.zeros(number, dtype=bool),
            cells=None,
            point=np.arange(number, dtype=np.int64),
        )

    @classmethod
    def named(cls, names: Mapping[int, str]) -> "MaskedPlaces":
        """Places with known names only."""
        nothing = np.full(max(names, default=-1) + 1, np.nan)
        is_cell = np.zeros(len(nothing), dtype=bool)
        return cls(nothing, nothing, names, dict.fromkeys(names, ""), is_cell, None, np.arange(len(nothing)))

    @classmethod
    def generalised(cls, opened: Workspace, rule: Generalisation, hide: frozenset[int] = frozenset()) -> "MaskedPlaces":
        """Show places of fewer than k people as cells, and those to hide as cells without a category."""
        exact, traces = cls.exact(opened), traces_of(opened.dataset)
        hidden = traces.users_of_place < rule.min_users
        hidden[list(hide)] = True
        if not hidden.any():
            return exact
        cells = Cells.assign(exact.latitude, exact.longitude, traces, hidden, rule)
        kinds, kind = np.unique(np.array(list(exact.category.values())).astype(str), return_inverse=True)
        group = codes_of(cells.code, kind, hidden.astype(np.int64))
        keeps = _keeps_category(group, hidden & (cells.level >= 0), traces, rule)
        keeps[list(hide)] = False
        names, categories, point = dict(exact.name), dict(exact.category), exact.point.copy()
        for poi in np.flatnonzero(hidden).tolist():
            categories[poi] = str(kinds[kind[poi]]) if keeps[poi] else ""
            where = "" if cells.level[poi] < 0 else f" in cell {cells.label(poi)}"
            names[poi] = f"{categories[poi] or _NOWHERE}{where}"
        point[hidden] = len(point) + codes_of(cells.code, np.where(keeps, kind, -1))[hidden]
        return cls(exact.latitude, exact.longitude, names, categories, hidden, cells, point, hide)

    def at(self, poi: int) -> tuple[float, float] | None:
        """Latitude and longitude as shown, or None."""
        if self.is_cell[poi]:
            return None if self.cells is None else self.cells.point(poi)
        point = float(self.latitude[poi]), float(self.longitude[poi])
        return None if np.isnan(point).any() else point

    def bounds(self, poi: int) -> tuple[float, float, float, float] | None:
        """South, west, north and east of the cell; None for a place shown as itself."""
        return self.cells.bounds(poi) if self.is_cell[poi] and self.cells is not None else None

    def alike(self, poi: int) -> np.ndarray:
        """Places that the shown one may be, bool (places,)."""
        if poi in self.blurred and self.cells is not None and self.cells.level[poi] >= 0:
            return self.cells.covers(poi)
        return np.asarray(self.point == self.point[poi])

    def opened(self, opened: Workspace) -> Workspace:
        """The dataset with masked names, for a picture only."""
        points = [self.at(poi) for poi in range(len(self.name))]
        anywhere = next((point for point in points if point is not None), (0.0, 0.0))
        latitude, longitude = np.array([point or anywhere for point in points]).T
        pois = opened.dataset.pois.assign(
            **{
                c.POI_NAME: list(self.name.values()),
                c.CATEGORY: list(self.category.values()),
                c.LATITUDE: latitude,
                c.LONGITUDE: longitude,
            }
        )
        return Workspace(replace(opened.dataset, pois=pois), opened.graph)


def _keeps_category(group: np.ndarray, celled: np.ndarray, traces: Traces, rule: Generalisation) -> np.ndarray:
    """Whether k people were at hidden places of this category in this cell."""
    people = users_per_group(traces.user, group[traces.poi], int(group.max()) + 1)
    return np.asarray(celled & (people[group] >= rule.min_users))


def masked_places(opened: Workspace, rule: Generalisation) -> MaskedPlaces:
    """A dataset's places under a rule, cached; they contain no salt."""
    key = rule.min_users, rule.cell_degrees
    kept = _MASKED.setdefault(opened.dataset, {})
    if key not in kept:
        kept[key] = MaskedPlaces.generalised(opened, rule)
    return kept[key]


_MASKED: WeakKeyDictionary[Dataset, dict[tuple[int, float], MaskedPlaces]] = WeakKeyDictionary()
