"""Coarse shores and waters of the whole world, finer near towns (licence in NOTICE)."""

from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq
import shapely

from analysis.basemap.document import OPENSTREETMAP, Basemap, Box, box_of, compose
from recap import columns as c
from recap.storage.user_folder import data_path

UNITS_PER_DEGREE: Final = 10_000
DETAIL: Final = 4_000
"""In a wide box, leave out details smaller than this share of its width."""
ON_LAND: Final = 0.5
"""At least this share of places must be on land; otherwise the coordinates are not of a real city."""


def shores(latitude: np.ndarray, longitude: np.ndarray) -> Basemap | None:
    """Water and shore around a dataset's places (degrees, longitudes unwrapped); None if they are not on land."""
    if not len(latitude):
        return None
    box = box_of(latitude, longitude)
    land = land_in(box)
    shapely.prepare(land)
    every = max(len(latitude) // 2_000, 1)
    if shapely.contains_xy(land, longitude[::every], latitude[::every]).mean() < ON_LAND:
        return None
    frame = shapely.box(*box)
    inner = frame.buffer(-1.0 / UNITS_PER_DEGREE)
    layers: dict[str, list[tuple[dict[str, Any], Any]]] = {
        "water": [({"kind": "sea"}, frame.difference(land))],
        "shore": [({}, shapely.line_merge(land.boundary.intersection(inner)))],
    }
    return compose(layers, OPENSTREETMAP)


def land_in(box: Box) -> Any:
    """All land in a box as one shapely geometry; a wide box has fewer details."""
    west, south, east, north = box
    detail = max(east - west, north - south) / DETAIL
    rings, is_hole, (low_x, low_y, high_x, high_y) = _read()
    land: list[Any] = []
    lakes: list[Any] = []
    for turn in (-360.0, 0.0, 360.0):
        near = (high_x + turn > west) & (low_x + turn < east) & (high_y > south) & (low_y < north)
        near &= np.maximum(high_x - low_x, high_y - low_y) > 3 * detail
        for ring in np.flatnonzero(near):
            points = rings[ring] / UNITS_PER_DEGREE + [turn, 0.0]
            if detail > 2 / UNITS_PER_DEGREE:
                points = shapely.get_coordinates(
                    shapely.simplify(shapely.LineString(points), detail, preserve_topology=False)
                )
            points = _clip(points, box)
            if len(points) > 2:
                # A cut ring may touch itself along the box, and a thinned one may cross itself.
                (lakes if is_hole[ring] else land).append(shapely.make_valid(shapely.Polygon(points)))
    return shapely.difference(_union(land), _union(lakes))


def _union(pieces: list[Any]) -> Any:
    """The union of all polygons, as one valid geometry."""
    parts = shapely.get_parts(shapely.get_parts(pieces))
    return shapely.union_all(parts[shapely.get_type_id(parts) == shapely.GeometryType.POLYGON])


def _clip(points: np.ndarray, box: Box) -> np.ndarray:
    """Clip a ring at the four sides of a box (Sutherland and Hodgman, 1974).

    Building a continent's polygon first would take seconds.
    """
    for side, limit in enumerate(box):
        axis = side % 2
        beyond = points[:, axis] < limit if side < 2 else points[:, axis] > limit
        after, after_beyond = np.roll(points, -1, axis=0), np.roll(beyond, -1)
        crosses = beyond != after_beyond
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (limit - points[:, axis]) / (after[:, axis] - points[:, axis])
            cuts = points + share[:, None] * (after - points)
        kept = np.stack([~beyond, crosses], axis=1)
        points = np.stack([points, cuts], axis=1)[kept]
        if not len(points):
            break
    return points


@cache
def _read() -> tuple[list[np.ndarray], np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Points of every ring as [longitude, latitude] in units, whether it is a hole, and its box in degrees."""
    table = pq.read_table(data_path("analysis.basemap", "shores.parquet"))
    ring, x, y = (table.column(name).to_numpy() for name in ("ring", c.LONGITUDE, c.LATITUDE))
    starts = np.flatnonzero(np.r_[True, ring[1:] != ring[:-1]])
    extremes = [
        reduce.reduceat(values, starts) / UNITS_PER_DEGREE
        for reduce, values in ((np.minimum, x), (np.minimum, y), (np.maximum, x), (np.maximum, y))
    ]
    rings = np.split(np.column_stack([x, y]), starts[1:])
    is_hole = table.column("is_hole").to_numpy()[starts]
    return rings, is_hole, (extremes[0], extremes[1], extremes[2], extremes[3])
