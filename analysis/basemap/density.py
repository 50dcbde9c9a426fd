"""Areas where a dataset's places are dense, computed when a map is drawn."""

from typing import Any, Final

import numpy as np
import shapely
from scipy.ndimage import gaussian_filter

from analysis.basemap.document import Basemap, Box, box_of, compose

_CELLS: Final = 160
SPREAD_CELLS: Final = 1.3
_LEVELS: Final = (0.35, 0.65, 0.88)
"""Quantiles of density: the outermost area holds 65 % of the places, the innermost 12 %."""
_DRAWN_STREETS: Final = {"district", "street"}


def with_density(basemap: Basemap | None, latitude: np.ndarray, longitude: np.ndarray) -> Basemap | None:
    """Add areas of dense places to a ground without streets; of every place's degrees, longitudes unwrapped."""
    if (basemap is not None and _DRAWN_STREETS & set(basemap["layers"])) or len(latitude) < 50:
        return basemap
    made = compose({"density": density_areas(latitude, longitude, box_of(latitude, longitude))})
    if basemap is None:
        return made
    return basemap | {"order": made["order"] + basemap["order"], "layers": made["layers"] | basemap["layers"]}


def density_areas(latitude: np.ndarray, longitude: np.ndarray, box: Box) -> list[tuple[dict[str, Any], Any]]:
    """Nested areas from the outermost inwards, each with its ``level`` from 1."""
    west, south, east, north = box
    edges = np.linspace(west, east, _CELLS + 1), np.linspace(south, north, _CELLS + 1)
    count, _, _ = np.histogram2d(longitude, latitude, bins=edges)
    smooth = gaussian_filter(count, SPREAD_CELLS)
    inside = (longitude >= west) & (longitude < east) & (latitude >= south) & (latitude < north)
    column, row = (
        np.searchsorted(edge, values[inside], side="right") - 1
        for edge, values in zip(edges, (longitude, latitude), strict=True)
    )
    own = smooth[np.minimum(column, _CELLS - 1), np.minimum(row, _CELLS - 1)]
    cell = (east - west) / _CELLS
    shapes = []
    for level, limit in enumerate(np.quantile(own, _LEVELS), 1):
        columns, rows = np.nonzero(smooth >= limit)
        squares = shapely.box(edges[0][columns], edges[1][rows], edges[0][columns + 1], edges[1][rows + 1])
        area = (
            shapely.union_all(squares)
            .buffer(cell, quad_segs=3)
            .buffer(-1.4 * cell, quad_segs=3)
            .buffer(0.4 * cell, quad_segs=3)
        )
        shapes.append(({"level": level}, shapely.simplify(area, cell / 8)))
    return shapes
