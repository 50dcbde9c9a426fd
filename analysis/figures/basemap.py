"""The ground of a map: a MapLibre style with everything inline, so nothing is fetched.

It shows a city's own GeoJSON layers, if there are any, and every place as a faint dot. Longitudes are unwrapped, so no
feature breaks at the date line. Requested street tiles cover these layers, which stay visible if a tile fails to load.
"""

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from analysis.figures.palette import Palette, Theme, mix
from analysis.geography import aggregate_points
from recap.arithmetic.geodesy import distance_km

if TYPE_CHECKING:
    from scipy import sparse

MAX_DOTS: Final = 20_000
_MOST_WAYS: Final = 3_000
_LONGEST_WAY_KM: Final = 2.0
_ROUND_ENDS: Final = {"line-cap": "round", "line-join": "round"}
TILE_HOST: Final = "https://basemaps.cartocdn.com"
TILE_STYLES: Final[dict[Theme, str]] = {"light": "light_all", "dark": "dark_all"}
TILES_CREDIT: Final = "© OpenStreetMap contributors © CARTO"
STREETS_OFFER: Final = "Add streets: recap app --online-map"
"""In the corner of a map without streets."""


def basemap_style(
    basemap: Mapping[str, Any] | None,
    latitude: np.ndarray,
    longitude: np.ndarray,
    palette: Palette,
    *,
    tiles: bool = False,
    ways: np.ndarray | None = None,
) -> str:
    """The map style as JSON text.

    Args:
        basemap: from `find_basemap`, or None.
        latitude, longitude: of every place, degrees.
        tiles: fetch street tiles; their provider sees which area is shown.
        ways: pairs of places (W, 2) to join by faint lines, most frequent first, for a city without streets.
    """
    layers: list[dict[str, Any]] = [_layer("background", "background", {"background-color": palette.land})]
    sources: dict[str, Any] = {}
    if basemap is not None:
        for name, layer in _city_layers(palette):
            if name in basemap["layers"]:
                sources[name] = {"type": "geojson", "data": _geometry_and_kind(basemap["layers"][name])}
                if basemap.get("attribution"):
                    sources[name]["attribution"] = _credit(str(basemap["attribution"]))
                layers.append({"source": name} | layer)
    if tiles:
        address = f"{TILE_HOST}/{TILE_STYLES[palette.theme]}/{{z}}/{{x}}/{{y}}@2x.png"
        sources["tiles"] = {
            "type": "raster",
            "tiles": [address],
            "tileSize": 256,
            "maxzoom": 20,
            "attribution": _credit(TILES_CREDIT),
        }
        layers.append({"source": "tiles"} | _layer("tiles", "raster", {"raster-fade-duration": 0}))
    if ways is not None and not tiles:
        ends = np.stack([longitude[ways], latitude[ways]], axis=-1).round(5)
        quarters = list(enumerate(np.array_split(ends, 4)))[::-1]  # the most frequent ones on top
        sources["ways"] = _source(
            "MultiLineString", (({"quarter": quarter}, part.tolist()) for quarter, part in quarters)
        )
        sources["ways"]["attribution"] = _credit(STREETS_OFFER)
        # Solid colours: where many lines cross, transparent ones would add up to a dark tangle.
        first, second, others = (mix(palette.quiet, palette.land, strength) for strength in (0.4, 0.26, 0.16))
        look = {
            "line-color": ["match", ["get", "quarter"], 0, first, 1, second, others],
            "line-width": _width(0.6, 2.4),
        }
        layers.append({"source": "ways"} | _layer("ways", "line", look, _ROUND_ENDS))
    lat, lon, count = aggregate_points(latitude, longitude, MAX_DOTS)
    dots = [round(float(value), 5) for pair in zip(lon, lat, strict=True) for value in pair]
    points = [dots[i : i + 2] for i in range(0, len(dots), 2)]
    numbers = np.unique(count)  # one feature for each number of places at a point, to keep the list short
    there = ([point for point, n in zip(points, count, strict=True) if n == number] for number in numbers)
    sources["places"] = _source("MultiPoint", zip(({"n": int(n)} for n in numbers), there, strict=True))
    size = ["*", 1.15 if basemap is not None else 1.5, ["sqrt", ["min", ["get", "n"], 16]]]
    paint = {
        "circle-color": palette.quiet,
        "circle-opacity": 0.28 if basemap is not None else 0.34,
        "circle-radius": ["interpolate", ["linear"], ["zoom"], 9, ["*", 0.7, size], 15, ["*", 2.0, size]],
    }
    layers.append({"source": "places"} | _layer("places", "circle", paint))
    style = {"version": 8, "sources": sources, "layers": layers}
    return json.dumps(style, separators=(",", ":"))


def has_streets(basemap: Mapping[str, Any] | None) -> bool:
    return basemap is not None and bool({"street", "road"} & set(basemap["layers"]))


def frequent_ways(counts: "sparse.csr_array", latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """The most frequent transitions between places at most `_LONGEST_WAY_KM` apart, (W, 2), at most `_MOST_WAYS`."""
    table = counts.tocoo()
    km = distance_km(latitude[table.row], longitude[table.row], latitude[table.col], longitude[table.col])
    kept = np.flatnonzero((table.data > 1) & (km > 0) & (km <= _LONGEST_WAY_KM))
    first = kept[np.argsort(-table.data[kept], kind="stable")][:_MOST_WAYS]
    return np.column_stack([table.row[first], table.col[first]])


def _source(kind: str, parts: Iterable[tuple[dict[str, Any], list[Any]]]) -> dict[str, Any]:
    """Features of one kind of geometry from (properties, coordinates)."""
    features = [
        {"type": "Feature", "properties": properties, "geometry": {"type": kind, "coordinates": coordinates}}
        for properties, coordinates in parts
    ]
    return {"type": "geojson", "data": {"type": "FeatureCollection", "features": features}}


def _geometry_and_kind(collection: Mapping[str, Any]) -> dict[str, Any]:
    """A layer with only the properties that the style reads."""
    features = [
        {
            "type": "Feature",
            "properties": {
                key: value for key, value in f["properties"].items() if key in ("shade", "rank", "carries", "level")
            },
            "geometry": f["geometry"],
        }
        for f in collection["features"]
    ]
    return {"type": "FeatureCollection", "features": features}


def _layer(name: str, kind: str, paint: dict[str, Any], layout: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"id": name, "type": kind, "paint": paint} | ({"layout": layout} if layout else {})


def _width(at_10: float, at_15: float) -> list[Any]:
    return ["interpolate", ["exponential", 1.6], ["zoom"], 10, at_10, 15, at_15]


def _credit(text: str) -> str:
    """A map writes it into a list, which must have items, on a light ground in both themes."""
    return f'<span role="listitem" style="color: #1c2024">{escape(text)}</span>'


def _city_layers(palette: Palette) -> list[tuple[str, dict[str, Any]]]:
    """Layers from the bottom up, each with its GeoJSON source."""
    shade = ["match", ["get", "shade"], 1, palette.district, palette.land]
    wide = ["match", ["get", "rank"], 1, 1.0, 0.7]
    road = {"line-color": palette.road, "line-width": _width(1.2, 6.0), "line-opacity": wide}
    casing = {"line-color": palette.road_casing, "line-width": _width(2.0, 8.0), "line-opacity": wide}
    rail = {"line-color": palette.road_casing, "line-width": _width(0.8, 2.0), "line-dasharray": [3, 2]}
    ferry = {"line-color": palette.shore, "line-width": _width(0.8, 1.6), "line-dasharray": [2, 3]}
    density = [
        "match",
        ["get", "level"],
        *(x for level in (1, 2, 3) for x in (level, palette.density(level))),
        palette.land,
    ]
    return [
        ("density", _layer("density", "fill", {"fill-color": density})),
        ("district", _layer("district", "fill", {"fill-color": shade})),
        ("park", _layer("park", "fill", {"fill-color": palette.park})),
        ("airfield", _layer("airfield", "fill", {"fill-color": palette.park}) | {"filter": _POLYGONS}),
        ("airfield", _layer("runway", "line", casing) | {"filter": _LINES}),
        (
            "street",
            _layer("street", "line", {"line-color": palette.street, "line-width": _width(0.5, 3.0)}, _ROUND_ENDS),
        ),
        ("water", _layer("water", "fill", {"fill-color": palette.water})),
        ("quay", _layer("quay", "fill", {"fill-color": palette.land})),
        ("shore", _layer("shore", "line", {"line-color": palette.shore, "line-width": 1}, _ROUND_ENDS)),
        ("ferry", _layer("ferry", "line", ferry)),
        ("rail", _layer("rail", "line", rail)),
        ("road", _layer("road-casing", "line", casing, _ROUND_ENDS)),
        ("road", _layer("road", "line", road, _ROUND_ENDS)),
        ("bridge", _layer("bridge-casing", "line", casing, _ROUND_ENDS)),
        ("bridge", _layer("bridge", "line", {"line-color": palette.road, "line-width": _width(1.2, 6.0)}, _ROUND_ENDS)),
    ]


_POLYGONS: Final = ["==", ["geometry-type"], "Polygon"]
_LINES: Final = ["==", ["geometry-type"], "LineString"]
