"""The demo city's basemap: inline GeoJSON layers."""

from itertools import pairwise
from typing import Any, Final

import numpy as np

from recap.synthetic.city import degrees_of_metres
from recap.synthetic.layout import DISTRICTS, MAP, build_layout
from recap.synthetic.shapes import Line, Point, inside, runs, smooth

_TOWNS: Final = ("town", "village")


def build_basemap() -> dict[str, Any]:
    """The basemap, the same for every seed, for `json.dump`: `name`, `center` [longitude, latitude], `bounds` [west,
    south, east, north] of the built-up area, `order` (layer names from the bottom up) and `layers`, a GeoJSON
    FeatureCollection by name, in degrees with 5 decimals.
    """
    layout = build_layout()
    roads = {name: smooth(line, 2) for name, line in MAP["roads"].items()}
    rails = {name: smooth(line, 2) for name, line in MAP["rails"].items()}
    sea = _polygon([layout.sea, *layout.islands.values()], name="Sea", kind="sea")
    water = [sea, _polygon([layout.river], name="River Lanner", kind="river")]
    water += [_polygon([line], name=name, kind="lake") for name, line in layout.lakes.items()]
    shores = [*_outside(layout.coast, layout.river), *_outside([*layout.river, layout.river[0]], layout.sea)]
    shores += [[*outline, outline[0]] for outline in (*layout.islands.values(), *layout.lakes.values())]
    layers = {
        "district": [
            _polygon([d.outline], name=d.name, kind=d.kind, shade=index % 2) for index, d in enumerate(DISTRICTS)
        ],
        "park": [_polygon([line], name=name) for name, line in layout.parks.items()],
        "airfield": [
            _polygon([MAP["airfield"]], name="Saltmere Airport"),
            _line([MAP["runway"]], name="Runway"),
        ],
        "street": [_line(lines, district=d.name) for d, lines in zip(DISTRICTS, layout.streets, strict=True)],
        "water": water,
        "quay": [_polygon([line], name=name) for name, line in MAP["quays"].items()],
        "shore": [_line(shores)],
        "ferry": [_line([smooth(line, 3)], name=name) for name, line in MAP["ferries"].items()],
        "rail": [_line([line], name=name) for name, line in rails.items()],
        "road": [
            _line([line], name=name, rank=2 if name in ("Harbour Walk", "College Way") else 1)
            for name, line in roads.items()
        ],
        "bridge": [
            _line([span], name=MAP["bridges"][name], carries=carries)
            for carries, lines in (("rail", rails), ("road", roads))
            for name, line in lines.items()
            if name in MAP["bridges"]
            for span in _spans(line, layout.river)
        ],
        "label": [
            *(_point(d.label, name=d.name, kind="town" if d.kind in _TOWNS else "district") for d in DISTRICTS),
            *(_point(at, name=name, kind="park") for name, at in MAP["park_labels"]),
            *(_point(at, name=name, kind="water") for name, at in MAP["water_labels"]),
        ],
    }
    return {
        "name": "Saltmere",
        "center": list(degrees_of_metres((0, 500))),
        "bounds": [*degrees_of_metres((-23_000, -11_500)), *degrees_of_metres((21_000, 19_500))],
        "order": list(layers),
        "layers": {name: {"type": "FeatureCollection", "features": features} for name, features in layers.items()},
    }


def _spans(line: Line, river: Line) -> list[Line]:
    dense = _dense(line)
    wet = inside(np.array(dense, dtype=np.int64), river)
    for _ in range(3):
        wet = wet | np.roll(wet, 1) | np.roll(wet, -1)
    return runs(dense, wet.tolist(), every=6)


def _outside(line: Line, water: Line) -> list[Line]:
    dense = _dense(line)
    dry = ~inside(np.array(dense, dtype=np.int64), water)
    corners = set(line)
    return [
        [point for n, point in enumerate(run) if point in corners or n in (0, len(run) - 1)]
        for run in runs(dense, dry.tolist())
    ]


def _dense(line: Line, step: int = 20) -> Line:
    """The line with points at most about `step` metres apart."""
    points: Line = []
    for (ax, ay), (bx, by) in pairwise(line):
        parts = max(max(abs(bx - ax), abs(by - ay)) // step, 1)
        points += [(ax + (bx - ax) * part // parts, ay + (by - ay) * part // parts) for part in range(parts)]
    return [*points, line[-1]]


def _degrees(line: Line) -> list[list[float]]:
    return [list(degrees_of_metres(point)) for point in line]


def _feature(kind: str, coordinates: list[Any], properties: dict[str, str | int]) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": {"type": kind, "coordinates": coordinates}}


def _polygon(rings: list[Line], **properties: str | int) -> dict[str, Any]:
    return _feature("Polygon", [_degrees([*ring, ring[0]]) for ring in rings], properties)


def _line(lines: list[Line], **properties: str | int) -> dict[str, Any]:
    if len(lines) == 1:
        return _feature("LineString", _degrees(lines[0]), properties)
    return _feature("MultiLineString", [_degrees(line) for line in lines], properties)


def _point(at: Point, **properties: str | int) -> dict[str, Any]:
    return _feature("Point", list(degrees_of_metres(at)), properties)
