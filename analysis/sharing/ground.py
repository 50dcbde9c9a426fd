"""The ground of shared maps in map units: a city's own layers, and dots for places that many people know.

Units are web-mercator pixels at zoom 12 from a middle that no file reveals, x to the east and y to the south, to a
tenth.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
import shapely
from shapely.geometry import mapping, shape

from analysis.basemap.document import FILLS, parts_of
from analysis.geography import Camera, screen_offsets
from recap.config import Config
from recap.privacy import Generalisation

ZOOM: Final = 12.0
_MAX_DOTS: Final = 3000
SHOWN: Final = ("water", "shore")
PART_OF_A_CELL: Final = 8
"""The shore keeps to within a cell's side divided by this: 280 m for cells of 2 km."""

MapPoint = tuple[float, float]
Frame = tuple[float, float, float, float]
"""Left, top, width, height in map units."""


class GroundLayer(Config):
    """One layer of the city: polygons as rings, the outer one first, or lines."""

    name: str
    kind: Literal["fill", "line"]
    parts: list[list[list[MapPoint]]]


class Ground(Config):
    layers: list[GroundLayer]
    dots: list[MapPoint]
    credit: str = ""
    """Whose data the layers are; empty where none is shown."""

    @property
    def outlines(self) -> list[tuple[str, str]]:
        """CSS class and SVG path of each layer and of the dots."""
        drawn = [
            (
                f"{layer.kind} {layer.name}",
                "".join(svg_path(r, close=layer.kind == "fill") for p in layer.parts for r in p),
            )
            for layer in self.layers
        ]
        dots = "".join(f"M{x:g} {y:g}h0" for x, y in self.dots)
        return [(css, d) for css, d in (*drawn, ("dots dots", dots)) if d]


class Projection:
    """From degrees to map units, around every place that may be shown; longitudes are unwrapped, NaN is left out."""

    def __init__(self, latitude: np.ndarray, longitude: np.ndarray) -> None:
        known = np.isfinite(latitude) & np.isfinite(longitude)
        middle = (float(np.median(latitude[known])), float(np.median(longitude[known]))) if known.any() else (0.0, 0.0)
        self._camera = Camera(*middle, ZOOM)
        self.is_empty = not known.any()

    def points(self, latitude: np.ndarray, longitude: np.ndarray) -> list[MapPoint]:
        x, y = screen_offsets(self._camera, np.asarray(latitude, float), np.asarray(longitude, float))
        return [(round(float(a), 1), round(float(b), 1)) for a, b in zip(x, y, strict=True)]


def shareable_layers(
    basemap: Mapping[str, Any] | None, rule: Generalisation | None, *, invented: bool, hides_places: bool
) -> Mapping[str, Any] | None:
    """The layers that a file may show.

    A shore reveals where on Earth a map is, and so do the names of places that many people visit. If the user's own
    places are only cells, nothing else may reveal where these are, so there is no shore.

    Args:
        rule: how places are shown; None shows everything as recorded.
        invented: whether the city is, and so has no place on Earth.
        hides_places: whether the user's own places are cells too.
    """
    if basemap is None or rule is None or invented:
        return basemap
    if hides_places:
        return None
    layers = {name: basemap["layers"][name] for name in SHOWN if name in basemap["layers"]}
    coarse = {name: _coarsened(layer, rule.cell_degrees / PART_OF_A_CELL) for name, layer in layers.items()}
    return {**basemap, "layers": coarse, "order": [name for name in basemap["order"] if name in coarse]}


def _coarsened(layer: Mapping[str, Any], step: float) -> dict[str, Any]:
    """Every geometry on a grid of this step in degrees, without parts smaller than a grid square."""
    whole = [shapely.set_precision(shape(feature["geometry"]).simplify(step), step) for feature in layer["features"]]
    kept = [geometry for geometry in whole if not geometry.is_empty]
    return {"features": [{"type": "Feature", "properties": {}, "geometry": mapping(geometry)} for geometry in kept]}


def draw_svg_ground(
    projection: Projection,
    basemap: Mapping[str, Any] | None,
    latitude: np.ndarray,
    longitude: np.ndarray,
    frames: list[Frame],
) -> Ground:
    """The city's own layers inside the frames, and dots for places of at least k people (in degrees)."""
    if not frames:
        return Ground(layers=[], dots=[])
    layers, drawn = [], {} if basemap is None else basemap["layers"]
    for name in [] if basemap is None else basemap["order"]:
        whole = ([_projected(projection, ring) for ring in part] for _, part in parts_of(name, drawn[name]))
        parts = [part for part in whole if any(_touches(part[0], frame) for frame in frames)]
        layers.append(GroundLayer(name=name, kind="fill" if name in FILLS else "line", parts=parts))
    dots = [dot for dot in projection.points(latitude, longitude) if any(_is_in(dot, frame) for frame in frames)]
    every = -(-len(dots) // _MAX_DOTS) if dots else 1
    credit = str((basemap or {}).get("attribution", "")) if any(layer.parts for layer in layers) else ""
    return Ground(layers=layers, dots=dots[::every], credit=credit)


def svg_path(points: list[MapPoint], *, close: bool = False) -> str:
    """A path with relative steps, to keep a city's file small."""
    steps = [
        f"{round(to[0] - start[0], 1):g} {round(to[1] - start[1], 1):g}"
        for start, to in pairwise(points)
        if to != start
    ]
    return f"M{points[0][0]:g} {points[0][1]:g}l{' '.join(steps) or '0 0'}{'z' if close else ''}"


def _projected(projection: Projection, line: list[list[float]]) -> list[MapPoint]:
    degrees = np.array(line, dtype=np.float64)
    return projection.points(degrees[:, 1], degrees[:, 0])


def _is_in(point: MapPoint, frame: Frame) -> bool:
    left, top, width, height = frame
    return left <= point[0] <= left + width and top <= point[1] <= top + height


def _touches(line: list[MapPoint], frame: Frame) -> bool:
    x, y = [p[0] for p in line], [p[1] for p in line]
    left, top, width, height = frame
    return min(x) <= left + width and max(x) >= left and min(y) <= top + height and max(y) >= top
