"""Turn OpenStreetMap objects into layers, within a box and a limit of points."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import shapely

from analysis.basemap.document import LAYERS, OPENSTREETMAP, Basemap, Box, compose
from analysis.basemap.shores import areas, land_in
from recap.errors import DataError
from recap.machine.printable import one_line

MAX_POINTS: Final = 250_000
FINEST_DEG: Final = 0.00003
"""Three metres: lines are simplified to this before anything is left out."""
KEYS: Final = ("natural", "waterway", "leisure", "landuse", "highway", "railway", "place")
_ROADS: Final = {"motorway": 1, "trunk": 1, "primary": 1, "secondary": 2, "tertiary": 2}
_STREETS: Final = ("residential", "unclassified", "living_street", "pedestrian")
_RAILS: Final = ("rail", "light_rail", "subway", "tram")
_GREEN: Final = {
    "leisure": ("park", "garden", "nature_reserve", "golf_course"),
    "landuse": ("cemetery", "forest", "grass", "recreation_ground", "meadow"),
    "natural": ("wood",),
}
_DISTRICTS: Final = ("neighbourhood", "quarter", "suburb")
_WATER: Final = {"natural": ("water",), "waterway": ("riverbank",), "landuse": ("reservoir", "basin")}

Tagged = tuple[Mapping[str, str], Any]
"""An object's tags and its geometry in degrees, longitude first."""


def layer_of(tags: Mapping[str, str], *, is_area: bool) -> tuple[str, dict[str, Any]] | None:
    """The layer and properties of an object; None for what the map does not show."""
    if is_area:
        for layer, wanted in (("water", _WATER), ("park", _GREEN)):
            if any(tags.get(key) in values for key, values in wanted.items()):
                return layer, {"kind": "lake"} if layer == "water" else {}
        name = one_line(tags.get("name", ""))
        return ("district", {"name": name}) if name and tags.get("place") in _DISTRICTS else None
    if tags.get("natural") == "coastline":
        return "shore", {}
    if tags.get("highway", "").removesuffix("_link") in _ROADS:
        return "road", {"rank": _ROADS[tags["highway"].removesuffix("_link")]}
    if tags.get("highway") in _STREETS:
        return "street", {}
    return ("rail", {}) if tags.get("railway") in _RAILS and tags.get("tunnel") != "yes" else None


def draw_features(features: Iterable[Tagged], box: Box, attribution: str = OPENSTREETMAP) -> Basemap:
    """The basemap of all objects within a box.

    DataError: nothing in the box can be drawn, or it has too many points even when thinned.
    """
    found: dict[tuple[str, int | str], list[Any]] = {}
    for tags, geometry in features:
        is_area = geometry.geom_type in ("Polygon", "MultiPolygon")
        layer = layer_of(tags, is_area=is_area)
        if layer is not None and _meets(geometry, box):
            found.setdefault((layer[0], layer[1].get("name") or layer[1].get("rank", 0)), []).append(geometry)
    if not found:
        raise DataError(
            "the file has no shore, water, park, street, road or rail within the dataset's box "
            f"({_degrees(box)}); is it an extract of the same city, with its OpenStreetMap tags?"
        )
    frame = shapely.box(*box)
    merged = {key: _merge(pieces, frame) for key, pieces in found.items()}
    sea = _sea(found[("shore", 0)], frame) if ("shore", 0) in found else frame.difference(land_in(box))
    return _within_budget(merged, sea, box, attribution)


def _merge(pieces: list[Any], frame: Any) -> Any:
    if pieces[0].geom_type in ("Polygon", "MultiPolygon"):
        return areas([shapely.make_valid(piece) for piece in pieces]).intersection(frame)
    return shapely.line_merge(shapely.intersection(shapely.multilinestrings(_lines(pieces)), frame))


def _lines(pieces: list[Any]) -> list[Any]:
    parts = shapely.get_parts(pieces)
    return list(parts[shapely.get_type_id(parts) == shapely.GeometryType.LINESTRING])


def _within_budget(merged: dict[tuple[str, int | str], Any], sea: Any, box: Box, attribution: str) -> Basemap:
    """Simplify lines until there are few enough points; small streets go first."""
    for attempt in range(6):
        tolerance = FINEST_DEG * 2**attempt
        layers: dict[str, list[tuple[dict[str, Any], Any]]] = {name: [] for name in LAYERS}
        for (name, which), geometry in sorted(merged.items()):  # of one layer all have a rank, or all a name
            if not (attempt > 1 and name == "street"):
                properties = {"name": which} if isinstance(which, str) else {"rank": which} if which else {}
                layers[name].append((properties, shapely.simplify(geometry, tolerance)))
        layers["water"].insert(0, ({"kind": "sea"}, shapely.simplify(sea, tolerance)))
        if (
            sum(shapely.get_num_coordinates(geometry) for layer in layers.values() for _, geometry in layer)
            <= MAX_POINTS
        ):
            return compose(layers, box, attribution)
    raise DataError(f"the extract has more than {MAX_POINTS:,} points in the box even when thinned; cut it to the city")


def _sea(coast: list[Any], frame: Any) -> Any:
    """The faces between coast and frame on the right of the coast, where OpenStreetMap has the sea."""
    lines = shapely.line_merge(shapely.multilinestrings(_lines(coast)), directed=True)
    cut = shapely.get_parts(shapely.intersection(lines, frame))
    cut = cut[shapely.get_type_id(cut) == shapely.GeometryType.LINESTRING]
    if not len(cut):
        return shapely.Polygon()
    faces = shapely.get_parts(shapely.polygonize([shapely.union_all([*cut, frame.boundary])]))
    wet, dry = np.zeros(len(faces), bool), np.zeros(len(faces), bool)
    tree = shapely.STRtree(faces)
    for points in map(shapely.get_coordinates, cut):
        start, end = points[:-1], points[1:]
        along = end - start
        length = np.hypot(*along.T)
        middle, aside = (
            (start + end) / 2,
            np.column_stack([along[:, 1], -along[:, 0]]) / np.maximum(length, 1e-12)[:, None],
        )
        for side, votes in ((1e-6, wet), (-1e-6, dry)):
            _, hit = tree.query(shapely.points(middle + side * aside), predicate="within")
            votes[hit] = True
    return shapely.union_all(faces[wet & ~dry])


def _meets(geometry: Any, box: Box) -> bool:
    west, south, east, north = geometry.bounds
    return not (geometry.is_empty or east < box[0] or west > box[2] or north < box[1] or south > box[3])


def _degrees(box: Box) -> str:
    return ", ".join(f"{value:.2f}" for value in box)
