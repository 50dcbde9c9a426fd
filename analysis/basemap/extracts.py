"""Read a user's own OpenStreetMap extract: `.osm.pbf` with osmium, or GeoJSON."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import shapely

from analysis.basemap.features import KEYS, Tagged
from recap.errors import DataError

_MAX_BYTES: Final = {".pbf": 1_500_000_000, ".geojson": 300_000_000}
INSTALL_OSMIUM: Final = 'pip install "recap-mobility[osm]"'


def read_extract(path: Path) -> Iterator[Tagged]:
    """The tagged geometries of an extract.

    DataError: its kind is unknown, it is too large or unreadable, or osmium is not installed.
    """
    kind = ".geojson" if path.suffix.lower() == ".json" else path.suffix.lower()
    if kind not in _MAX_BYTES:
        raise DataError(f"{path.name} should end in .osm.pbf, .geojson or .json")
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    if path.stat().st_size > _MAX_BYTES[kind]:
        raise DataError(
            f"{path.name} has {path.stat().st_size / 1e6:,.0f} MB, at most {_MAX_BYTES[kind] / 1e6:,.0f} are read; "
            "cut it to your city first (osmium extract --bbox)"
        )
    return _read_pbf(path) if kind == ".pbf" else _read_geojson(path)


def _read_geojson(path: Path) -> Iterator[Tagged]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path.name} is not JSON ({str(error)[:80]})") from error
    features = document.get("features") if isinstance(document, dict) else None
    if not isinstance(features, list):
        raise DataError(f"{path.name} should be a GeoJSON FeatureCollection with a list of `features`")
    for number, feature in enumerate(features):
        properties = feature.get("properties") if isinstance(feature, dict) else None
        if not isinstance(properties, dict) or not feature.get("geometry"):
            continue
        nested = properties.get("tags")
        tags = nested if isinstance(nested, dict) else properties
        try:
            geometry = shapely.from_geojson(json.dumps(feature["geometry"]))
        except (shapely.GEOSException, ValueError, RecursionError) as error:
            raise DataError(f"{path.name}, feature {number}: no geometry ({str(error)[:80]})") from error
        yield {str(key): str(value) for key, value in tags.items()}, geometry


def _read_pbf(path: Path) -> Iterator[Tagged]:
    try:
        import osmium
    except ImportError as error:
        raise DataError(f"reading {path.name} needs osmium: {INSTALL_OSMIUM} (GeoJSON needs nothing)") from error
    wanted = osmium.filter.KeyFilter(*KEYS)
    shapes = osmium.geom.WKBFactory()
    try:
        for item in osmium.FileProcessor(str(path)).with_areas(wanted).with_filter(wanted):
            geometry = _shape(item, shapes)
            if geometry is not None:
                yield {tag.k: tag.v for tag in item.tags}, geometry
    except RuntimeError as error:  # what osmium raises for a file that is damaged
        raise DataError(f"{path.name} cannot be read as .osm.pbf ({str(error)[:80]})") from error


def _shape(item: Any, shapes: Any) -> Any | None:
    """The geometry of a way or an area; None for other and incomplete objects."""
    try:
        if item.is_way():
            return shapely.from_wkb(shapes.create_linestring(item))
        return shapely.from_wkb(shapes.create_multipolygon(item)) if item.is_area() else None
    except (RuntimeError, shapely.GEOSException):
        return None
