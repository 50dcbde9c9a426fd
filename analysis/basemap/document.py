"""A basemap as one JSON document: GeoJSON layers by name, and who owns the data."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import shapely

from recap.errors import DataError
from recap.storage.json_text import read_json

OPENSTREETMAP: Final = "© OpenStreetMap contributors"
FILLS: Final = ("density", "district", "park", "airfield", "water", "quay")
LINES: Final = ("street", "shore", "ferry", "rail", "road", "bridge")
"""Layers of polygons, and of lines; a drawing leaves out others."""
_LAYERS: Final = ("density", "water", "shore")
"""Names of this package's layers, from the bottom up; a stored map has more."""
_MAX_BYTES: Final = 24_000_000
_MARGIN_DEG: Final = (0.1, 3.0)
_DIGITS: Final = 5

Basemap = dict[str, Any]
Box = tuple[float, float, float, float]
"""West, south, east, north in degrees; longitudes exceed 180 in a city that crosses the date line."""


def box_of(latitude: np.ndarray, longitude: np.ndarray) -> Box:
    """The box of a dataset's map: the middle 99 % of its places (degrees, longitudes unwrapped), with a margin."""
    (south, north), (west, east) = (np.quantile(values, (0.005, 0.995)) for values in (latitude, longitude))
    low, high = _MARGIN_DEG
    margin = min(max(north - south, east - west, low), high)
    return (
        float(west - margin),
        max(float(south - margin), -89.0),
        float(east + margin),
        min(float(north + margin), 89.0),
    )


def compose(layers: Mapping[str, list[tuple[dict[str, Any], Any]]], attribution: str = "") -> Basemap:
    """Build a document from shapely geometries with properties, by layer; leave out empty layers."""
    collections = {
        name: {"type": "FeatureCollection", "features": [f for f in map(_feature, layers[name]) if f is not None]}
        for name in _LAYERS
        if name in layers
    }
    kept = {name: collection for name, collection in collections.items() if collection["features"]}
    return {"attribution": attribution, "order": list(kept), "layers": kept}


def _feature(item: tuple[dict[str, Any], Any]) -> dict[str, Any] | None:
    properties, geometry = item
    if geometry.is_empty:
        return None
    rounded = shapely.transform(geometry, lambda points: np.round(points, _DIGITS))
    return {"type": "Feature", "properties": properties, "geometry": json.loads(shapely.to_geojson(rounded))}


def parts_of(name: str, layer: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """A layer's polygons (rings, the outer one first) or lines (one each) in degrees, with the properties of each."""
    wanted = "Polygon" if name in FILLS else "LineString" if name in LINES else ""
    for feature in layer["features"]:
        kind, coordinates = feature["geometry"]["type"], feature["geometry"]["coordinates"]
        if kind.removeprefix("Multi") == wanted:
            for part in coordinates if kind.startswith("Multi") else [coordinates]:
                yield feature["properties"], part if name in FILLS else [part]


def read_basemap(path: Path) -> Basemap:
    """Read a basemap; DataError if the file is missing, too large, or no basemap."""
    try:
        size = path.stat().st_size
        if size > _MAX_BYTES:
            raise DataError(f"{path} has {size / 1e6:.0f} MB, a basemap at most {_MAX_BYTES / 1e6:.0f} MB")
        document = read_json(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read as a basemap ({error})") from error
    problem = _problem(document)
    if problem:
        raise DataError(f"{path} is not a basemap: {problem}")
    return document


def _problem(document: Any) -> str | None:
    layers = document.get("layers") if isinstance(document, dict) else None
    if not isinstance(layers, dict):
        return "it should be one JSON object with `layers`"
    order = document.get("order")
    if not isinstance(order, list) or not all(isinstance(name, str) for name in order) or set(order) != set(layers):
        return "`order` should name its layers"
    for name, collection in layers.items():
        features = collection.get("features") if isinstance(collection, dict) else None
        if not isinstance(features, list):
            return f"layer {name} should be a GeoJSON FeatureCollection"
        for feature in features:
            if not isinstance(feature, dict) or not isinstance(feature.get("properties"), dict):
                return f"a feature of layer {name} has no properties"
            geometry = feature.get("geometry")
            if not isinstance(geometry, dict) or not isinstance(geometry.get("type"), str):
                return f"a feature of layer {name} has no kind of geometry"
            if not _finite(geometry.get("coordinates")):
                return f"a feature of layer {name} has no coordinates"
    return None


def _finite(coordinates: Any) -> bool:
    if isinstance(coordinates, list):
        return bool(coordinates) and all(map(_finite, coordinates))
    return isinstance(coordinates, int | float) and math.isfinite(coordinates)
